package foreign_test

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/foreign"
)

// TestMain lets the test binary play every program: the host that the catalog asks, and taps,
// one for each habit.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "list":
			fmt.Println("[]")
			leave(0)
		case "adapt":
			c, err := foreign.Connector(os.Args[2])
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
			code := connectorkit.Run(
				ctx,
				c,
				connectorkit.Process{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Env: os.Getenv, Now: time.Now},
			)
			stop()
			leave(code)
		case foreign.ConfinedCommand:
			if err := foreign.Confined(os.Args[2:]); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			leave(0)
		case "escape", "weaken":
			if err := playLimits(os.Args[1:]); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			leave(0)
		case "source":
			leave(playSource(os.Args[2], os.Args[3:]))
		case "tap":
			leave(playTap(os.Args[2], os.Args[3:]))
		case "manifest": // it hosts no connector of its own
			leave(1)
		}
	}
	os.Exit(m.Run())
}

// leave ends a program at once: the race detector would keep it for another second.
func leave(code int) { syscall.Exit(code) }

// tapRun is what a Singer tap was started with.
type tapRun struct {
	out     *bufio.Writer
	config  map[string]any
	catalog []string // the selected streams
	state   map[string]any
	habit   string
}

func (t *tapRun) say(format string, args ...any) {
	fmt.Fprintf(t.out, format+"\n", args...)
	if err := t.out.Flush(); err != nil {
		os.Exit(1) // nothing reads its output any more
	}
}

// count is a number of the configuration.
func (t *tapRun) count(name string) int {
	n, _ := t.config[name].(float64)
	return int(n)
}

// at is the tap's own bookmark of a stream.
func (t *tapRun) at(stream string) int {
	marks, _ := t.state["bookmarks"].(map[string]any)
	n, _ := marks[stream].(float64)
	return int(n)
}

// mark writes the tap's state: pages up to here, visits up to there.
func (t *tapRun) mark(pages, visits int) {
	t.say(`{"type":"STATE","value":{"bookmarks":{"pages":%d,"visits":%d}}}`, pages, visits)
}

func (t *tapRun) schema(stream string) {
	t.say(`{"type":"SCHEMA","stream":%q,"schema":%s,"key_properties":%s}`, stream, tapSchemas[stream], tapKeys[stream])
}

var tapSchemas = map[string]string{
	"pages": `{"type":"object","properties":{"id":{"type":"integer"},"title":{"type":"string"},` +
		`"updated_at":{"type":"string","format":"date-time"}}}`,
	"visits": `{"type":"object","properties":{"page":{"type":"integer"},"day":{"type":"string"}}}`,
	"log":    `{"type":"object","properties":{"line":{"type":"string"}}}`,
}

var tapKeys = map[string]string{"pages": `["id"]`, "visits": `["page","day"]`, "log": `[]`}

// tapRecord is the nth record of a stream, from 1 on.
func tapRecord(stream string, n int) string {
	switch stream {
	case "pages":
		return fmt.Sprintf(
			`{"id":%d,"title":"Page %[1]d","updated_at":%q}`,
			n,
			time.Unix(int64(n)*3600, 0).UTC().Format(time.RFC3339),
		)
	case "visits":
		return fmt.Sprintf(`{"page":%d,"day":"2026-01-%02d","seen":true}`, n, n%28+1)
	}
	return fmt.Sprintf(`{"line":"line %d"}`, n)
}

func (t *tapRun) record(stream string, n int) {
	t.say(
		`{"type":"RECORD","stream":%q,"record":%s,"time_extracted":"2026-03-01T08:30:00Z"}`,
		stream,
		tapRecord(stream, n),
	)
}

