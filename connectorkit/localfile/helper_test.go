package localfile_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/localfile"
	"github.com/pdpp-go/pdpp/protocol"
)

const testManifest = `{
	"protocol_version": "0.1.0", "connector_id": "logs", "version": "1.0.0", "display_name": "Logs",
	"runtime_requirements": {"bindings": {"filesystem": {"required": true}}},
	"streams": [
		{"name": "files", "semantics": "mutable_state", "primary_key": "id", "checkpoint": "slice",
		 "schema": {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"},` +
	` "lines": {"type": "integer"}}}},
		{"name": "lines", "semantics": "append_only", "primary_key": "id", "checkpoint": "slice",
		 "schema": {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"},` +
	` "file": {"type": "string"}}}},
		{"name": "notes", "semantics": "mutable_state", "primary_key": "id", "checkpoint": "slice",
		 "schema": {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"},` +
	` "text": {"type": "string"}}}},
		{"name": "listed", "semantics": "mutable_state", "primary_key": "id", "checkpoint": "slice",` +
	` "schema": {"type": "object", "properties": {"id": {"type": "string"}}}},
		{"name": "coverage_diagnostics", "semantics": "mutable_state", "primary_key": "id", "checkpoint": "slice",` +
	` "schema": {"type": "object", "properties": {"id": {"type": "string"}}}}
	]
}`

// logLines reads a log of the tests: {"id":...} on each line.
type logLines struct {
	f     *localfile.File
	Count int `json:"n"`
}

func (l *logLines) Line(line []byte) error {
	var rec struct {
		ID   string `json:"id"`
		Skip string `json:"skip"`
	}
	if err := json.Unmarshal(line, &rec); err != nil {
		return err
	}
	if rec.Skip != "" {
		l.f.Skip(rec.Skip)
		return nil
	}
	l.Count++
	l.f.Emit("lines", connectorkit.Upsert(map[string]any{"id": rec.ID, "file": l.f.ID}))
	return nil
}

func (l *logLines) End() {
	l.f.Emit("files", connectorkit.Upsert(map[string]any{"id": l.f.ID, "lines": l.Count}))
}

func (l *logLines) State() any { return l }

// logs is a source over a folder with logs, notes, caches and a secret.
func logs(dir string) localfile.Source {
	name := func(rel string) string {
		base, _, _ := strings.Cut(filepath.Base(rel), ".")
		return base
	}
	return localfile.Source{
		Streams: []string{"files", "lines", "notes", "listed"},
		Roots:   []localfile.Root{{Name: "home", Path: dir}},
		Stores: []localfile.Store{
			{Name: "logs", Root: "home", Patterns: []string{"logs/**/*.jsonl", "logs/**/*.jsonl.zst"},
				Streams: []string{"lines", "files"}, ID: name, Compressed: true,
				Lines: func(f *localfile.File, state jsontext.Value) localfile.LineReader {
					l := &logLines{f: f}
					if state != nil {
						if err := json.Unmarshal(state, l); err != nil {
							panic(err)
						}
					}
					return l
				}},
			{Name: "notes", Root: "home", Patterns: []string{"notes/*.md"}, Streams: []string{"notes"},
				Whole: func(f *localfile.File, content []byte) error {
					f.Emit("notes", connectorkit.Upsert(map[string]any{"id": f.Rel, "text": string(content)}))
					return nil
				}},
			{Name: "cache", Root: "home", Patterns: []string{"cache/**"}, Streams: []string{"listed"}, Listed: "listed",
				Reason: "rebuilt by the program"},
			{Name: "secret", Root: "home", Patterns: []string{"secret.json"}, Reason: "holds a credential"},
		},
	}
}

// collected is what a store would hold after runs of a source.
type collected struct {
	t       *testing.T
	src     localfile.Source
	now     time.Time
	streams []string
	killAt  int // output is cut after so many lines; zero is never
	env     map[string]string

	records map[string]map[string]string // by stream and key
	writes  int                          // records that were new or changed, but for the account
	emitted int
	gaps    map[string]*protocol.DetailGap
	state   map[string]jsontext.Value
	catchUp map[string]jsontext.Value
	states  int
	done    *protocol.Done
}

func newCollected(t *testing.T, src localfile.Source) *collected {
	return &collected{
		t: t, src: src, now: time.Now(), streams: []string{"files", "lines", "notes", "listed", "coverage_diagnostics"},
		records: map[string]map[string]string{}, gaps: map[string]*protocol.DetailGap{},
		state: map[string]jsontext.Value{}, catchUp: map[string]jsontext.Value{},
	}
}

// run is one run of the source. As a runner does, it stores what a STATE has closed.
func (c *collected) run() {
	c.t.Helper()
	if c.tryRun(); c.done == nil || c.done.Status != protocol.DoneSucceeded {
		c.t.Fatalf("the run ended with %+v", c.done)
	}
}

