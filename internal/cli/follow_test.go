package cli

import (
	"context"
	"strings"
	"testing"
	"time"

	"pdpp/internal/ownerapi"
	"pdpp/internal/store"
)

// Nobody waits for ever: neither for a run that was taken back, nor for workers that
// left, nor for a run whose process died with nobody there to clean up.
func TestFollowGivesUp(t *testing.T) {
	s := newDueShop(t)
	clock := s.clock
	env, _, _ := testEnv(t, nil)
	env.Now = func() time.Time { return clock }
	a := &app{env: env, json: true, home: t.TempDir()}
	o, err := a.localOwner(s.Store)
	s.must(err)
	waits := true
	f := a.newFollower(o, awaited{connectionID: nursery, waits: func(ctx context.Context, _ string) (bool, error) { return waits, nil }})
	look := func(want string) {
		t.Helper()
		over, err := f.once(t.Context())
		switch {
		case over || want == "" && err != nil:
			t.Errorf("over: %t, %v", over, err)
		case want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)):
			t.Errorf("%v, want %s", err, want)
		}
	}
	alive := func() {
		s.must(s.PutWorker(t.Context(), store.Worker{ID: "w", Host: "h", Capabilities: []string{"network"}, StartedAt: clock, SeenAt: clock}))
	}
	alive()
	look("")
	waits = false
	look("cancelled: the run was taken back before it began")
	waits = true
	clock = clock.Add(time.Hour)
	look("no_worker: ")
	alive()
	_, err = s.StartRun(t.Context(), store.RunStart{RunID: "run_1", ConnectionID: nursery, ConnectorID: "nursery", Trigger: store.TriggerManual,
		Holder: "test", TTL: time.Minute, Streams: []store.StreamSpec{{Name: "trees"}}}, clock)
	s.must(err)
	waits = false // the request went with the start
	look("")
	if f.run.ID != "run_1" {
		t.Fatalf("looks on at %q", f.run.ID)
	}
	look("")
	clock = clock.Add(lostAfter)
	look("")
	clock = clock.Add(workersEvery)
	look("run_lost: the worker that made run run_1 is gone")
	alive()
	clock = clock.Add(workersEvery)
	look("")
}

// The stream that speaks stands for the run.
func TestProgressOf(t *testing.T) {
	nine := int64(9)
	u := progressOf(ownerapi.Run{RecordsEmitted: 5, Streams: []ownerapi.RunStream{{Name: "seeds"}, {Name: "trees", Label: "Trees", Records: 3, Considered: &nine, Message: "row 3"}}})
	if whole := progressOf(ownerapi.Run{Message: "trying to reach it", Streams: []ownerapi.RunStream{{Name: "trees", Message: "row 3"}}}); whole.Message != "trying to reach it" {
		t.Errorf("what the run says as a whole is told as %q", whole.Message)
	}
	if u.Committed != 5 || u.Stream != "Trees" || u.Message != "row 3" || *u.Count != 3 || *u.Total != 9 {
		t.Errorf("%+v", u)
	}
}
