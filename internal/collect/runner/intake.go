package runner

import (
	"context"
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/manifest/gate"
	"github.com/pdpp-go/pdpp/protocol"
)

// maxImportFiles bounds the imported files that a run may name. Each has a receipt.
const maxImportFiles = 10_000

// runCounters counts what the connector sent and what became of it.
type runCounters struct {
	records  int64 // sent
	rejected int64 // of those, left out because they are invalid
	dropped  int64 // accepted, then left out because their slice was not finished
	gaps     int64
	files    map[string]bool // imported files that records name
}

// importFile returns the file name of an imported record, or "" for further files beyond maxImportFiles. Records
// without a file name count as fetched from the source.
func (c *runCounters) importFile(name string) string {
	if name == "" || c.files[name] {
		return name
	}
	if len(c.files) >= maxImportFiles {
		return ""
	}
	if c.files == nil {
		c.files = map[string]bool{}
	}
	c.files[name] = true
	return name
}

func (s *session) onRecord(ctx context.Context, m *protocol.Record) error {
	st, err := s.streamNamed(m, m.Stream)
	if err != nil {
		return err
	}
	r, v := CheckRecord(st.Stream, m, time.Now())
	if v == nil && s.spec.Foreign {
		v = st.checkKey(m)
	}
	if v != nil && !v.Subtype.OfRecord() {
		return v // RT-05: a record outside the requested scope ends the run
	}
	s.counters.records++
	st.sent++
	st.walk.addKey(m.Key)
	switch {
	case st.ended:
		s.counters.rejected++
		return nil
	case v != nil:
		return s.rejectRecord(st, m.Key, v)
	}
	if r.Blobs, err = s.storeBlobs(ctx, st, m); err != nil {
		return err
	}
	r.File = s.counters.importFile(r.File)
	s.commits.current.add(r, r.Data, st.slice)
	st.collected++
	s.gaps.markSent(st.name, m.Key, true)
	s.commits.limitMemory()
	return nil
}

// CheckRecord validates a record of a connector or a device and returns it in its stored form. The result shares
// its data with m.
func CheckRecord(st *gate.Stream, m *protocol.Record, now time.Time) (slice.Record, *protocol.Violation) {
	semantic, v := st.Record(m)
	if v != nil {
		return slice.Record{}, v
	}
	r := slice.Record{Stream: m.Stream, Key: m.Key, EmittedAt: m.EmittedAt, SemanticTime: semantic, Data: m.Data,
		File: m.File}
	if m.Op == protocol.OpDelete {
		r.Op, r.Data = protocol.OpDelete, nil
		if r.EmittedAt == "" {
			r.EmittedAt = storedTime(now) // a deletion may have no time
		}
	}
	return r, nil
}

func (s *session) onState(ctx context.Context, m *protocol.State) error {
	st := s.streams.byName[m.Stream]
	if st == nil {
		return s.streams.undeclared(protocol.UndeclaredState, m.Type(), m.Stream)
	}
	if st.withheld {
		return nil
	}
	c := slice.Cursor{Stream: st.name, Mode: m.Mode, Cursor: cloneValue(m.Cursor)}
	// The cursors of a stream are committed in order: a staged cursor holds back the later ones.
	now := st.slice && len(st.staged) == 0
	if len(st.details) > 0 {
		accounted, err := s.coverage.sliceAccounted(ctx, st, m.Accounted)
		if err != nil {
			return s.secrets.storageFailure(err)
		}
		now = now && accounted
	}
	if !now {
		st.staged[m.Mode] = c
		return nil
	}
	st.moved = true
	s.commits.current.move(c)
	s.commits.current.close()
	if s.commits.committer.idle() {
		s.commits.commitFinished()
	}
	select {
	case <-s.opts.Drain:
		return shutdownFailure(nil)
	default:
		return nil
	}
}

func (s *session) onDone(m *protocol.Done) error {
	s.done = m
	if m.RecordsEmitted != s.counters.records {
		return &protocol.Violation{Subtype: protocol.RecordCountMismatch, MessageType: m.Type(),
			Expected: []string{fmt.Sprintf("records_emitted %d, as counted", s.counters.records)},
			Received: fmt.Sprint(m.RecordsEmitted)}
	}
	s.endRejectedStreams()
	s.noteOtherKeys()
	switch {
	case m.Status == protocol.DoneSucceeded:
		s.commits.current.addRecovered(s.gaps.recoverSent()...)
	case s.failureConfined():
		s.dropOpenSlices(s.streams.certifiedFailures())
	default:
		s.dropOpenSlices(nil)
	}
	s.commits.current.close() // the rest is finished, and staged cursors may follow it
	if f := s.commits.flush(); f != nil {
		return f
	}
	s.conv.acknowledgeDone()
	return nil
}

// dropOpenSlices drops the records and gaps of unfinished slices: of the streams in only, or of all when it is nil.
func (s *session) dropOpenSlices(only map[string]bool) {
	batch := s.commits.current
	records, gaps := batch.truncate(s.streams.commitsBySlice)
	for _, r := range records {
		if only != nil && !only[r.Stream] {
			batch.add(r, r.Data, true)
			continue
		}
		s.streams.byName[r.Stream].collected--
		s.counters.dropped++
	}
	for _, g := range gaps {
		if only != nil && !only[g.Stream] {
			batch.addGap(g, true)
			continue
		}
		s.streams.byName[g.Stream].gaps--
	}
}

// addGap adds a gap to the open slice and counts it.
func (s *session) addGap(st *stream, g slice.Gap) {
	s.commits.current.addGap(g, st.slice)
	st.gaps++
	s.counters.gaps++
}
