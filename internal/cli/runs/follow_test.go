package runs

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// The progress of a run is that of the stream with a message.
func TestProgressOf(t *testing.T) {
	nine := int64(9)
	u := runProgress(api.Run{RecordsEmitted: 5,
		Streams: []api.RunStream{{Name: "seeds"}, {Name: "trees", Label: "Trees", Records: 3, Considered: &nine,
			Message: "row 3"}}})
	if whole := runProgress(api.Run{Message: "trying to reach it",
		Streams: []api.RunStream{{Name: "trees", Message: "row 3"}}}); whole.Message != "trying to reach it" {
		t.Errorf("what the run says as a whole is told as %q", whole.Message)
	}
	if u.Committed != 5 || u.Stream != "Trees" || u.Message != "row 3" || *u.Count != 3 || *u.Total != 9 {
		t.Errorf("%+v", u)
	}
}

// unreachedSource is the owner's service while a run tries to reach its source.
type unreachedSource struct {
	api.Owner
	looks int
}

func (*unreachedSource) Runs(context.Context, api.RunQuery) ([]api.Run, error) {
	return []api.Run{{ID: "run_1", Status: "running"}}, nil
}

func (*unreachedSource) Work(context.Context) (api.Work, error) { return api.Work{}, nil }

func (u *unreachedSource) RunByID(context.Context, string) (api.Run, error) {
	u.looks++
	switch {
	case u.looks < 20:
		return api.Run{ID: "run_1", Status: "running", Message: "trying to reach api.example.com, attempt 2 of 3"}, nil
	case u.looks < 40:
		return api.Run{ID: "run_1", Status: "running", Message: "trying to reach api.example.com, attempt 3 of 3"}, nil
	}
	return api.Run{ID: "run_1", Status: "failed"}, nil
}

func (*unreachedSource) Question(context.Context, string) (api.Question, error) {
	return api.Question{}, &api.Error{Code: api.CodeNoQuestion}
}

func (*unreachedSource) Runtime(context.Context) (api.Runtime, error) {
	return api.Runtime{Workers: []api.Worker{{Alive: true}}}, nil
}

// Following a first run prints each attempt to reach the source once.
func TestFollowShowsWhatTheRunSays(t *testing.T) {
	var stderr bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		inv := &command.Invocation{Env: command.Env{Now: time.Now}, Out: io.Discard, ErrOut: &stderr}
		f := newRunFollower(inv, &unreachedSource{}, AwaitedRun{ConnectionID: "cin_shed_1", DisplayName: "Shed"})
		f.display.begin(t.Context())
		if err := f.followToEnd(t.Context()); err != nil {
			t.Error(err)
		}
		f.display.end()
	})
	// Whether the first look comes before the first painting is open.
	got := strings.Replace(stderr.String(), "0 records\n", "", 1)
	want := "Shed: run run_1\n0 records, trying to reach api.example.com, attempt 2 of 3\n0 records, trying to reach " +
		"api.example.com, attempt 3 of 3\n"
	if got != want {
		t.Errorf("shown:\n%s", got)
	}
}