func (c *collected) tryRun() {
	c.t.Helper()
	connector, err := connectorkit.New([]byte(testManifest),
		func(context.Context, *connectorkit.Setup) ([]connectorkit.Collector, error) {
			return []connectorkit.Collector{c.src.Collector()}, nil
		})
	if err != nil {
		c.t.Fatal(err)
	}
	start := &protocol.Start{
		RunID: "run", CollectionMode: protocol.Incremental, State: c.state, CatchUpState: c.catchUp,
		Bindings: map[string]jsontext.Value{"filesystem": jsontext.Value("{}")}, DetailGaps: []protocol.GapEntry{},
	}
	for _, name := range c.streams {
		start.Scope.Streams = append(start.Scope.Streams, protocol.StreamScope{Name: name})
	}
	for _, key := range slices.Sorted(maps.Keys(c.gaps)) {
		if g := c.gaps[key]; g.Retryable {
			start.DetailGaps = append(start.DetailGaps, protocol.GapEntry{
				GapID: "gap-" + key, LeaseID: "lease-" + key, Stream: g.Stream, RecordKey: g.RecordKey,
				DetailLocator: g.DetailLocator, Status: protocol.GapPending, ReferenceOnly: true,
			})
		}
	}
	in, err := protocol.AppendLine(nil, start)
	if err != nil {
		c.t.Fatal(err)
	}
	toConnector, feed := io.Pipe()
	out, fromConnector := io.Pipe()
	go func() { _, _ = feed.Write(in) }()
	var stderr bytes.Buffer
	ended := make(chan int, 1)
	go func() {
		ended <- connectorkit.Run(context.Background(), connector, connectorkit.Process{
			Stdin: toConnector, Stdout: fromConnector, Stderr: &stderr, Env: func(name string) string { return c.env[name] },
			Now: func() time.Time { return c.now },
		})
		_ = fromConnector.Close()
	}()
	c.done = nil
	c.store(out, feed)
	_ = feed.Close()
	<-ended
	if c.killAt == 0 && c.done == nil {
		c.t.Fatalf("no DONE: %s", &stderr)
	}
}

func (c *collected) store(out *io.PipeReader, answers io.Writer) {
	var open []protocol.Message
	dec := protocol.NewDecoder(protocol.FromConnector)
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 64<<20)
	for n := 1; lines.Scan(); n++ {
		if n == c.killAt {
			_ = out.CloseWithError(io.ErrClosedPipe)
			return
		}
		m, err := dec.Decode(slices.Clone(lines.Bytes()))
		if err != nil {
			c.t.Fatalf("%v: %s", err, lines.Bytes())
		}
		switch m := m.(type) {
		case *protocol.DetailGapsPageRequest:
			b, err := protocol.AppendLine(nil,
				&protocol.DetailGapsPageResponse{RequestID: m.RequestID, DetailGaps: []protocol.GapEntry{}, ReferenceOnly: true})
			if err != nil {
				c.t.Fatal(err)
			}
			go func() { _, _ = answers.Write(b) }()
		case *protocol.State:
			c.states++
			for _, o := range open {
				c.apply(o)
			}
			open = nil
			marks := c.state
			if m.Mode == protocol.CatchUp {
				marks = c.catchUp
			}
			marks[m.Stream] = slices.Clone(m.Cursor)
			if m.Cursor.Kind() == 'n' {
				delete(marks, m.Stream)
			}
		case *protocol.Done:
			c.done = m
		case *protocol.Record:
			rec := *m // the decoder uses it again
			open = append(open, &rec)
		default:
			open = append(open, m)
		}
	}
}

func (c *collected) apply(m protocol.Message) {
	switch m := m.(type) {
	case *protocol.Record:
		if c.records[m.Stream] == nil {
			c.records[m.Stream] = map[string]string{}
		}
		c.emitted++
		key := string(m.Key)
		if m.Op == protocol.OpDelete {
			delete(c.records[m.Stream], key)
			return
		}
		if c.records[m.Stream][key] != string(m.Data) && m.Stream != localfile.CoverageStream {
			c.writes++
		}
		c.records[m.Stream][key] = string(m.Data)
	case *protocol.DetailGap:
		c.gaps[m.Stream+"/"+string(m.RecordKey)] = m
	case *protocol.DetailGapRecovered:
		delete(c.gaps, m.Stream+"/"+string(m.RecordKey))
	case *protocol.SkipResult:
		c.t.Errorf("skipped: %s", *m.Message)
	}
}

// lines are the ids of the collected lines.
func (c *collected) lines() []string { return slices.Sorted(maps.Keys(c.records["lines"])) }

func (c *collected) coverage(store string) localfile.Coverage {
	c.t.Helper()
	var got localfile.Coverage
	raw, ok := c.records["coverage_diagnostics"][store]
	if !ok {
		c.t.Fatalf("no account of %s", store)
	}
	if err := json.Unmarshal([]byte(raw), &got); err != nil {
		c.t.Fatal(err)
	}
	return got
}

// rootTree is a folder that a test changes.
type rootTree struct {
	t   *testing.T
	dir string
}

func newTree(t *testing.T) *rootTree { return &rootTree{t, t.TempDir()} }

func (w *rootTree) path(rel string) string { return filepath.Join(w.dir, filepath.FromSlash(rel)) }

func (w *rootTree) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *rootTree) write(rel, content string) {
	w.t.Helper()
	w.must(os.MkdirAll(filepath.Dir(w.path(rel)), 0o700))
	w.must(os.WriteFile(w.path(rel), []byte(content), 0o600))
}

func (w *rootTree) append(rel, content string) {
	w.t.Helper()
	h, err := os.OpenFile(w.path(rel), os.O_APPEND|os.O_WRONLY, 0)
	w.must(err)
	_, err = h.WriteString(content)
	w.must(err)
	w.must(h.Close())
}

// ids writes lines with these ids.
func ids(list ...string) string {
	var b strings.Builder
	for _, id := range list {
		fmt.Fprintf(&b, "{\"id\":%q}\n", id)
	}
	return b.String()
}

func numbered(prefix string, n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprintf("%s-%05d", prefix, i))
	}
	return list
}
