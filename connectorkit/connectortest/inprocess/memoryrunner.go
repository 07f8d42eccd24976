// Package inprocess runs a connector in the process of its test, with a runner and a store in memory. It is fast and
// works in virtual time, but checks few rules: the suite of connectortest does that with the real parts.
package inprocess

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/protocol"
)

// MemoryRunner runs a connector over all of its streams, each run from where the last one ended. It stores records,
// gaps and cursors at the end of their slice, and discards a slice that the run leaves open.
type MemoryRunner struct {
	Connector connectorkit.Connector
	Env       map[string]string
	Transport http.RoundTripper      // sends the connector's requests; nil means the network
	KillAt    int                    // the number of the output line at which the connector is cut off; 0 means never
	Observe   func(protocol.Message) // receives every message; nil discards them

	Records map[string]map[string]string // live ones, by stream and key
	Writes  int                          // records that were new, changed or deleted, except coverage
	Emitted int                          // records that were sent, except coverage
	Result                               // of the newest run

	t              testing.TB
	dir            string
	state, catchUp map[string]jsontext.Value
	gaps           map[string]*storedGap // by gap id
}

// Result is how a run ended.
type Result struct {
	Done     *protocol.Done // nil if the run was cut off
	Exit     int
	Progress []string // its messages
	Skipped  []string // streams and records that the connector left out, each with its reason
	Log      string   // standard error
}

type storedGap struct {
	protocol.DetailGap
	order, attempts int
	open            bool
}

// coverageStream is where connectors account for what they read. Its records change with every run.
const coverageStream = "coverage_diagnostics"

// NewMemoryRunner returns a runner without records.
func NewMemoryRunner(t testing.TB, c connectorkit.Connector, env map[string]string) *MemoryRunner {
	return &MemoryRunner{Connector: c, Env: env, t: t, dir: t.TempDir(), Records: map[string]map[string]string{},
		state: map[string]jsontext.Value{}, catchUp: map[string]jsontext.Value{}, gaps: map[string]*storedGap{}}
}

// Run makes one run, which must succeed and skip nothing unless KillAt cuts it off. It returns the runner.
func (r *MemoryRunner) Run() *MemoryRunner {
	r.t.Helper()
	r.Try()
	if (r.Done != nil || r.KillAt == 0) && (r.Done == nil || r.Done.Status != protocol.DoneSucceeded) {
		r.t.Fatalf("the run ended with %+v: %s", r.Done, r.Log)
	}
	if len(r.Skipped) > 0 {
		r.t.Errorf("the run skipped %q", r.Skipped)
	}
	return r
}

// Try makes one run and returns its result, whatever it is.
func (r *MemoryRunner) Try() (result Result) {
	r.t.Helper()
	r.Result = Result{}
	served := map[string]bool{}
	start := &protocol.Start{
		RunID: "run_1", CollectionMode: protocol.Incremental,
		State: maps.Clone(r.state), CatchUpState: maps.Clone(r.catchUp),
		Bindings:   map[string]jsontext.Value{"filesystem": jsontext.Value("{}"), "network": jsontext.Value("{}")},
		DetailGaps: r.nextGapPage(served),
	}
	for _, s := range r.Connector.Manifest.Streams {
		start.Scope.Streams = append(start.Scope.Streams, protocol.StreamScope{Name: s.Name})
	}
	stdin, toConnector := io.Pipe()
	fromConnector, stdout := io.Pipe()
	var stderr bytes.Buffer
	ended, env := make(chan struct{}), r.Env
	go func() {
		defer close(ended)
		r.Exit = connectorkit.Run(r.t.Context(), r.Connector, connectorkit.Process{
			Stdin: stdin, Stdout: stdout, Stderr: &stderr, Now: time.Now, Dir: r.dir, Transport: r.Transport,
			Env: func(name string) string { return env[name] },
		})
		stdout.Close()
	}()
	defer func() {
		fromConnector.Close()
		toConnector.Close()
		<-ended
		r.Log = stderr.String()
		result = r.Result
	}()
	r.sendMessage(toConnector, start)
	r.receiveMessages(fromConnector, func(request protocol.Message) {
		switch m := request.(type) {
		case *protocol.DetailGapsPageRequest:
			r.sendMessage(toConnector, &protocol.DetailGapsPageResponse{RequestID: m.RequestID, ReferenceOnly: true,
				DetailGaps: r.nextGapPage(served)})
		case *protocol.CredentialRequest:
			r.Env = maps.Clone(r.Env)
			maps.Copy(r.Env, m.Values) // the next run uses what the provider exchanged
			r.sendMessage(toConnector, &protocol.CredentialResponse{RequestID: m.RequestID, Status: protocol.CredentialStored})
		}
	})
	return Result{} // replaced when the connector has ended
}

// sendMessage writes a message without waiting for the connector, which may never read it.
func (r *MemoryRunner) sendMessage(w io.Writer, m protocol.Message) {
	line, err := protocol.AppendLine(nil, m)
	if err != nil {
		r.t.Fatal(err)
	}
	go func() { _, _ = w.Write(line) }()
}

