package collector

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.uber.org/goleak"

	"github.com/pdpp-go/pdpp/protocol"
)

// roleVariable names the role that the test binary plays instead of running tests: a connector, or a
// collector that can be killed. The roles exit with syscall.Exit. With os.Exit the race detector waits
// a second, because a confined process cannot read the setting in /proc that disables the wait.
const roleVariable = "COLLECTOR_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case "diary":
		playDiary()
	case "collector":
		playCollector()
	default:
		goleak.VerifyTestMain(m)
	}
}

// playCollector makes one pass with the profile in the folder that is its argument.
func playCollector() {
	dirs := Dirs{Profiles: os.Args[1], State: os.Args[1]}
	profile, err := Find(dirs, source)
	if err == nil {
		c := &Collector{Profile: profile, Connectors: diary(profile), Bindings: bindings, Policy: Policy{BatchRecords: 100}}
		_, err = c.Run(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		syscall.Exit(1)
	}
	syscall.Exit(0)
}

const sliceLines = 250

// connector reads a diary from a text file with one note per line. The detail of a line "!KEY" cannot
// be fetched while the file DIARY_FILE.busy exists. A line "CRASH" ends the connector without a
// message. At "HOLD" it waits for the named pipe DIARY_FILE.hold.
type connector struct {
	start   *protocol.Start
	lines   *protocol.LineReader
	dec     *protocol.Decoder
	out     *bufio.Writer
	records int64
}

func playDiary() {
	c := &connector{lines: protocol.NewLineReader(os.Stdin, 0), dec: protocol.NewDecoder(protocol.ToConnector),
		out: bufio.NewWriter(os.Stdout)}
	c.start, _ = c.hear().(*protocol.Start)
	path := os.Getenv("DIARY_FILE")
	if os.Getenv(envToken) != "" {
		syscall.Exit(21) // the device's credential is none of a connector's business
	}
	log, err := os.OpenFile(filepath.Join(os.Getenv("PDPP_CONNECTOR_DATA_DIR"), "runs"),
		os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		syscall.Exit(22)
	}
	state, _ := json.Marshal(c.start.State, json.Deterministic(true))
	fmt.Fprintf(log, "%s %d\n", state, len(c.start.DetailGaps))
	body, err := os.ReadFile(path)
	if err != nil {
		syscall.Exit(23)
	}
	_, err = os.Stat(path + ".busy")
	c.recover(err == nil)
	c.collect(strings.Fields(string(body)), err == nil)
	c.say(&protocol.Done{Status: protocol.DoneSucceeded, RecordsEmitted: c.records})
	_ = c.out.Flush()
	for c.hear() != nil {
	}
	syscall.Exit(0)
}

func (c *connector) recover(busy bool) {
	for _, g := range c.start.DetailGaps {
		if busy {
			continue
		}
		c.say(&protocol.DetailGapAttempted{GapID: g.GapID, LeaseID: g.LeaseID, Stream: g.Stream},
			c.detail(string(g.RecordKey)),
			&protocol.DetailGapRecovered{GapID: g.GapID, LeaseID: g.LeaseID, Stream: g.Stream})
	}
}

func (c *connector) collect(lines []string, busy bool) {
	var at struct {
		N int `json:"n"`
	}
	if raw := c.start.State["notes"]; len(raw) > 0 {
		_ = json.Unmarshal(raw, &at)
	}
	covered := protocol.KeyCoverage{}
	for at.N < len(lines) {
		line := lines[at.N]
		at.N++
		key, detailed := strings.CutPrefix(line, "!")
		if key == "CRASH" {
			_ = c.out.Flush()
			syscall.Exit(9)
		}
		if key == "HOLD" {
			_ = c.out.Flush()
			if f, err := os.Open(os.Getenv("DIARY_FILE") + ".hold"); err == nil {
				_, _ = f.Read(make([]byte, 1))
			}
			continue
		}
		c.say(&protocol.Record{Stream: "notes", Key: key, Data: jsontext.Value(`{"id":"` + key + `","title":"A day"}`),
			EmittedAt: "2026-03-01T08:00:00Z"})
		switch {
		case detailed && busy:
			covered.RequiredKeys, covered.GapKeys = append(covered.RequiredKeys, key), append(covered.GapKeys, key)
			c.say(&protocol.DetailGap{Stream: "details", ParentStream: "notes", RecordKey: protocol.WireKey(key),
				Reason:    protocol.ReasonRateLimited,
				Retryable: true, DetailLocator: jsontext.Value(`{"key":"` + key + `"}`)})
		case detailed:
			covered.RequiredKeys, covered.HydratedKeys = append(covered.RequiredKeys, key), append(covered.HydratedKeys, key)
			c.say(c.detail(key))
		}
		if at.N%sliceLines == 0 || at.N == len(lines) {
			c.say(&protocol.State{Stream: "notes", Cursor: fmt.Appendf(nil, `{"n":%d}`, at.N), Accounted: &covered})
			covered = protocol.KeyCoverage{}
		}
	}
}

func (c *connector) detail(key string) *protocol.Record {
	return &protocol.Record{Stream: "details", Key: key, Data: jsontext.Value(`{"id":"` + key + `"}`),
		EmittedAt: "2026-03-01T08:00:00Z"}
}

func (c *connector) hear() protocol.Message {
	line, err := c.lines.Next()
	if err != nil {
		return nil
	}
	m, err := c.dec.Decode(line)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		syscall.Exit(17)
	}
	return m
}

func (c *connector) say(ms ...protocol.Message) {
	for _, m := range ms {
		if m.Type() == protocol.TypeRecord {
			c.records++
		}
		line, err := protocol.AppendLine(nil, m)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			syscall.Exit(18)
		}
		_, _ = c.out.Write(line)
	}
}
