package runstate

import (
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/protocol"
)

var epoch2 = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// TestEveryFieldTravels puts all that a governor can learn on a bookmark, for
// the connector's own provider and for another, and reads it back.
func TestEveryFieldTravels(t *testing.T) {
	t.Parallel()
	full := map[string]float64{}
	for i, name := range paceFields {
		full[name] = float64(i + 1)
	}
	full[governor.FieldRecorded] = float64(epoch2.UnixMilli())
	want, ok := governor.RestoreLearned(full, epoch2)
	if !ok || len(full) < 7 {
		t.Fatalf("nothing to restore from %v", full)
	}
	for _, p := range []*RunProvider{{name: "archive", own: true}, {name: "images"}} {
		members := map[string]float64{}
		for name, n := range full {
			members[p.bookmarkMember(name)] = n
		}
		r := &Run{
			Scope: map[string]*StreamScope{"log": {}},
			Now:   func() time.Time { return epoch2 },
			Start: &protocol.Start{
				State: map[string]jsontext.Value{"log": withPace(jsontext.Value(`{"page":"3"}`), members)},
			},
		}
		if got := r.learnedPace(p); got == nil || *got != want {
			t.Errorf("%s: %+v, want %+v", p.name, got, want)
		}
		if got := WithoutPace(r.Start.State["log"]); string(got) != `{"page":"3"}` {
			t.Errorf("%s leaves %s", p.name, got)
		}
	}
}

// FuzzPaceOnBookmarks merges a pace onto any object and takes it off again.
func FuzzPaceOnBookmarks(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{ }`, `{"page":"1"}`, ` {"a":{"b":{}}} `, `{"pacing_own":"text"}`, `{"pacing_interval_ms":4,"x":1}`, `[]`,
		`null`, ``, `{"a":"}"}`,
	} {
		f.Add(seed)
	}
	pace := map[string]float64{PacePrefix + governor.FieldInterval: 250.5, PacePrefix + governor.FieldRecorded: 1.7e12}
	f.Fuzz(func(t *testing.T, text string) {
		mark := jsontext.Value(text)
		bare := WithoutPace(mark)
		if !mark.IsValid() || mark.Kind() != '{' {
			return
		}
		if !bare.IsValid() {
			t.Fatalf("%q without its pace is %q", text, bare)
		}
		with := withPace(bare, pace)
		if !with.IsValid() || numbersOn(with)[PacePrefix+governor.FieldInterval] != 250.5 {
			t.Fatalf("%q with a pace is %q", bare, with)
		}
		back := WithoutPace(with)
		if err := bare.Canonicalize(); err != nil {
			return
		}
		if err := back.Canonicalize(); err != nil || string(back) != string(bare) {
			t.Fatalf("%q came back as %q", bare, back)
		}
	})
}

func numbersOn(mark jsontext.Value) map[string]float64 {
	_, pace := protocol.SplitPace(mark)
	out := map[string]float64{}
	_ = json.Unmarshal(pace, &out)
	return out
}