func (r *MemoryRunner) receiveMessages(stdout io.Reader, answer func(protocol.Message)) {
	var slice []protocol.Message // the open one
	commit := func() {
		for _, m := range slice {
			r.storeMessage(m)
		}
		slice = nil
	}
	lines, decoder := protocol.NewLineReader(stdout, 0), protocol.NewDecoder(protocol.FromConnector)
	for n := 1; ; n++ {
		line, err := lines.Next()
		if err != nil {
			return
		}
		m, err := decoder.Decode(bytes.Clone(line))
		if err != nil {
			r.t.Fatalf("%v: %.300s", err, line)
		}
		if n == r.KillAt {
			if m.Type() == protocol.TypeCredentialRequest {
				answer(m) // what a provider exchanged is stored before the connector is cut off
			}
			return
		}
		if r.Observe != nil {
			r.Observe(m)
		}
		switch m := m.(type) {
		case *protocol.DetailGapsPageRequest, *protocol.CredentialRequest:
			answer(m)
		case *protocol.Progress:
			r.Progress = append(r.Progress, m.Message)
		case *protocol.DetailGapAttempted:
			if g := r.gaps[m.GapID]; g != nil {
				g.attempts++
			}
		case *protocol.SkipResult:
			r.Skipped = append(r.Skipped, fmt.Sprint(m.Stream, " ", m.Reason))
		case *protocol.Record:
			record := *m // the decoder uses it again
			slice = append(slice, &record)
		case *protocol.State:
			commit()
			r.storeBookmark(m)
		case *protocol.Done:
			if r.Done = m; m.Status == protocol.DoneSucceeded {
				commit()
			}
		default:
			slice = append(slice, m)
		}
	}
}

func (r *MemoryRunner) storeBookmark(m *protocol.State) {
	marks := r.state
	if m.Mode == protocol.CatchUp {
		marks = r.catchUp
	}
	if marks[m.Stream] = m.Cursor.Clone(); m.Cursor.Kind() == 'n' {
		delete(marks, m.Stream)
	}
}

func (r *MemoryRunner) storeMessage(m protocol.Message) {
	switch m := m.(type) {
	case *protocol.Record:
		if r.Records[m.Stream] == nil {
			r.Records[m.Stream] = map[string]string{}
		}
		before, had := r.Records[m.Stream][m.Key]
		if r.Records[m.Stream][m.Key] = string(m.Data); m.Op == protocol.OpDelete {
			delete(r.Records[m.Stream], m.Key)
		}
		if m.Stream == coverageStream {
			return
		}
		r.Emitted++
		if after, has := r.Records[m.Stream][m.Key]; had != has || before != after {
			r.Writes++
		}
	case *protocol.DetailGap:
		id := gapIdentity(m.Stream, m.RecordKey)
		if r.gaps[id] == nil {
			r.gaps[id] = &storedGap{order: len(r.gaps)}
		}
		r.gaps[id].DetailGap, r.gaps[id].open = *m, true
	case *protocol.DetailGapRecovered:
		id := cmp.Or(m.GapID, gapIdentity(m.Stream, m.RecordKey))
		if g := r.gaps[id]; g != nil {
			g.open = false
		}
	}
}

func gapIdentity(stream string, key protocol.WireKey) string {
	return "gap:" + stream + "/" + string(key)
}

// nextGapPage returns the next gaps to retry: least attempted first, then oldest.
func (r *MemoryRunner) nextGapPage(served map[string]bool) []protocol.GapEntry {
	page := []protocol.GapEntry{}
	ids := slices.SortedFunc(maps.Keys(r.gaps), func(a, b string) int {
		x, y := r.gaps[a], r.gaps[b]
		return cmp.Or(cmp.Compare(x.attempts, y.attempts), cmp.Compare(x.order, y.order))
	})
	for _, id := range ids {
		g := r.gaps[id]
		if !g.open || !g.Retryable || served[id] || len(page) == 100 {
			continue
		}
		served[id] = true
		page = append(page, protocol.GapEntry{
			GapID: id, LeaseID: "lease", Stream: g.Stream, ParentStream: g.ParentStream, RecordKey: g.RecordKey,
			DetailLocator: g.DetailLocator, Status: protocol.GapPending, ReferenceOnly: true,
		})
	}
	return page
}

// Gaps returns the gaps that are not recovered, oldest first.
func (r *MemoryRunner) Gaps() (open []protocol.DetailGap) {
	all := slices.SortedFunc(maps.Values(r.gaps), func(a, b *storedGap) int { return cmp.Compare(a.order, b.order) })
	for _, g := range all {
		if g.open {
			open = append(open, g.DetailGap)
		}
	}
	return open
}

// GapReasons counts the gaps by reason.
func (r *MemoryRunner) GapReasons() map[string]int {
	counts := map[string]int{}
	for _, g := range r.Gaps() {
		counts[string(g.Reason)]++
	}
	return counts
}

// Pending returns the number of gaps that a later run retries.
func (r *MemoryRunner) Pending() (n int) {
	for _, g := range r.Gaps() {
		if g.Retryable {
			n++
		}
	}
	return n
}

// Bookmark returns the cursor of a stream's steady collection.
func (r *MemoryRunner) Bookmark(stream string) string { return string(r.state[stream]) }

// Keys returns the keys of a stream's records, sorted.
func (r *MemoryRunner) Keys(stream string) []string {
	return slices.Sorted(maps.Keys(r.Records[stream]))
}

// Fields returns the fields of a stored record, nil if there is none.
func (r *MemoryRunner) Fields(stream, key string) (fields map[string]any) {
	r.t.Helper()
	r.Decode(stream, key, &fields)
	return fields
}

// Decode parses a stored record into a value, and reports whether there is one.
func (r *MemoryRunner) Decode(stream, key string, into any) bool {
	r.t.Helper()
	data, found := r.Records[stream][key]
	if found {
		if err := json.Unmarshal([]byte(data), into); err != nil {
			r.t.Fatal(err)
		}
	}
	return found
}
