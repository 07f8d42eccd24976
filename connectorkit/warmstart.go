package connectorkit

import (
	"bytes"
	"maps"
	"math"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"pdpp/governor"
	"pdpp/protocol"
)

// What a run learns about the pace travels to the next one as numbers on the
// steady bookmarks of its streams, beside what the collectors put there (RT-26).
// Collectors never see them. The members of a provider other than the
// connector's own carry its name: pacing_<provider>_interval_ms.
const pacing = protocol.PacePrefix

// paceFields are the names of what a governor wants to keep.
var paceFields = slices.Sorted(maps.Keys(governor.Learned{}.Fields()))

// member is how a field of the provider's is called on a bookmark.
func (p *provider) member(field string) string {
	if p.own {
		return pacing + field
	}
	return pacing + p.name + "_" + field
}

// learned is what the newest bookmark in scope tells about the provider, or the allowance that it
// is known to draw on, if that is newer; nil when none does, or when it is too old. A full refresh uses it too: the pace
// belongs to the provider, not to the data.
func (r *run) learned(p *provider) *governor.Learned {
	newest := r.shared.known(p.name)
	for name := range r.scope {
		var mark map[string]jsontext.Value
		if json.Unmarshal(r.start.State[name], &mark) != nil {
			continue
		}
		fields := map[string]float64{}
		for _, field := range paceFields {
			var n float64
			if json.Unmarshal(mark[p.member(field)], &n) == nil {
				fields[field] = n
			}
		}
		l, fresh := governor.RestoreLearned(fields, r.p.Now())
		if fresh && (newest == nil || l.Recorded.After(newest.Recorded)) {
			newest = &l
		}
	}
	return newest
}

// pace is everything that this run would tell the next one. It is empty when
// nothing is paced.
func (r *run) pace() map[string]float64 {
	members := map[string]float64{}
	for _, p := range r.providers {
		if l, ok := p.governor.Snapshot(r.p.Now()); ok {
			for field, n := range l.Fields() {
				if !math.IsNaN(n) && !math.IsInf(n, 0) {
					members[p.member(field)] = n
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
		out = append(out, encode(name)...)
		out = append(out, ':')
		out = append(out, encode(pace[name])...)
	}
	return append(out, '}')
}

// withoutPace takes the pace out again. A collector's own bookmark holds texts.
func withoutPace(mark jsontext.Value) jsontext.Value {
	place, _ := protocol.SplitPace(mark)
	return place
}
