// Package archivetest runs a connector of an import folder in this process and keeps what a
// runner would: records, gaps and bookmarks of closed slices, and nothing of an open one.
package archivetest

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"pdpp/connectorkit"
	"pdpp/connectorkit/localfile"
	"pdpp/protocol"
)

// Kept is what runs of a connector have left behind.
type Kept struct {
	Connector connectorkit.Connector
	Env       map[string]string
	// KillAt cuts the output after so many lines; zero is never.
	KillAt int
	// Observe sees every message that was read. It may be nil.
	Observe func(protocol.Message)

	Records map[string]map[string]jsontext.Value // by stream and key
	Writes  int                                  // records that were new or changed, but for the account
	Emitted int                                  // records that were sent, but for the account
	Gaps    map[string]*protocol.DetailGap       // by stream and key
	Said    []string
	Done    *protocol.Done

	state, catchUp map[string]jsontext.Value
	t              testing.TB
}

// New begins with nothing kept.
func New(t testing.TB, c connectorkit.Connector, env map[string]string) *Kept {
	return &Kept{
		Connector: c, Env: env, Records: map[string]map[string]jsontext.Value{}, Gaps: map[string]*protocol.DetailGap{},
		state: map[string]jsontext.Value{}, catchUp: map[string]jsontext.Value{}, t: t,
	}
}

// Run is one run over all streams, which has to succeed unless it is cut.
func (k *Kept) Run() *Kept {
	k.t.Helper()
	stderr := k.Try()
	if k.KillAt == 0 && (k.Done == nil || k.Done.Status != protocol.DoneSucceeded) {
		k.t.Fatalf("the run ended with %+v: %s", k.Done, stderr)
	}
	return k
}

// Try is one run, however it ends. It gives what the connector logged.
func (k *Kept) Try() string {
	k.t.Helper()
	start := &protocol.Start{
		RunID: "run", CollectionMode: protocol.Incremental, State: k.state, CatchUpState: k.catchUp,
		Bindings: map[string]jsontext.Value{"filesystem": jsontext.Value("{}")}, DetailGaps: []protocol.GapEntry{},
	}
	for _, s := range k.Connector.Manifest.Streams {
		start.Scope.Streams = append(start.Scope.Streams, protocol.StreamScope{Name: s.Name})
	}
	for _, key := range slices.Sorted(maps.Keys(k.Gaps)) {
		if g := k.Gaps[key]; g.Retryable {
			start.DetailGaps = append(start.DetailGaps, protocol.GapEntry{
				GapID: "gap-" + key, LeaseID: "lease-" + key, Stream: g.Stream, RecordKey: g.RecordKey, DetailLocator: g.DetailLocator, Status: protocol.GapPending, ReferenceOnly: true,
			})
		}
	}
	in, err := protocol.AppendLine(nil, start)
	if err != nil {
		k.t.Fatal(err)
	}
	toConnector, feed := io.Pipe()
	out, fromConnector := io.Pipe()
	go func() { _, _ = feed.Write(in) }()
	var stderr bytes.Buffer
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		connectorkit.Run(context.Background(), k.Connector, connectorkit.Process{
			Stdin: toConnector, Stdout: fromConnector, Stderr: &stderr, Env: func(name string) string { return k.Env[name] }, Now: time.Now,
		})
		_ = fromConnector.Close()
	}()
	k.Done = nil
	k.keep(out, feed)
	_ = feed.Close()
	<-ended
	return stderr.String()
}

