package runner

import (
	"github.com/go-json-experiment/json/jsontext"

	"pdpp/internal/slice"
)

// batch collects what has passed the gates until it is committed. Everything in
// it is in wire order, so a cursor is only ever committed with, or after, what
// came before it. The marks remember the end of the last closed slice: if the
// run fails, what follows them is dropped, and what precedes them is kept.
// Attempts belong to no slice: a gap that ends every run must still sink in the
// rotation, so they go with the next commit, whatever it holds. Cursors and
// recoveries close what precedes them, so they are never open.
type batch struct {
	slice slice.Slice
	arena arena
	size  int // roughly, in memory
	marks marks
}

type marks struct{ records, gaps, size int }

// overhead is what a record or a gap takes beside its texts, roughly.
const overhead = 200

// add copies the record's data into the batch's arena, because the line it
// aliases is about to be overwritten.
func (b *batch) add(r slice.Record, data []byte) {
	r.Data = b.arena.keep(data)
	b.size += len(data) + len(r.Key) + overhead
	b.slice.Records = append(b.slice.Records, r)
}

func (b *batch) addGap(g slice.Gap) {
	b.size += len(g.RecordKey) + len(g.Reason) + len(g.Locator) + len(g.ListCursor) + len(g.LastError) + overhead
	b.slice.Gaps = append(b.slice.Gaps, g)
}

// close marks everything so far as belonging to finished slices.
func (b *batch) close() {
	b.marks = marks{len(b.slice.Records), len(b.slice.Gaps), b.size}
}

// finished reports whether the batch holds anything of a closed slice.
func (b *batch) finished() bool {
	return b.marks.records+b.marks.gaps+len(b.slice.Recovered)+len(b.slice.Cursors) > 0
}

// open is the size of what no finished slice contains.
func (b *batch) open() int { return b.size - b.marks.size }

// split moves what follows the marks to an empty batch.
func (b *batch) split(next *batch) {
	records, gaps := b.truncate()
	for _, r := range records {
		next.add(r, r.Data)
	}
	for _, g := range gaps {
		next.addGap(g)
	}
}

// truncate takes out what no finished slice contains and gives it back.
func (b *batch) truncate() (records []slice.Record, gaps []slice.Gap) {
	s, m := &b.slice, b.marks
	records, gaps = s.Records[m.records:], s.Gaps[m.gaps:]
	s.Records, s.Gaps = s.Records[:m.records], s.Gaps[:m.gaps]
	b.size = m.size
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
	b.size, b.marks = 0, marks{}
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
