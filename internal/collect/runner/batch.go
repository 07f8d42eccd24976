package runner

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/slice"
)

// batch collects accepted records, gaps and cursors until they are committed. They keep the order in which they were
// sent, so a cursor is never committed before its records.
//
// The marks are the end of the last closed slice. If the run fails, the records of open slices after the marks are
// dropped. A stream with a cursor only at the end of the run has no slices; its records are loose and always kept.
//
// Attempts belong to no slice and are stored with the next commit: a gap that crashes every run must still move to
// the end of the queue. Cursors and recoveries close the slice before them.
type batch struct {
	slice slice.Slice
	arena byteArena
	size  int // in memory, approximately
	marks sliceEnd
	held  openSlices
	loose int // records and gaps after the marks that belong to no slice
}

// sliceEnd is a position in the batch: the number of records and gaps before it.
type sliceEnd struct{ records, gaps int }

// openSlices is the content of slices that are not closed.
type openSlices struct{ records, size int }

// recordOverhead is the approximate memory of a record or a gap besides its strings.
const recordOverhead = 200

// add copies the record's data into the batch's arena, because the line buffer that holds it is reused. waits reports
// whether the record belongs to an open slice.
func (b *batch) add(r slice.Record, data []byte, waits bool) {
	r.Data = b.arena.copy(data)
	b.slice.Records = append(b.slice.Records, r)
	b.grow(len(data)+len(r.Key)+recordOverhead, waits)
	if waits {
		b.held.records++
	}
}

func (b *batch) addGap(g slice.Gap, waits bool) {
	b.slice.Gaps = append(b.slice.Gaps, g)
	b.grow(len(g.RecordKey)+len(g.Reason)+len(g.Locator)+len(g.ListCursor)+len(g.LastError)+recordOverhead, waits)
}

// addRecovered adds gaps that were recovered.
func (b *batch) addRecovered(refs ...slice.GapRef) {
	b.slice.Recovered = append(b.slice.Recovered, refs...)
}

func (b *batch) grow(size int, waits bool) {
	b.size += size
	if waits {
		b.held.size += size
	} else {
		b.loose++
	}
}

// close marks the content so far as finished slices.
func (b *batch) close() {
	b.marks, b.held, b.loose = sliceEnd{len(b.slice.Records), len(b.slice.Gaps)}, openSlices{}, 0
}

// closed reports whether the batch has content of a closed slice.
func (b *batch) closed() bool {
	return b.marks.records+b.marks.gaps+len(b.slice.Recovered)+len(b.slice.Cursors) > 0
}

// full reports whether at least this many records or bytes can be committed.
func (b *batch) full(records, size int) bool {
	return len(b.slice.Records)-b.held.records >= records || b.size-b.held.size >= size
}

// truncate removes the content of open slices and returns it. waits reports whether a stream has slices.
func (b *batch) truncate(waits func(stream string) bool) (records []slice.Record, gaps []slice.Gap) {
	s, m := &b.slice, b.marks
	records, gaps = s.Records[m.records:], s.Gaps[m.gaps:]
	s.Records, s.Gaps = s.Records[:m.records], s.Gaps[:m.gaps]
	if b.loose > 0 {
		loose := func(stream string) bool { return !waits(stream) }
		records, gaps = slices.Clone(records), slices.Clone(gaps)
		for _, r := range records {
			if loose(r.Stream) {
				s.Records = append(s.Records, r)
			}
		}
		for _, g := range gaps {
			if loose(g.Stream) {
				s.Gaps = append(s.Gaps, g)
			}
		}
		records = slices.DeleteFunc(records, func(r slice.Record) bool { return loose(r.Stream) })
		gaps = slices.DeleteFunc(gaps, func(g slice.Gap) bool { return loose(g.Stream) })
	}
	b.size, b.held = b.size-b.held.size, openSlices{}
	return records, gaps
}

// move sets a cursor. It replaces an earlier cursor of the same stream and mode, because the records of both slices are
// in this batch.
func (b *batch) move(c slice.Cursor) {
	for i := range b.slice.Cursors {
		if have := &b.slice.Cursors[i]; have.Stream == c.Stream && have.Mode == c.Mode {
			have.Cursor = c.Cursor
			return
		}
	}
	b.slice.Cursors = append(b.slice.Cursors, c)
}

// reset empties the batch and keeps its memory for reuse.
func (b *batch) reset() {
	s := &b.slice
	clear(s.Records[:cap(s.Records)]) // data must not outlive the batch
	s.Records, s.Gaps, s.Attempts = s.Records[:0], nil, s.Attempts[:0]
	s.Recovered, s.Cursors, s.Events = s.Recovered[:0], nil, nil
	b.arena.reset()
	b.size, b.marks, b.held, b.loose = 0, sliceEnd{}, openSlices{}, 0
}

// byteArena stores copies in chunks that are reused from batch to batch, so that the memory of a long run does not
// grow.
type byteArena struct {
	chunks [][]byte
	at     int // index of the chunk being filled
}

// arenaChunk holds a few hundred typical records.
const arenaChunk = 256 << 10

func (a *byteArena) copy(data []byte) []byte {
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

func (a *byteArena) reset() {
	for i := range a.chunks {
		a.chunks[i] = a.chunks[i][:0]
	}
	a.at = 0
}

func cloneValue(v jsontext.Value) jsontext.Value { return slices.Clone(v) }
