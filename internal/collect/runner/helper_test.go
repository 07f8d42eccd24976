package runner

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// sample is the manifest of a connector with streams of every kind. Tests share it.
func sample(t testing.TB) *manifest.Manifest {
	t.Helper()
	m, err := parseSample()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

var parseSample = sync.OnceValues(func() (*manifest.Manifest, error) {
	b, err := os.ReadFile("testdata/manifest.json")
	if err != nil {
		return nil, err
	}
	return manifest.Parse(b)
})

func object() jsontext.Value { return jsontext.Value(`{}`) }

// scope names streams without any constraint.
func scope(names ...string) []protocol.StreamScope {
	out := make([]protocol.StreamScope, len(names))
	for i, name := range names {
		out[i].Name = name
	}
	return out
}

// memory is a Sink and a GapSource that keeps everything, and fails on demand.
type memory struct {
	mu       sync.Mutex
	slices   []slice.Slice
	commits  int
	failAt   int               // the commit that fails, from 1
	onPage   func()            // runs when a page of gaps is asked for
	onCommit func()            // runs before each commit
	durable  map[lane][]string // keys of gaps, of earlier runs too

	pending  []protocol.GapEntry
	limits   []int // candidates asked for, page by page
	released []string
	leaseErr error
	waits    []ProviderWait
	waitErr  error
}

var errDiskFull = fmt.Errorf("disk is full")

func (m *memory) CommitSlice(_ context.Context, s *slice.Slice) error {
	if m.onCommit != nil {
		m.onCommit()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.commits++; m.commits == m.failAt {
		return errDiskFull // only this commit: the next would succeed
	}
	kept := slice.Slice{
		Records: slices.Clone(s.Records), Gaps: slices.Clone(s.Gaps), Attempts: slices.Clone(s.Attempts),
		Recovered: slices.Clone(s.Recovered), Cursors: slices.Clone(s.Cursors), Events: slices.Clone(s.Events),
	}
	for i := range kept.Records {
		kept.Records[i].Data = bytes.Clone(kept.Records[i].Data)
	}
	m.slices = append(m.slices, kept)
	for _, g := range s.Gaps {
		m.account(lane{g.Stream, g.ParentStream}, g.RecordKey)
	}
	return nil
}

func (m *memory) account(l lane, key string) {
	if m.durable == nil {
		m.durable = map[lane][]string{}
	}
	m.durable[l] = append(m.durable[l], key)
}

func (m *memory) NoteWait(_ context.Context, w ProviderWait) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.waits = append(m.waits, w)
	return m.waitErr
}

func (m *memory) AccountedKeys(_ context.Context, stream, parent string, keys []string) (map[string]bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := map[string]bool{}
	for _, key := range keys {
		found[key] = slices.Contains(m.durable[lane{stream, parent}], key)
	}
	return found, nil
}

func (m *memory) LeaseGaps(_ context.Context, streams []string, limit, page int) ([]protocol.GapEntry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.onPage != nil {
		m.onPage()
	}
	if m.leaseErr != nil {
		return nil, m.leaseErr
	}
	m.limits = append(m.limits, limit)
	var out, rest []protocol.GapEntry
	for _, e := range m.pending {
		if len(out) == limit || !slices.Contains(streams, e.Stream) {
			rest = append(rest, e)
			continue
		}
		e.LeaseID = fmt.Sprintf("page-%d:%s", page, e.GapID)
		out = append(out, e)
	}
	m.pending = rest
	for _, e := range out {
		m.account(lane{e.Stream, e.ParentStream}, string(e.RecordKey))
	}
	return out, nil
}

func (m *memory) ReleaseGaps(_ context.Context, gapIDs []string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.released = append(m.released, gapIDs...)
	for _, id := range gapIDs {
		m.pending = append(m.pending, protocol.GapEntry{GapID: id, Stream: "messages", RecordKey: protocol.WireKey(id),
			Status: protocol.GapPending, DetailLocator: object()})
	}
	return nil
}

// owe puts gaps of the messages stream into the store.
func (m *memory) owe(keys ...string) {
	for _, key := range keys {
		m.pending = append(m.pending, protocol.GapEntry{
			GapID: "gap-" + key, Stream: "messages", ParentStream: "threads", RecordKey: protocol.WireKey(key),
			DetailLocator: object(), Status: protocol.GapPending, ReferenceOnly: true,
		})
	}
}

// log returns each commit as a line: records, deletions with a minus, gaps, attempts, recoveries and cursors. It
// leaves out commits of events only.
func (m *memory) log() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := []string{}
	for _, s := range m.slices {
		if text := describe(s); text != "" {
			out = append(out, text)
		}
	}
	return out
}

func describe(s slice.Slice) string {
	var words []string
	for _, r := range s.Records {
		sign := ""
		if r.Deleted() {
			sign = "-"
		}
		words = append(words, sign+r.Stream+"/"+r.Key)
	}
	for _, g := range s.Gaps {
		words = append(words, "gap:"+g.Stream+"/"+g.RecordKey)
	}
	for _, a := range s.Attempts {
		words = append(words, "attempt:"+a.GapID)
	}
	for _, r := range s.Recovered {
		words = append(words, "recovered:"+r.GapID)
	}
	for _, c := range s.Cursors {
		name := c.Stream
		if c.Mode != protocol.SteadyState {
			name += "@" + string(c.Mode)
		}
		words = append(words, name+"="+string(c.Cursor))
	}
	return strings.Join(words, " ")
}

// events lists every timeline entry that a run left, durable or not.
func (m *memory) events(o Outcome) []slice.Event {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []slice.Event
	for _, s := range m.slices {
		out = append(out, s.Events...)
	}
	return append(out, o.Events...)
}
