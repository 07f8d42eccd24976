package runner

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/slice"
)

// batch collects what has passed the gates until it is committed. Everything in
// it is in wire order, so a cursor is only ever committed with, or after, what
// came before it. The marks remember the end of the last closed slice: if the
// run fails, what follows them and waits for its slice is dropped, and the rest is
// kept. A stream whose cursor waits for the run's end has no slices: what comes of it
// waits for nothing.
// Attempts belong to no slice: a gap that ends every run must still sink in the
// rotation, so they go with the next commit, whatever it holds. Cursors and
// recoveries close what precedes them, so they are never open.
type batch struct {
	slice slice.Slice
	arena arena
	size  int // roughly, in memory
	marks marks
	held  waiting
	loose int // records and gaps behind the marks that wait for nothing
}

type marks struct{ records, gaps int }

// waiting is what waits for its slice.
type waiting struct{ records, size int }

// overhead is what a record or a gap takes beside its texts, roughly.
const overhead = 200

// add copies the record's data into the batch's arena, because the line it
// aliases is about to be overwritten.
func (b *batch) add(r slice.Record, data []byte, waits bool) {
	r.Data = b.arena.keep(data)
	b.slice.Records = append(b.slice.Records, r)
	b.grow(len(data)+len(r.Key)+overhead, waits)
	if waits {
		b.held.records++
	}
}

func (b *batch) addGap(g slice.Gap, waits bool) {
	b.slice.Gaps = append(b.slice.Gaps, g)
	b.grow(len(g.RecordKey)+len(g.Reason)+len(g.Locator)+len(g.ListCursor)+len(g.LastError)+overhead, waits)
}

func (b *batch) grow(size int, waits bool) {
	b.size += size
	if waits {
		b.held.size += size
	} else {
		b.loose++
	}
}

// close marks everything so far as belonging to finished slices.
func (b *batch) close() {
	b.marks, b.held, b.loose = marks{len(b.slice.Records), len(b.slice.Gaps)}, waiting{}, 0
}

// closed reports whether the batch holds anything of a closed slice.
func (b *batch) closed() bool {
	return b.marks.records+b.marks.gaps+len(b.slice.Recovered)+len(b.slice.Cursors) > 0
}

// full reports whether so many records, or so much, may be committed.
func (b *batch) full(records, size int) bool {
	return len(b.slice.Records)-b.held.records >= records || b.size-b.held.size >= size
}

// truncate takes out what waits for its slice, by its stream, and gives it back.
func (b *batch) truncate(waits func(stream string) bool) (records []slice.Record, gaps []slice.Gap) {
	s, m := &b.slice, b.marks
	records, gaps = s.Records[m.records:], s.Gaps[m.gaps:]
	s.Records, s.Gaps = s.Records[:m.records], s.Gaps[:m.gaps]
	if b.loose > 0 {
		kept := func(stream string) bool { return !waits(stream) }
		records, gaps = slices.Clone(records), slices.Clone(gaps)
		for _, r := range records {
			if kept(r.Stream) {
				s.Records = append(s.Records, r)
			}
		}
		for _, g := range gaps {
			if kept(g.Stream) {
				s.Gaps = append(s.Gaps, g)
			}
		}
		records = slices.DeleteFunc(records, func(r slice.Record) bool { return kept(r.Stream) })
		gaps = slices.DeleteFunc(gaps, func(g slice.Gap) bool { return kept(g.Stream) })
	}
	b.size, b.held = b.size-b.held.size, waiting{}
	return records, gaps
}

// move sets a cursor, replacing an earlier one of the same bookmark: the
// records of both slices are in this batch, so the newer cursor covers them.
func (b *batch) move(c slice.Cursor) {
	for i := range b.slice.Cursors {
		if have := &b.slice.Cursors[i]; have.Stream == c.Stream && have.Mode == c.Mode {
			have.Cursor = c.Cursor
			return
		}
	}
	b.slice.Cursors = append(b.slice.Cursors, c)
}

// reset makes the batch reusable without giving its memory back.
func (b *batch) reset() {
	s := &b.slice
	clear(s.Records[:cap(s.Records)]) // data must not outlive the batch
	s.Records, s.Gaps, s.Attempts = s.Records[:0], nil, s.Attempts[:0]
	s.Recovered, s.Cursors, s.Events = s.Recovered[:0], nil, nil
	b.arena.reset()
	b.size, b.marks, b.held, b.loose = 0, marks{}, waiting{}, 0
}

// arena keeps copies in chunks that are reused from batch to batch, so that a
// long run's memory does not grow with what has passed through it.
type arena struct {
	chunks [][]byte
	at     int // the chunk being filled
}

// arenaChunk holds a few hundred typical records.
const arenaChunk = 256 << 10

func (a *arena) keep(data []byte) []byte {
	if len(data) == 0 || len(data) > arenaChunk {
		return append([]byte(nil), data...)
	}
	if len(a.chunks) == 0 {
		a.chunks = append(a.chunks, make([]byte, 0, arenaChunk))
	}
	if len(a.chunks[a.at])+len(data) > arenaChunk {
		if a.at++; a.at == len(a.chunks) {
			a.chunks = append(a.chunks, make([]byte, 0, arenaChunk))
		}
	}
	c := a.chunks[a.at]
	start := len(c)
	c = append(c, data...)
	a.chunks[a.at] = c
	return c[start:len(c):len(c)]
}

func (a *arena) reset() {
	for i := range a.chunks {
		a.chunks[i] = a.chunks[i][:0]
	}
	a.at = 0
}

func cloneValue(v jsontext.Value) jsontext.Value {
	if v == nil {
		return nil
	}
	return append(jsontext.Value(nil), v...)
}
