package service

import (
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

func TestPace(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "RC-05")
	b := newServiceHarness(t)
	id := b.connect("trowel").ID
	if p, err := b.Pace(b.ctx(), id, 0); err != nil || p.CurrentPerMinute != nil || p.CeilingPerMinute != nil ||
		p.Runs == nil {
		t.Errorf("before any run %+v, %v", p, err)
	}
	for i := range 10 {
		l := b.begin(id, "run_"+string(rune('a'+i)))
		b.requireNoError(b.Store.FinishRun(b.ctx(), l,
			store.RunOutcome{Status: store.RunSucceeded, Event: slice.Event{Type: "run.completed", Data: jsontext.Value(
				`{"collection_rate":{"object":"collection_rate","current_interval_ms":2000,"ceiling_interval_ms":500,` +
					`"effective_rate_per_min":30,"ceiling_rate_per_min":120,"last_backoff":{"at_interval_ms":2000,` +
					`"reason":"retry_after"}},
			"rate_history":{"observed":2,"backoffs":1,"points":[{"offset_ms":0,"interval_ms":1000},{"offset_ms":4000,` +
					`"interval_ms":2000,"backoff":"retry_after"}]}}`)}}, b.at))
		b.at = b.at.Add(time.Minute)
	}
	p, err := b.Pace(b.ctx(), id, 0)
	b.requireNoError(err)
	if *p.CurrentPerMinute != 30 || *p.CeilingPerMinute != 120 || p.Live || len(p.Runs) != defaultPaceRuns ||
		p.Runs[7].RunID != "run_j" {
		t.Errorf("pace %+v", p)
	}
	r := p.Runs[7]
	if len(r.Points) != 2 || r.Points[0].PerMinute != 60 || r.Points[1].At != r.StartedAt.Add(4*time.Second) {
		t.Errorf("points %+v", r.Points)
	}
	if len(r.Backoffs) != 1 || !r.Backoffs[0].Paused || r.Backoffs[0].Reason != "The source asked to wait." {
		t.Errorf("back-offs %+v", r.Backoffs)
	}
}
