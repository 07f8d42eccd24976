package pace

import (
	"math"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/protocol"
)

// newestLearned reads what the bookmarks carry and gives the youngest of it;
// nil when none carries anything.
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
	if !ok || l.Interval <= 0 || recorded.Year() > lastYear {
		return nil
	}
	_, fresh := governor.RestoreLearned(fields, now)
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	return &api.Learned{
		Stream: c.Stream, RecordedAt: l.Recorded, Fresh: fresh, IntervalMS: ms(l.Interval),
		LimitPerMin: known(l.Limit * 60), RefusedPerMin: known(l.Refused * 60),
		Sweep: known(l.Sweep), PauseMS: known(ms(l.Pause)), CostMS: known(ms(l.Cost)),
	}
}

// lastYear is the last that a time of JSON can have; what a bookmark claims to be
// from later was never recorded.
const lastYear = 9999

// numbersOf gives the numbers of the pace that rides on a bookmark; none when it is
// not an object.
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

// known is a measured number without the noise of its last digits; nil for the
// zero that stands for nothing measured.
func known(v float64) *float64 {
	if v <= 0 {
		return nil
	}
	if r := math.Round(v*1e6) / 1e6; r > 0 {
		v = r
	}
	return &v
}
