package foreign

import (
	"cmp"
	"math"
	"slices"
)

// maxVisits bounds how often the streams of a run may begin before requests are no longer located.
const maxVisits = 10_000

// streamVisit is a part of a tap's output, in bytes from its start, in which a stream was worked on: from the end of
// the message that began it to the end of its last message.
type streamVisit struct {
	from, to int64
	closed   bool // the tap reported that the stream is complete
}

// streamBeginning is a SCHEMA, or a source's status STARTED.
type streamBeginning struct {
	s  *sourceStream
	at int64
	// record is the end of the first record after it and before the next beginning, or 0.
	record int64
}

// requestLocator locates a tap's requests between its messages, to find the streams that a request was sent for. It
// works for taps that begin a stream before they request its data and write each message at once, and it checks
// that on the tap's output. For any other tap a request concerns every stream.
type requestLocator struct {
	begun    []streamBeginning
	unplaced bool // the output contains something before any beginning
}

func (w *requestLocator) begin(s *sourceStream, at int64) {
	if len(w.begun) >= maxVisits {
		w.unplaced = true
		return
	}
	w.begun = append(w.begun, streamBeginning{s: s, at: at})
	s.visits = append(s.visits, streamVisit{from: at, to: at})
}

func (w *requestLocator) record(s *sourceStream, at int64) {
	if len(s.visits) == 0 {
		w.unplaced = true
		return
	}
	s.visits[len(s.visits)-1].to = at
	if last := &w.begun[len(w.begun)-1]; last.record == 0 {
		last.record = at
	}
}

func (w *requestLocator) complete(s *sourceStream, at int64) {
	if n := len(s.visits); n > 0 {
		s.visits[n-1].to, s.visits[n-1].closed = at, true
	}
}

// groups are beginnings without a record or a request between them: a tap may request their data in any order.
// They are returned by the index of their first beginning. ok reports whether there are groups with records, and
// each had a request between its beginning and its first record.
func (w *requestLocator) groups(asked []int64) (first []int, ok bool) {
	between := func(from, to int64) bool {
		i, _ := slices.BinarySearch(asked, from)
		return i < len(asked) && asked[i] < to
	}
	for i, b := range w.begun {
		if i == 0 || w.begun[i-1].record != 0 || between(w.begun[i-1].at, b.at) {
			first = append(first, i)
		}
		if b.record == 0 {
			continue
		}
		if !between(w.begun[first[len(first)-1]].at, b.record) {
			return nil, false
		}
		ok = true
	}
	return first, ok && !w.unplaced
}

// at returns a function that reports whether a stream was worked on at a position of the output. asked are the
// positions of all requests, in order. If known is false, the function returns true for every stream.
func (w *requestLocator) at(
	kind TapProtocol,
	asked []int64,
) (working func(s *sourceStream, place int64) bool, known bool) {
	first, ok := w.groups(asked)
	if !ok || len(asked) > 0 && asked[0] < 0 {
		return func(*sourceStream, int64) bool { return true }, false
	}
	return func(s *sourceStream, place int64) bool {
		i, found := slices.BinarySearchFunc(first, place, func(i int, place int64) int {
			return cmp.Compare(w.begun[i].at, place)
		})
		if !found {
			i--
		}
		if i < 0 {
			return true // before the first stream: it may concern all
		}
		if slices.ContainsFunc(s.visits, func(v streamVisit) bool { return v.from <= place && place < v.end(kind) }) {
			return true
		}
		if kind == Airbyte { // its streams end explicitly
			over := slices.ContainsFunc(s.visits, func(v streamVisit) bool { return v.closed && v.to <= place })
			return !over && !w.open(place)
		}
		group := w.begun[first[i]:]
		if i+1 < len(first) {
			group = w.begun[first[i]:first[i+1]]
		}
		return slices.ContainsFunc(group, func(b streamBeginning) bool { return b.s == s })
	}, true
}

func (v streamVisit) end(kind TapProtocol) int64 {
	if kind == Airbyte && !v.closed {
		return math.MaxInt64
	}
	return v.to
}

// open reports whether a source worked on any stream at a position of its output.
func (w *requestLocator) open(place int64) bool {
	return slices.ContainsFunc(w.begun, func(b streamBeginning) bool {
		return slices.ContainsFunc(b.s.visits, func(v streamVisit) bool { return v.from <= place && place < v.end(Airbyte) })
	})
}
