package cli

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/schedule/scheduler"
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
	request := func() {
		_, err := s.RequestRun(t.Context(), store.RunRequest{ConnectionID: nursery, Trigger: store.TriggerManual, RequestedAt: clock})
		s.must(err)
	}
	request()
	f := a.newFollower(o, awaited{connectionID: nursery})
	look := func(want string) {
		t.Helper()
		over, err := f.once(t.Context())
		switch {
		case over || want == "" && err != nil:
			t.Errorf("over: %t, %v", over, err)
		case want != "" && (err == nil || !strings.HasPrefix(describe(err).Code+": "+err.Error(), want)):
			t.Errorf("%v, want %s", err, want)
		}
	}
	alive := func() {
		s.must(s.PutWorker(t.Context(), store.Worker{ID: "w", Host: "h", Capabilities: []string{"network"}, StartedAt: clock, SeenAt: clock}))
	}
	alive()
	look("")
	s.must(s.WithdrawRun(t.Context(), nursery))
	look("cancelled: the run was taken back before it began")
	request()
	clock = clock.Add(time.Hour)
	look("no_worker: ")
	alive()
	_, err = s.StartRun(t.Context(), store.RunStart{RunID: "run_1", ConnectionID: nursery, ConnectorID: "nursery", Trigger: store.TriggerManual,
		Holder: "test", TTL: time.Minute, Streams: []store.StreamSpec{{Name: "trees"}}}, clock)
	s.must(err) // the request goes with the start
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
	u := progressOf(api.Run{RecordsEmitted: 5, Streams: []api.RunStream{{Name: "seeds"}, {Name: "trees", Label: "Trees", Records: 3, Considered: &nine, Message: "row 3"}}})
	if whole := progressOf(api.Run{Message: "trying to reach it", Streams: []api.RunStream{{Name: "trees", Message: "row 3"}}}); whole.Message != "trying to reach it" {
		t.Errorf("what the run says as a whole is told as %q", whole.Message)
	}
	if u.Committed != 5 || u.Stream != "Trees" || u.Message != "row 3" || *u.Count != 3 || *u.Total != 9 {
		t.Errorf("%+v", u)
	}
}

// unreached is the owner's service while a run tries to reach its source.
type unreached struct {
	api.Owner
	looks int
}

func (*unreached) Runs(context.Context, api.RunQuery) ([]api.Run, error) {
	return []api.Run{{ID: "run_1", Status: "running"}}, nil
}

func (*unreached) Work(context.Context) (api.Work, error) { return api.Work{}, nil }

func (u *unreached) RunByID(context.Context, string) (api.Run, error) {
	u.looks++
	switch {
	case u.looks < 20:
		return api.Run{ID: "run_1", Status: "running", Message: "trying to reach api.example.com, attempt 2 of 3"}, nil
	case u.looks < 40:
		return api.Run{ID: "run_1", Status: "running", Message: "trying to reach api.example.com, attempt 3 of 3"}, nil
	}
	return api.Run{ID: "run_1", Status: "failed"}, nil
}

func (*unreached) Question(context.Context, string) (api.Question, error) {
	return api.Question{}, &api.Error{Code: api.CodeNoQuestion}
}

func (*unreached) Runtime(context.Context) (api.Runtime, error) {
	return api.Runtime{Workers: []api.Worker{{Alive: true}}}, nil
}

// Whoever looks on at a first run sees each attempt to reach the source as it is made, once.
func TestFollowShowsWhatTheRunSays(t *testing.T) {
	env, _, stderr := testEnv(t, nil)
	synctest.Test(t, func(t *testing.T) {
		env.Now = time.Now
		a := &app{env: env, out: env.Stdout, errOut: env.Stderr}
		f := a.newFollower(&unreached{}, awaited{connectionID: "cin_shed_1", name: "Shed"})
		f.display.begin(t.Context())
		if err := f.look(t.Context()); err != nil {
			t.Error(err)
		}
		f.display.end()
	})
	// Whether the first look comes before the first painting is open.
	got := strings.Replace(stderr.String(), "0 records\n", "", 1)
	want := "Shed: run run_1\n0 records, trying to reach api.example.com, attempt 2 of 3\n0 records, trying to reach api.example.com, attempt 3 of 3\n"
	if got != want {
		t.Errorf("shown:\n%s", got)
	}
}

// That no worker is there reads the same whether the command or a server found it.
func TestNoWorkerReadsTheSameEverywhere(t *testing.T) {
	arrived := *scheduler.ErrNoWorker
	arrived.Message = "No worker is there to make the run."
	here, there := describe(scheduler.ErrNoWorker), describe(&arrived)
	if here.Message != there.Message || here.Next != there.Next || here.Exit != there.Exit {
		t.Errorf("here %+v, from a server %+v", here, there)
	}
}