func (k *Kept) keep(out *io.PipeReader, answers io.Writer) {
	k.t.Helper()
	var open []protocol.Message
	dec := protocol.NewDecoder(protocol.FromConnector)
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 64<<20)
	for n := 1; lines.Scan(); n++ {
		if n == k.KillAt {
			_ = out.CloseWithError(io.ErrClosedPipe)
			return
		}
		m, err := dec.Decode(slices.Clone(lines.Bytes()))
		if err != nil {
			k.t.Fatalf("%v: %s", err, lines.Bytes())
		}
		if k.Observe != nil {
			k.Observe(m)
		}
		switch m := m.(type) {
		case *protocol.DetailGapsPageRequest:
			b, err := protocol.AppendLine(nil, &protocol.DetailGapsPageResponse{RequestID: m.RequestID, DetailGaps: []protocol.GapEntry{}, ReferenceOnly: true})
			if err != nil {
				k.t.Fatal(err)
			}
			go func() { _, _ = answers.Write(b) }()
		case *protocol.State:
			for _, o := range open {
				k.apply(o)
			}
			open = nil
			marks := k.state
			if m.Mode == protocol.CatchUp {
				marks = k.catchUp
			}
			marks[m.Stream] = slices.Clone(m.Cursor)
			if m.Cursor.Kind() == 'n' {
				delete(marks, m.Stream)
			}
		case *protocol.Done:
			k.Done = m
		case *protocol.Progress:
			k.Said = append(k.Said, m.Message)
		case *protocol.Record:
			rec := *m // the decoder uses it again
			open = append(open, &rec)
		default:
			open = append(open, m)
		}
	}
}

func (k *Kept) apply(m protocol.Message) {
	switch m := m.(type) {
	case *protocol.Record:
		if k.Records[m.Stream] == nil {
			k.Records[m.Stream] = map[string]jsontext.Value{}
		}
		if m.Stream != localfile.CoverageStream {
			k.Emitted++
			if string(k.Records[m.Stream][m.Key]) != string(m.Data) {
				k.Writes++
			}
		}
		k.Records[m.Stream][m.Key] = slices.Clone(m.Data)
	case *protocol.DetailGap:
		k.Gaps[m.Stream+"/"+string(m.RecordKey)] = m
	case *protocol.DetailGapRecovered:
		delete(k.Gaps, m.Stream+"/"+string(m.RecordKey))
	case *protocol.SkipResult:
		k.t.Errorf("a record was left out: %s", *m.Message)
	}
}

// Reasons counts the gaps by reason.
func (k *Kept) Reasons() map[string]int {
	n := map[string]int{}
	for _, g := range k.Gaps {
		n[string(g.Reason)]++
	}
	return n
}

// Fields decodes a stored record; nil when there is none.
func (k *Kept) Fields(stream, key string) map[string]any {
	k.t.Helper()
	raw, ok := k.Records[stream][key]
	if !ok {
		return nil
	}
	var out map[string]any
	if err := json.Unmarshal(raw, &out); err != nil {
		k.t.Fatal(err)
	}
	return out
}

// Account is what the last run said of a store.
func (k *Kept) Account(store string) localfile.Coverage {
	k.t.Helper()
	var got localfile.Coverage
	raw, ok := k.Records[localfile.CoverageStream][store]
	if !ok {
		k.t.Fatalf("no account of %s", store)
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		k.t.Fatal(err)
	}
	return got
}

// File is a member to be packed or written.
type File struct{ Name, Content string }

// Old is a time at which nobody writes any more.
var Old = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// Write puts a file into a folder, as it was left some time ago.
func Write(t testing.TB, path string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, Old, Old); err != nil {
		t.Fatal(err)
	}
}

// Unpacked writes members as files below a folder.
func Unpacked(t testing.TB, dir string, files ...File) {
	t.Helper()
	for _, f := range files {
		Write(t, filepath.Join(dir, filepath.FromSlash(f.Name)), []byte(f.Content))
	}
}

// Zip packs members.
func Zip(t testing.TB, files ...File) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		w, err := z.Create(f.Name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, f.Content); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Tgz packs members into a compressed tar.
func Tgz(t testing.TB, files ...File) []byte {
	t.Helper()
	var b bytes.Buffer
	packed := gzip.NewWriter(&b)
	w := tar.NewWriter(packed)
	for _, f := range files {
		if err := w.WriteHeader(&tar.Header{Name: f.Name, Size: int64(len(f.Content)), Mode: 0o600, Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, f.Content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
