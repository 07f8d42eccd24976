package crashtest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/quality/programs"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres/postgrestest"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
	"github.com/pdpp-go/pdpp/protocol"
)

const (
	receiver = "webhook receiver"

	ledgerManifest = `{"protocol_version":"0.1.0","connector_id":"ledger","version":"1","display_name":"Ledger",
 "streams":[{"name":"letters","semantics":"mutable_state","primary_key":"id",
   "schema":{"type":"object","required":["id"],"properties":{"id":{"type":"string"},"n":{"type":"integer"}}}},
  {"name":"notes","semantics":"mutable_state","primary_key":"id",
   "schema":{"type":"object","required":["id"],"properties":{"id":{"type":"string"},"n":{"type":"integer"}}}}]}`
)

// ledgerStreams are in the order in which a webhook delivers them.
var ledgerStreams = []string{"letters", "notes"}

// arrival is a delivery of one change as the receiver writes it.
type arrival struct {
	Delivery, Stream, Key string
	N                     int // of the record's data; 0 for a deleted one
}

// playReceiver writes a line for each delivery, and answers after that. Lines are short, so that a kill leaves none in
// part. It ends with the test.
func playReceiver(address string) int {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1)
	}()
	err := http.ListenAndServe(address, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			Stream string
			Data   struct {
				Data []struct {
					ID   string
					Data struct{ N int }
				}
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil || len(m.Data.Data) != 1 {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		change := m.Data.Data[0]
		line, _ := json.Marshal(arrival{r.Header.Get("webhook-id"), m.Stream, change.ID, change.Data.N})
		_, _ = os.Stdout.Write(append(line, '\n'))
	}))
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// ledger is a database, the server that delivers its changes and the receiver.
type ledger struct {
	t        *testing.T
	st       store.Store
	lease    store.Lease
	pdpp     string
	env      []string
	address  string   // of the receiver
	lines    *os.File // what receivers write into
	server   *exec.Cmd
	receiver *exec.Cmd
	rand     *rand.Rand
	next     int // number of the next change
	keys     int // how many each stream has
}

func newLedger(t *testing.T, database, pdpp string, seed uint64) (*ledger, *bufio.Scanner) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	home := t.TempDir()
	l := &ledger{t: t, pdpp: pdpp, rand: newRand(seed), env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home,
		"PDPP_HOME=" + home, "TZ=UTC", "PDPP_CREDENTIAL_ENCRYPTION_KEY=" + strings.Repeat("ab", 32)}}
	place := filepath.Join(home, "pdpp.db")
	if database == "sqlite" {
		sqlitetest.NewDatabase(t, place)
	} else {
		place = postgrestest.NewDatabase(t)
		l.env = append(l.env, "PDPP_DATABASE_URL="+place)
	}
	var err error
	l.st, err = openDatabase(t.Context(), place)
	must(err)
	t.Cleanup(func() { _ = l.st.Close() })
	now := time.Now()
	_, err = l.st.PutManifest(t.Context(), "ledger", []byte(ledgerManifest), now)
	must(err)
	must(l.st.CreateConnection(t.Context(), store.Connection{ID: "ledger", ConnectorID: "ledger", DisplayName: "Ledger",
		Status: store.ConnectionActive, SourceKind: store.SourceAccount, ManifestGeneration: 1, CreatedAt: now,
		UpdatedAt: now}))
	l.lease, err = l.st.StartRun(t.Context(), store.RunStart{RunID: "run_ledger", ConnectionID: "ledger",
		ConnectorID: "ledger", Trigger: store.TriggerManual, Holder: "test", TTL: 24 * time.Hour,
		Streams: []store.StreamSpec{{Name: "letters"}, {Name: "notes"}}}, now)
	must(err)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	l.address = free.Addr().String()
	must(free.Close())
	out, in, err := os.Pipe()
	must(err)
	l.lines = in
	t.Cleanup(func() { _ = out.Close(); _ = in.Close() })
	return l, bufio.NewScanner(out)
}

// grow commits new records to each stream, and with older changes and deletes some before. The newest change is a
// record that is there.
func (l *ledger) grow(records int, older bool) {
	l.t.Helper()
	for records > 0 {
		n := min(records, 250)
		var batch []slice.Record
		put := func(stream string, key int, op protocol.Op) {
			l.next++
			r := slice.Record{Stream: stream, Key: fmt.Sprint(key), Op: op, EmittedAt: "2026-04-01T12:00:00Z"}
			if op != protocol.OpDelete {
				r.Data = fmt.Appendf(nil, `{"id":"%d","n":%d}`, key, l.next)
			}
			batch = append(batch, r)
		}
		if older {
			put("letters", l.rand.IntN(l.keys), "")
			put("notes", l.rand.IntN(l.keys), protocol.OpDelete)
		}
		for range n {
			for _, stream := range ledgerStreams {
				put(stream, l.keys, "")
			}
			l.keys++
		}
		if _, err := l.st.CommitSlice(l.t.Context(), l.lease, slice.Slice{Records: batch}, time.Now()); err != nil {
			l.t.Fatal(err)
		}
		records -= n
	}
}

