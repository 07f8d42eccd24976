//pdpp:tier programs

package webhooks

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
)

// roleVariable makes the test binary a receiver or a server instead of running tests, so that it can be killed. Such a
// child runs no test and starts nothing.
const roleVariable = "PDPP_TEST_WEBHOOK_ROLE"

func TestMain(m *testing.M) {
	role, argument, _ := strings.Cut(os.Getenv(roleVariable), " ")
	if role != "" {
		go func() { // it ends with the test that started it
			_, err := io.Copy(io.Discard, os.Stdin)
			exit(err)
		}()
	}
	switch role {
	case "receiver":
		exit(playReceiver(argument))
	case "server":
		exit(playServer(argument))
	default:
		os.Exit(m.Run())
	}
}

func exit(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// testKey is the key of the child.
const testKey = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

// playReceiver prints a line for each delivery, and answers after that.
func playReceiver(address string) error {
	return http.ListenAndServe(address, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m delivery
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		fmt.Println(m.Stream, m.ids(), r.Header.Get(HeaderID))
	}))
}

// playServer delivers from a database.
func playServer(path string) error {
	ctx := context.Background()
	st, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		return err
	}
	key, err := credential.ParseKey(testKey)
	if err != nil {
		return err
	}
	g := grants.NewService(st, "", nil)
	read, err := NewReader(ctx, st, g, nil, nil, time.Now)
	if err != nil {
		return err
	}
	d := &Deliverer{Store: st, Read: read, Grants: g, Key: key, Holder: strconv.Itoa(os.Getpid()), Now: time.Now,
		Log:   slog.New(slog.NewTextHandler(os.Stderr, nil)),
		Every: 5 * time.Millisecond, Claim: 200 * time.Millisecond, Wait: 10 * time.Millisecond}
	d.Run(ctx)
	return nil
}

// child is a running test binary that plays a role.
type child struct {
	cmd *exec.Cmd
	out *bufio.Scanner
}

func start(t *testing.T, role string) *child {
	t.Helper()
	program, err := os.Executable()
	check(t, err)
	c := &child{cmd: exec.CommandContext(t.Context(), program)}
	c.cmd.Env, c.cmd.Stderr = append(os.Environ(), roleVariable+"="+role), os.Stderr
	out, err := c.cmd.StdoutPipe()
	check(t, err)
	_, err = c.cmd.StdinPipe() // closed when this process ends
	check(t, err)
	c.out = bufio.NewScanner(out)
	check(t, c.cmd.Start())
	t.Cleanup(c.kill)
	return c
}

func (c *child) kill() {
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
}

// rest returns what a killed child printed.
func (c *child) rest(t *testing.T) (lines []string) {
	_ = c.cmd.Process.Kill()
	for c.out.Scan() {
		lines = append(lines, c.out.Text())
	}
	c.kill()
	return lines
}

// Receivers and servers are killed while they work: no change is lost, and each stream arrives in its order. With
// PDPP_TEST_DELIVERIES more are delivered.
func TestDeliveriesSurviveKills(t *testing.T) {
	n, receivers, servers := 400, 8, 4
	if text := os.Getenv("PDPP_TEST_DELIVERIES"); text != "" {
		var err error
		n, err = strconv.Atoi(text)
		check(t, err)
		receivers = 20
	}
	path := sqlitetest.NewDatabase(t, filepath.Join(t.TempDir(), "pdpp.db"))
	st, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	check(t, err)
	defer st.Close()
	key, err := credential.ParseKey(testKey)
	check(t, err)
	w := &world{t: t, store: st, now: noon, lease: connect(t, st), d: &Deliverer{Key: key}, to: "http://" + freeAddress(t)}
	var batch []slice.Record
	for i := range n {
		batch = append(batch, letter(fmt.Sprintf("l%d", i), "text"), note(fmt.Sprintf("n%d", i), 1, "title", ""))
	}
	w.put(batch[:n]...)
	w.add(store.Webhook{})
	began := time.Now()
	receiver, server := start(t, "receiver "+strings.TrimPrefix(w.to, "http://")), start(t, "server "+path)
	seen := map[string]int{} // how far each stream has come
	kills, repeated := 0, 0
	take := func(line string) {
		stream, key, _ := strings.Cut(line, " ")
		key, _, _ = strings.Cut(key, " ")
		at, err := strconv.Atoi(strings.TrimLeft(key, "ln"))
		check(t, err)
		switch at {
		case seen[stream]:
			seen[stream]++
		case seen[stream] - 1:
			repeated++
		default:
			t.Fatalf("%s came after %d of %s", key, seen[stream]-1, stream)
		}
	}
	total := func() int { return seen["notes"] + seen["letters"] }
	for total() < 2*n {
		if !receiver.out.Scan() {
			t.Fatalf("the receiver ended after %d deliveries", total())
		}
		take(receiver.out.Text())
		if total() > kills*2*n/(receivers+1) && kills < receivers {
			kills++
			if kills == 2 {
				w.put(batch[n:]...)
			}
			if kills%(receivers/servers) == 0 {
				server.kill()
				server = start(t, "server "+path)
			}
			for _, line := range receiver.rest(t) {
				take(line)
			}
			receiver = start(t, "receiver "+strings.TrimPrefix(w.to, "http://"))
		}
	}
	t.Logf("%d deliveries, %d of them twice, %d receivers and %d servers killed, %s", total(), repeated, kills, servers,
		time.Since(began).Round(time.Millisecond))
}

// freeAddress returns a loopback address that is free now.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	defer l.Close()
	return l.Addr().String()
}
