package runner

import (
	"context"
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/manifest/gate"
	"github.com/pdpp-go/pdpp/protocol"
)

func (s *session) record(ctx context.Context, m *protocol.Record) error {
	st := s.streams[m.Stream]
	if st == nil {
		return s.undeclared(protocol.UndeclaredStream, m.Type(), m.Stream)
	}
	r, v := Take(st.Stream, m, time.Now())
	if v == nil && s.spec.Foreign {
		v = st.keepKey(m)
	}
	if v != nil && !v.Subtype.OfRecord() {
		return v // RT-05: what nobody asked for ends the run
	}
	s.records++
	st.sent++
	st.walk.meet(m.Key)
	switch {
	case st.ended:
		s.rejected++
		return nil
	case v != nil:
		return s.reject(st, m.Key, v)
	}
	var err error
	if r.Blobs, err = s.blobs(ctx, st, m); err != nil {
		return err
	}
	r.File = s.fileNamed(r.File)
	s.cur.add(r, r.Data, st.slice)
	st.collected++
	if g := s.owed[owedKey{st.name, m.Key}]; g != nil {
		g.sent = true
	}
	s.bound()
	return nil
}

// mostFiles is how many files of imports a run may name. Each has a receipt.
const mostFiles = 10_000

// fileNamed is the file that a record says it came from; empty, as if the source had brought it,
// beyond the bound.
func (s *session) fileNamed(name string) string {
	if name == "" || s.files[name] {
		return name
	}
	if len(s.files) >= mostFiles {
		return ""
	}
	if s.files == nil {
		s.files = map[string]bool{}
	}
	s.files[name] = true
	return name
}

// Take holds a record against its stream's gate and gives it in the form in which it is
// kept, whoever brings it: a connector of this machine, or a device. Its data is that of m.
func Take(st *gate.Stream, m *protocol.Record, now time.Time) (slice.Record, *protocol.Violation) {
	semantic, v := st.Record(m)
	if v != nil {
		return slice.Record{}, v
	}
	r := slice.Record{Stream: m.Stream, Key: m.Key, EmittedAt: m.EmittedAt, SemanticTime: semantic, Data: m.Data, File: m.File}
	if m.Op == protocol.OpDelete {
		r.Op, r.Data = protocol.OpDelete, nil
		if r.EmittedAt == "" {
			r.EmittedAt = storedTime(now) // a tombstone may come without its time
		}
	}
	return r, nil
}

func (s *session) state(ctx context.Context, m *protocol.State) error {
	st := s.streams[m.Stream]
	if st == nil {
		return s.undeclared(protocol.UndeclaredState, m.Type(), m.Stream)
	}
	if st.withheld {
		return nil
	}
	c := slice.Cursor{Stream: st.name, Mode: m.Mode, Cursor: cloneValue(m.Cursor)}
	// The cursors of a stream move in the order they came: none passes one that waits.
	now := st.slice && len(st.staged) == 0
	if len(st.details) > 0 {
		accounted, err := s.sliceAccounted(ctx, st, m.Accounted)
		if err != nil {
			return err
		}
		now = now && accounted
	}
	if !now {
		st.staged[m.Mode] = c
		return nil
	}
	st.moved = true
	s.cur.move(c)
	s.cur.close()
	if s.committer.idle() {
		s.handover()
	}
	select {
	case <-s.opts.Drain:
		return drained()
	default:
		return nil
	}
}

func (s *session) doneSaid(m *protocol.Done) error {
	s.done = m
	if m.RecordsEmitted != s.records {
		return &protocol.Violation{Subtype: protocol.RecordCountMismatch, MessageType: m.Type(),
			Expected: []string{fmt.Sprintf("records_emitted %d, as counted", s.records)}, Received: fmt.Sprint(m.RecordsEmitted)}
	}
	s.judgeRejected()
	s.noteOtherKeys()
	switch {
	case m.Status == protocol.DoneSucceeded:
		s.closeSent()
	case s.confined():
		s.dropTail(s.blocked())
	default:
		s.dropTail(nil)
	}
	s.cur.close() // what is left is finished, and staged cursors may follow it
	if f := s.flush(); f != nil {
		return f
	}
	s.child.CloseStdin() // the acknowledgement: DONE was consumed and the records are durable
	s.linger = time.AfterFunc(s.opts.ExitGrace, s.child.Terminate)
	return nil
}

// dropTail leaves out what waits for its slice: of the given streams, or of all of
// them.
func (s *session) dropTail(only map[string]bool) {
	records, gaps := s.cur.truncate(s.waitsForSlice)
	for _, r := range records {
		if only != nil && !only[r.Stream] {
			s.cur.add(r, r.Data, true)
			continue
		}
		s.streams[r.Stream].collected--
		s.dropped++
	}
	for _, g := range gaps {
		if only != nil && !only[g.Stream] {
			s.cur.addGap(g, true)
			continue
		}
		s.streams[g.Stream].gaps--
	}
}

// bound keeps the run's memory small. A slice that does not fit is committed in
// parts, the cursor with the last of them: delivering it again is harmless.
func (s *session) bound() {
	if s.cur.held.size >= s.opts.MaxOpenBytes {
		s.cur.close()
	}
	if s.cur.full(s.opts.BatchRecords, s.opts.MaxOpenBytes) {
		s.give()
	}
}

// handover gives finished slices, if there are any, to the committer, and now and then
// what waits for none.
func (s *session) handover() {
	if s.cur.closed() || s.cur.loose > 0 && time.Since(s.lastGiven) >= keepEvery {
		s.give()
	}
}

// keepEvery is how long a record of a stream without slices may wait in memory while
// others come: a commit for each would cost more than fetching a few again.
const keepEvery = 5 * time.Second

// waitsForSlice reports whether what comes of the stream becomes durable with its slice.
func (s *session) waitsForSlice(stream string) bool { return s.streams[stream].slice }

// give hands the finished slices and the timeline to the committer. What belongs
// to the open slice moves to the next batch: a record becomes durable with its
// slice, not before it, because a run that starts over might never hear of its
// deletion.
func (s *session) give() {
	s.untold, s.lastGiven = false, time.Now()
	next := <-s.committer.free
	records, gaps := s.cur.truncate(s.waitsForSlice)
	for _, r := range records {
		next.add(r, r.Data, true)
	}
	for _, g := range gaps {
		next.addGap(g, true)
	}
	s.takeEvents()
	s.committer.work <- s.cur
	s.cur = next
}

// flush makes every finished slice durable and waits for it.
func (s *session) flush() *Failure {
	if s.cur.closed() || s.cur.loose > 0 || len(s.cur.slice.Attempts) > 0 {
		s.give()
	}
	return s.committer.wait()
}

func (s *session) undeclared(sub protocol.Subtype, t protocol.MessageType, name string) *protocol.Violation {
	v := &protocol.Violation{Subtype: sub, MessageType: t, Stream: name, Received: "stream " + quoted(name)}
	for _, st := range s.order {
		v.Expected = append(v.Expected, st.name)
	}
	return v
}
