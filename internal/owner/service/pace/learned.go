package pace

import (
	"math"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// newestLearned returns the newest pace that the bookmarks carry; nil when none carries a pace.
func newestLearned(cursors []store.Cursor, now time.Time) *api.Learned {
	var newest *api.Learned
	for _, c := range cursors {
		if l := learnedIn(c, now); l != nil && (newest == nil || l.RecordedAt.After(newest.RecordedAt)) {
			newest = l
		}
	}
	return newest
}

// learnedIn reads one bookmark the way the governor does. What is too old for
// it is read as of its own time: the owner may see it, and see that it is old.
func learnedIn(c store.Cursor, now time.Time) *api.Learned {
	fields := numbersOf(c.Cursor)
	recorded := time.UnixMilli(int64(fields[governor.FieldRecorded]))
	l, ok := governor.RestoreLearned(fields, recorded)
	if !ok || l.Interval <= 0 || recorded.Year() > paceHistory {
		return nil
	}
	_, fresh := governor.RestoreLearned(fields, now)
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	return &api.Learned{
		Stream: c.Stream, RecordedAt: l.Recorded, Fresh: fresh, IntervalMS: ms(l.Interval),
		LimitPerMin: learnedLimit(l.Limit * 60), RefusedPerMin: learnedLimit(l.Refused * 60),
		Sweep: learnedLimit(l.Sweep), PauseMS: learnedLimit(ms(l.Pause)), CostMS: learnedLimit(ms(l.Cost)),
	}
}

// paceHistory is the last that a time of JSON can have; what a bookmark claims to be
// from later was never recorded.
const paceHistory = 9999

// numbersOf returns the pace numbers that a bookmark carries; none when the bookmark is not an object.
func numbersOf(cursor jsontext.Value) map[string]float64 {
	var members map[string]jsontext.Value
	if len(cursor) == 0 || json.Unmarshal(cursor, &members) != nil {
		return nil
	}
	numbers := map[string]float64{}
	for name, v := range members {
		var n float64
		field, rides := strings.CutPrefix(name, protocol.PacePrefix)
		if rides && v.Kind() == '0' && json.Unmarshal(v, &n) == nil {
			numbers[field] = n
		}
	}
	return numbers
}

// learnedLimit rounds a measured number to six decimal places, but never to zero. It returns nil for zero, which
// means not measured.
func learnedLimit(v float64) *float64 {
	if v <= 0 {
		return nil
	}
	if r := math.Round(v*1e6) / 1e6; r > 0 {
		v = r
	}
	return &v
}
