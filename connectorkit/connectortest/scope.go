package connectortest

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

func stringContains(s, part string) bool { return strings.Contains(s, part) }

// runScoped runs with a scope; the runner's gates make any breach a failure.
func (b *Harness) runScoped(t *testing.T, sc ...protocol.StreamScope) {
	t.Helper()
	result := b.Run(t, launch.RunRequest{Scope: sc})
	if result.Status != runner.Succeeded {
		t.Fatalf("a scoped run ended as %s: %v\nstderr: %s", result.Status, result.Failure, result.StderrTail)
	}
}

// selectOneStream asks for one stream at a time, in their order and in the opposite one, so that each is
// asked for before every other: nothing of the others comes, and what a scoped run has done keeps
// nothing from a later one.
func selectOneStream(t *testing.T, target Target) {
	streams := slices.Clone(target.Connector.Manifest.Streams)
	for range 2 {
		b := NewHarness(t, target)
		for _, s := range streams {
			before := map[string]int64{}
			for _, other := range streams {
				before[other.Name] = b.NewestChange(t, other.Name)
			}
			b.runScoped(t, protocol.StreamScope{Name: s.Name})
			for _, other := range streams {
				if now := b.NewestChange(t, other.Name); other.Name != s.Name && now != before[other.Name] {
					t.Errorf("scope %s moved %s from change %d to %d", s.Name, other.Name, before[other.Name], now)
				}
			}
			if len(b.storedRecords(t, s.Name)) == 0 && len(b.Sim.Provider.Truth()[s.Name]) > 0 {
				t.Errorf("scope %s brought nothing", s.Name)
			}
		}
		b.Succeed(t) // a later run without the scope still completes everything
		b.VerifyComplete(t)
		slices.Reverse(streams)
	}
}

func scopeResources(t *testing.T, target Target) {
	b := NewHarness(t, target)
	decl, _ := target.Connector.Manifest.Stream(target.Scoped)
	of := map[string]string{} // the resource of each key
	for key, item := range b.Sim.Provider.Truth()[target.Scoped] {
		if of[key] = key; decl.ResourceField() != "" {
			var members map[string]any
			if err := json.Unmarshal(item.Data, &members); err != nil {
				t.Fatalf("ground truth of %s: %v", key, err)
			}
			of[key], _ = members[decl.ResourceField()].(string)
		}
		if item.Deleted {
			delete(of, key)
		}
	}
	asked := slices.Compact(slices.Sorted(maps.Values(of)))
	asked = asked[:min(3, (len(asked)+1)/2)]
	var want []string
	for key, resource := range of {
		if slices.Contains(asked, resource) {
			want = append(want, key)
		}
	}
	slices.Sort(want)
	b.runScoped(t, protocol.StreamScope{Name: target.Scoped, Resources: asked})
	var got []string
	for key := range b.storedRecords(t, target.Scoped) {
		got = append(got, key)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("resources %v brought %v, want %v", asked, got, want)
	}
}

func selectFields(t *testing.T, target Target) {
	b := NewHarness(t, target)
	decl, _ := target.Connector.Manifest.Stream(target.Scoped)
	b.runScoped(t, protocol.StreamScope{Name: target.Scoped, Fields: decl.PrimaryKey})
	for key, rec := range b.storedRecords(t, target.Scoped) {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(rec.Data, &fields); err != nil {
			t.Fatalf("stored %s: %v", key, err)
		}
		if _, leaked := fields[target.OptionalField]; leaked {
			t.Fatalf("record %s has field %s, which is not in scope", key, target.OptionalField)
		}
	}
}

func scopeTimeRange(t *testing.T, target Target) {
	b := NewHarness(t, target)
	decl, _ := target.Connector.Manifest.Stream(target.Scoped)
	if decl.ConsentTimeField == "" {
		t.Fatalf("stream %s has no consent_time_field to bound", target.Scoped)
	}
	var times []time.Time
	truth := b.Sim.Provider.Truth()[target.Scoped]
	for _, item := range truth {
		if at := parseTimeField(item.Data, decl.ConsentTimeField); !at.IsZero() && !item.Deleted {
			times = append(times, at)
		}
	}
	slices.SortFunc(times, time.Time.Compare)
	since, until := times[len(times)/4], times[3*len(times)/4]
	b.runScoped(t, protocol.StreamScope{Name: target.Scoped, TimeRange: &protocol.TimeRange{
		Since: since.Format(time.RFC3339Nano), Until: until.Format(time.RFC3339Nano)}})
	want := 0
	for _, at := range times {
		if !at.Before(since) && at.Before(until) {
			want++
		}
	}
	if got := len(liveKeys(b.storedRecords(t, target.Scoped))); got != want {
		t.Errorf("the range holds %d items, %d were stored", want, got)
	}
}

func liveKeys(records map[string]store.StoredRecord) []string {
	var keys []string
	for key, r := range records {
		if !r.Deleted {
			keys = append(keys, key)
		}
	}
	return keys
}