func (l *ledger) startReceiver() {
	l.t.Helper()
	self, err := os.Executable()
	if err != nil {
		l.t.Fatal(err)
	}
	l.receiver = exec.Command(self)
	l.receiver.Env = append(os.Environ(), roleVariable+"="+receiver, specVariable+"="+l.address)
	l.receiver.Stdout, l.receiver.Stderr = l.lines, os.Stderr
	if _, err = l.receiver.StdinPipe(); err == nil { // closed when this process ends
		err = l.receiver.Start()
	}
	if err != nil {
		l.t.Fatal(err)
	}
}

// startServer returns when the server is ready.
func (l *ledger) startServer() {
	l.t.Helper()
	l.server = exec.Command(l.pdpp, "serve", "--listen", "127.0.0.1:0", "--json", "--log-level", "error")
	l.server.Env = l.env
	var complaint bytes.Buffer
	l.server.Stderr = &complaint
	out, err := l.server.StdoutPipe()
	if err == nil {
		err = l.server.Start()
	}
	if err != nil || !bufio.NewScanner(out).Scan() {
		l.t.Fatalf("the server did not start: %v %s", err, &complaint)
	}
}

func kill(cmd *exec.Cmd) {
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// compare demands that what arrived last of each record is what the store lists as its changes, in that order.
func (l *ledger) compare(arrived []arrival) {
	l.t.Helper()
	for _, stream := range ledgerStreams {
		var got, want []arrival
		seen := map[string]bool{}
		for _, a := range slices.Backward(arrived) {
			if a.Stream == stream && !seen[a.Key] {
				seen[a.Key], a.Delivery = true, ""
				got = append(got, a)
			}
		}
		slices.Reverse(got)
		for after := int64(0); ; {
			page, err := l.st.Changes(l.t.Context(), store.RecordQuery{AccessFilter: store.AccessFilter{ConnectionID: "ledger",
				Stream: stream}, AfterSeq: after, Limit: 1000})
			if err != nil {
				l.t.Fatal(err)
			}
			if len(page) == 0 {
				break
			}
			for _, r := range page {
				var data struct{ N int }
				if err := json.Unmarshal(r.Data, &data); err != nil && !r.Deleted {
					l.t.Fatal(err)
				}
				want, after = append(want, arrival{Stream: stream, Key: r.Key, N: data.N}), r.Seq
			}
		}
		if !slices.Equal(got, want) {
			l.t.Errorf("%d records of %s arrived, and the store has %d, or they came in another order", len(got), stream,
				len(want))
		}
	}
}

// last returns the key of the newest record of a stream.
func (l *ledger) last(stream string) string {
	l.t.Helper()
	page, err := l.st.ListRecords(l.t.Context(), store.RecordQuery{AccessFilter: store.AccessFilter{ConnectionID: "ledger",
		Stream: stream}, NewestFirst: true, Limit: 1})
	if err != nil || len(page) != 1 {
		l.t.Fatalf("%v, %v", page, err)
	}
	return page[0].Key
}

// TestDeliveryKill kills the receiver of a webhook, and sometimes the server, while changes are delivered and more are
// committed. A repetition has the id of the delivery before it. Without repetitions, every change arrives, and each
// stream in the order of the store.
func TestDeliveryKill(t *testing.T) {
	t.Parallel()
	deliveries, receivers, servers := 600, 5, 1
	if os.Getenv("PDPP_CHAOS_MINUTES") != "" {
		deliveries, receivers, servers = 10_000, 20, 4
	}
	dir := t.TempDir()
	if err := programs.Build(dir, "cmd/pdpp"); err != nil {
		t.Fatal(err)
	}
	for _, database := range []string{"sqlite", "postgres"} {
		t.Run(database, func(t *testing.T) {
			t.Parallel()
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			l, lines := newLedger(t, database, filepath.Join(dir, "pdpp"), seed)
			l.grow(deliveries/4, false)
			add := exec.Command(l.pdpp, "webhooks", "add", "http://"+l.address, "--local", "--since", "beginning",
				"--batch", "1")
			add.Env = l.env
			if out, err := add.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			began := time.Now()
			l.startReceiver()
			l.startServer()
			t.Cleanup(func() { kill(l.receiver); kill(l.server) })
			var arrived []arrival
			newest := map[string]arrival{}
			repeated, kills, killedServers := 0, 0, 0
			for whole := false; !whole && lines.Scan(); {
				var a arrival
				if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
					t.Fatalf("%q: %v", lines.Text(), err)
				}
				if a.Delivery == newest[a.Stream].Delivery {
					repeated++
				} else {
					arrived = append(arrived, a)
				}
				newest[a.Stream] = a
				if kills < receivers && len(arrived) > (kills+1)*deliveries/2/(receivers+1) {
					kills++
					kill(l.receiver)
					if kills*servers/receivers > killedServers {
						killedServers++
						kill(l.server)
						l.startServer()
					}
					l.grow(deliveries/4/receivers, true)
					l.startReceiver()
				}
				whole = kills == receivers && newest["letters"].Key == l.last("letters") && newest["notes"].Key == l.last("notes")
			}
			ids := map[string]bool{}
			for _, a := range arrived {
				ids[a.Delivery] = true
			}
			if len(ids) != len(arrived) {
				t.Errorf("%d deliveries came again after others", len(arrived)-len(ids))
			}
			l.compare(arrived)
			t.Attr("result", fmt.Sprintf("%d deliveries, %d came twice; %d SIGKILLs of the receiver and %d of the server; "+
				"what arrived == what the store lists, in its order; %s", len(arrived), repeated, kills, killedServers,
				time.Since(began).Round(time.Second)))
		})
	}
}
