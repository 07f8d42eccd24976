package conformance

import (
	"fmt"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// checkScope requests less than everything, in every way that the records of the first run allow. The gate rejects
// excess records; this check finds missing ones.
func checkScope(k *testKit) ([]Fault, error) {
	var faults []Fault
	for _, try := range k.narrowed() {
		o, err := k.run(runRequest{scope: []protocol.StreamScope{try.scope}, answer: k.owner()})
		if err != nil {
			return nil, err
		}
		faults = append(faults, o.Faults...)
		if slices.ContainsFunc(o.Skips, func(s protocol.SkipResult) bool { return s.Reason == protocol.ScopeNotSupported }) {
			continue // it reports that the scope is not supported
		}
		faults = append(faults, k.unsuccessful(o)...)
		got := o.Of(try.scope.Name)
		missing := 0
		for _, key := range try.want {
			if _, ok := got[key]; !ok {
				missing++
			}
		}
		if o.succeeded() && missing > 0 && len(o.Gaps) == 0 && len(o.Skips) == 0 {
			faults = append(faults, Fault{
				Text: fmt.Sprintf("asked for %s, it omits %d of %d records without reporting it", try.what, missing, len(try.want)),
				Fix:  "Send everything in the scope, or send SKIP_RESULT with the reason scope_not_supported.",
			})
		}
	}
	return faults, nil
}

// narrowedScope is a smaller scope and the keys that it contains.
type narrowedScope struct {
	what  string
	scope protocol.StreamScope
	want  []string
}

func (k *testKit) narrowed() []narrowedScope {
	var out []narrowedScope
	var tried struct{ stream, resources, fields, times bool }
	for i := range k.Manifest.Streams {
		s := &k.Manifest.Streams[i]
		have := k.first.Of(s.Name)
		keys := sortedKeys(have)
		if len(keys) < 2 {
			continue
		}
		if !tried.stream && len(k.Manifest.Streams) > 1 {
			tried.stream = true
			out = append(out, narrowedScope{"the stream " + s.Name + " alone", protocol.StreamScope{Name: s.Name}, keys})
		}
		if !tried.resources && (s.Selection == nil || s.Selection.Resources) {
			tried.resources = true
			one := have[keys[0]].Resource
			want := slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return have[key].Resource != one })
			out = append(
				out,
				narrowedScope{"one resource of " + s.Name, protocol.StreamScope{Name: s.Name, Resources: []string{one}}, want},
			)
		}
		if !tried.fields && hasOptionalField(s, have[keys[0]]) {
			tried.fields = true
			out = append(
				out,
				narrowedScope{"the key fields of " + s.Name, protocol.StreamScope{Name: s.Name, Fields: s.PrimaryKey}, keys},
			)
		}
		if since, late := midpointTime(
			have,
		); !tried.times && s.ConsentTimeField != "" && len(late) > 0 &&
			len(late) < len(keys) {
			tried.times = true
			out = append(
				out,
				narrowedScope{
					"the later half of " + s.Name,
					protocol.StreamScope{Name: s.Name, TimeRange: &protocol.TimeRange{Since: since}},
					late,
				},
			)
		}
	}
	return out
}

// hasOptionalField reports whether the record has a member that a selection can exclude.
func hasOptionalField(s *manifest.Stream, r Record) bool {
	must := slices.Concat(s.RequiredFields(), s.PrimaryKey)
	return slices.ContainsFunc(r.Fields, func(f string) bool { return !slices.Contains(must, f) })
}

// midpointTime returns a time in the middle of the records, and the keys from it on.
func midpointTime(records map[string]Record) (since string, keys []string) {
	var times []time.Time
	at := map[string]time.Time{}
	for key, r := range records {
		when, _, ok := protocol.SemanticTime(r.Time)
		if !ok {
			return "", nil // a stream with unreadable times cannot be bounded
		}
		at[key], times = when, append(times, when)
	}
	if len(times) == 0 {
		return "", nil
	}
	slices.SortFunc(times, time.Time.Compare)
	middle := times[len(times)/2]
	for key, when := range at {
		if !when.Before(middle) {
			keys = append(keys, key)
		}
	}
	return middle.Format(time.RFC3339Nano), keys
}

func sortedKeys(records map[string]Record) []string {
	var keys []string
	for key := range records {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
