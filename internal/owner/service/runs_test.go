package service

import (
	"fmt"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// report leaves a progress event of the run under way.
func (b *serviceHarness) report(l store.Lease, data string) {
	b.t.Helper()
	_, err := b.Store.CommitSlice(b.ctx(), l,
		slice.Slice{Events: []slice.Event{{Type: "run.progress_reported", Stream: "beds", At: b.at,
			Data: jsontext.Value(data)}}}, b.at)
	b.requireNoError(err)
}

// An active run reports its pace, and the remaining time as a range, once its pace was measured for long
// enough.
func TestRunUnderWay(t *testing.T) {
	t.Parallel()
	b := newServiceHarness(t)
	id := b.connect("trowel").ID
	l := b.begin(id, "run_a")
	stream := func() api.RunStream {
		t.Helper()
		d, err := b.Connection(b.ctx(), id)
		b.requireNoError(err)
		if d.ActiveRun == nil || len(d.ActiveRun.Streams) != 1 {
			t.Fatalf("active run %+v", d.ActiveRun)
		}
		return d.ActiveRun.Streams[0]
	}
	if d, err := b.Connection(b.ctx(), id); err != nil || len(d.ActiveRun.Streams) != 0 {
		t.Errorf("streams that nobody spoke of: %+v, %v", d.ActiveRun, err)
	}
	b.report(l, `{"message":"beds: 0 of 6000","count":0,"total":6000}`)
	if s := stream(); *s.Considered != 6000 || s.PerMinute != nil || s.LeftLow != nil || s.Label != "Flower beds" {
		t.Errorf("at the beginning %+v", s)
	}
	b.at = b.at.Add(5 * time.Second)
	b.report(l, `{"message":"beds: 10 of 6000","count":10,"total":6000}`)
	if s := stream(); s.PerMinute != nil || s.Records != 10 {
		t.Errorf("after five seconds %+v", s)
	}
	b.at = b.at.Add(55 * time.Second)
	b.report(l, `{"message":"beds: 120 of 6000","count":120,"total":6000}`)
	s := stream()
	if s.PerMinute == nil || *s.PerMinute != 120 || s.LeftLow != nil || s.LeftHigh != nil {
		t.Errorf("after a minute %+v", s)
	}
	for minute := 2; minute <= 6; minute++ {
		b.at = b.at.Add(time.Minute)
		b.report(l, fmt.Sprintf(`{"message":"on","count":%d,"total":6000}`, 120*minute))
	}
	// 2640 seconds at this pace
	if s = stream(); s.LeftLow == nil || *s.PerMinute != 120 || *s.LeftLow != 2112 || *s.LeftHigh != 3300 {
		t.Fatalf("after six minutes %+v", s)
	}
	b.at = b.at.Add(3 * time.Minute) // nothing moves: the pace falls and the range grows
	if s = stream(); *s.PerMinute >= 120 || *s.LeftHigh <= 3300 || *s.LeftLow != 2112 {
		t.Errorf("after silence %+v, %v to %v", s, *s.LeftLow, *s.LeftHigh)
	}
	b.report(l, `{"message":"on","count":725}`)
	if s = stream(); s.Considered != nil || s.LeftLow != nil || s.Message != "on" {
		t.Errorf("without a total %+v", s)
	}
	b.requireNoError(b.Store.FinishRun(b.ctx(), l, store.RunOutcome{Status: store.RunFailed, Error: "it broke",
		Event: slice.Event{Type: "run.failed"}}, b.at))
	r, err := b.RunByID(b.ctx(), "run_a")
	b.requireNoError(err)
	if len(r.Streams) != 0 || r.Failure != "It broke." {
		t.Errorf("after its end %+v", r)
	}
}
