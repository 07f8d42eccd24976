package runstate

import (
	"bytes"
	"maps"
	"math"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/protocol"
)

// The learned pace travels to the next run as numbers on the steady bookmarks of its streams, beside the
// collectors' own content (RT-26). Collectors never see them. Members of a provider other than the connector's
// own contain its name: pacing_<provider>_interval_ms.
const PacePrefix = protocol.PacePrefix

// paceFields are the names of a governor's stored numbers.
var paceFields = slices.Sorted(maps.Keys(governor.Learned{}.Fields()))

// bookmarkMember returns the bookmark name of a provider's field.
func (p *RunProvider) bookmarkMember(field string) string {
	if p.own {
		return PacePrefix + field
	}
	return PacePrefix + p.name + "_" + field
}

// learnedPace returns the state from the newest bookmark in scope, or from the shared quota if that is newer. It
// returns nil if there is none, or if it is too old. A full refresh uses it too, because the pace belongs to the
// provider, not to the data.
func (r *Run) learnedPace(p *RunProvider) *governor.Learned {
	newest := r.shared.learnedState(p.name)
	for name := range r.Scope {
		var mark map[string]jsontext.Value
		if json.Unmarshal(r.Start.State[name], &mark) != nil {
			continue
		}
		fields := map[string]float64{}
		for _, field := range paceFields {
			var n float64
			if json.Unmarshal(mark[p.bookmarkMember(field)], &n) == nil {
				fields[field] = n
			}
		}
		l, fresh := governor.RestoreLearned(fields, r.Now())
		if fresh && (newest == nil || l.Recorded.After(newest.Recorded)) {
			newest = &l
		}
	}
	return newest
}

// currentPace returns the learned state for the next run. It is empty if nothing is paced.
func (r *Run) currentPace() map[string]float64 {
	members := map[string]float64{}
	for _, p := range r.Providers {
		if l, ok := p.Governor.Snapshot(r.Now()); ok {
			for field, n := range l.Fields() {
				if !math.IsNaN(n) && !math.IsInf(n, 0) {
					members[p.bookmarkMember(field)] = n
				}
			}
		}
	}
	return members
}

// withPace adds the pace to an object.
func withPace(mark jsontext.Value, pace map[string]float64) jsontext.Value {
	out := bytes.TrimSpace(mark)
	out = bytes.TrimSpace(bytes.Clone(out[:len(out)-1]))
	for _, name := range slices.Sorted(maps.Keys(pace)) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, EncodeBookmark(name)...)
		out = append(out, ':')
		out = append(out, EncodeBookmark(pace[name])...)
	}
	return append(out, '}')
}

// WithoutPace removes the pace. A collector's own bookmark contains strings.
func WithoutPace(mark jsontext.Value) jsontext.Value {
	place, _ := protocol.SplitPace(mark)
	return place
}