// playTap is a Singer tap with the named habit.
func playTap(habit string, args []string) int {
	flags := flag.NewFlagSet("tap", flag.ContinueOnError)
	flags.SetOutput(os.Stderr)
	config := flags.String("config", "", "")
	state := flags.String("state", "", "")
	catalog := flags.String("catalog", "", "")
	properties := flags.String("properties", "", "")
	discover := flags.Bool("discover", false, "")
	about := flags.Bool("about", false, "")
	flags.String("format", "", "")
	if slices.Contains(args, "--help") {
		fmt.Println("usage: tap [--config F] [--catalog F] [--properties F] [--state F] [--discover]")
		return 0
	}
	if err := flags.Parse(args); err != nil {
		return 2
	}
	t := &tapRun{out: bufio.NewWriter(os.Stdout), habit: habit, config: readJSON(*config), state: readJSON(*state)}
	switch {
	case *about:
		fmt.Println(
			`{"name":"tap","settings":{"type":"object","required":["token"],"properties":{"token":{"type":"string",` +
				`"secret":true,"description":"From your account."},"pages":{"type":"integer"},"visits":{"type":"integer"},` +
				`"region":{"type":["string","null"]}}}}`,
		)
		return 0
	case *discover:
		if address, ok := t.config["url"].(string); ok &&
			t.config["probe"] == true { // like taps with streams that depend on the account
			if resp, err := viaProxy(t.config).Get(address); err == nil {
				_ = resp.Body.Close()
			}
		}
		entries := []string{tapEntry("pages")}
		if habit == "plain" || habit == "wrong-flag" || habit == "several" {
			entries = append(entries, tapEntry("visits"), tapEntry("log"))
		}
		fmt.Println(`{"streams":[` + strings.Join(entries, ",") + `]}`)
		return 0
	}
	chosen := *catalog
	if habit == "wrong-flag" {
		chosen = *properties
	}
	t.catalog = selectedStreams(readJSON(chosen))
	return tapHabits[habit](t)
}

func tapEntry(stream string) string {
	return fmt.Sprintf(
		`{"tap_stream_id":%q,"stream":%[1]q,"schema":%s,"key_properties":%s,"metadata":[{"breadcrumb":[],`+
			`"metadata":{"replication-key":"updated_at"}}]}`,
		stream,
		tapSchemas[stream],
		tapKeys[stream],
	)
}

func readJSON(path string) map[string]any {
	var out map[string]any
	if body, err := os.ReadFile(path); err == nil {
		_ = json.Unmarshal(body, &out)
	}
	return out
}

func selectedStreams(catalog map[string]any) (names []string) {
	streams, _ := catalog["streams"].([]any)
	for _, s := range streams {
		entry := s.(map[string]any)
		for _, n := range entry["metadata"].([]any) {
			note := n.(map[string]any)
			if inner := note["metadata"].(map[string]any); len(note["breadcrumb"].([]any)) == 0 && inner["selected"] == true {
				names = append(names, entry["tap_stream_id"].(string))
			}
		}
	}
	return names
}

// tapHabits are what taps do.
var tapHabits = map[string]func(*tapRun) int{
	"plain": plainTap,
	// It gets a catalog with a flag that it ignores, writes an empty state and exits with 0.
	"wrong-flag": func(t *tapRun) int {
		if t.catalog == nil {
			t.say(`{"type":"STATE","value":{}}`)
			return 0
		}
		return plainTap(t)
	},
}

// plainTap resumes from its state, and writes it after every tenth record.
func plainTap(t *tapRun) int {
	at := map[string]int{"pages": t.at("pages"), "visits": t.at("visits")}
	for _, stream := range t.catalog {
		t.schema(stream)
		for n := at[stream] + 1; n <= t.count(stream); n++ {
			t.record(stream, n)
			if stumble := t.count("stumble"); stumble > 0 && rand.IntN(stumble) == 0 { // something kills all of us
				_ = syscall.Kill(0, syscall.SIGKILL)
			}
			if at[stream] = n; n%10 == 0 {
				t.mark(at["pages"], at["visits"])
			}
		}
	}
	t.mark(at["pages"], at["visits"])
	_, _ = io.WriteString(os.Stderr, "tap: synced\n")
	return 0
}
