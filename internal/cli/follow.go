package cli

import (
	"context"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const (
	// followEvery is how often a run is asked about at the owner's service, which may be
	// a server far away.
	followEvery = time.Second
	// lostAfter is how long no worker may be there before a run counts as lost: one
	// that lives tells so much more often.
	lostAfter = time.Minute
	// workersEvery is how often a run under way is a reason to look for workers.
	workersEvery = 10 * time.Second
)

// awaited is a run that was asked for.
type awaited struct {
	connectionID, name string
	before             string // the newest run before the request
}

// follower looks on at a run through the owner's service, from the request to its end.
type follower struct {
	*app
	awaited
	owner    api.Owner
	run      api.Run // once it has begun
	question string  // what was told already
	display  *runDisplay

	workersAt time.Time // when workers were looked for last
	aliveAt   time.Time // when one was there
}

// follow shows the next run of a connection until it has ended, and ends with the
// connection's verdict. Ctrl-C ends the looking on alone.
func (a *app) follow(ctx context.Context, o api.Owner, w awaited) error {
	f := a.newFollower(o, w)
	f.display.begin(context.WithoutCancel(ctx))
	err := f.look(ctx)
	f.display.end()
	if ctx.Err() != nil {
		return &Error{Code: "cancelled", Exit: ExitCancelled, Message: "stopped looking on; the run is not stopped",
			Next: "Look at it: pdpp status " + w.connectionID + ". Stop it: pdpp cancel " + w.connectionID}
	}
	if err != nil {
		return err
	}
	return f.tell(ctx)
}

func (a *app) newFollower(o api.Owner, w awaited) *follower {
	return &follower{app: a, awaited: w, owner: o, display: a.newRunDisplay(store.Connection{ID: w.connectionID, DisplayName: w.name}), aliveAt: a.env.Now()}
}

func (f *follower) look(ctx context.Context) error {
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for {
		over, err := f.once(ctx)
		if err != nil || over {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

func (f *follower) once(ctx context.Context) (over bool, err error) {
	if f.run.ID == "" {
		return false, f.begun(ctx)
	}
	if f.run, err = f.owner.RunByID(ctx, f.run.ID); err != nil {
		return false, err
	}
	f.display.observe(progressOf(f.run))
	if f.run.Status != string(store.RunRunning) {
		return true, nil
	}
	if err := f.questions(ctx); err != nil {
		return false, err
	}
	return false, f.workers(ctx)
}

// begun looks whether a worker has taken the request up, and whether one is there. The
// request is read first: it goes in the moment in which the run is there.
func (f *follower) begun(ctx context.Context) error {
	work, err := f.owner.Work(ctx)
	if err != nil {
		return err
	}
	waits := slices.ContainsFunc(work.Requests, func(r api.RunRequest) bool { return r.ConnectionID == f.connectionID })
	runs, err := f.owner.Runs(ctx, api.RunQuery{ConnectionID: f.connectionID, Limit: 20})
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(runs, func(r api.Run) bool { return r.ID == f.before }); i >= 0 {
		runs = runs[:i]
	}
	switch {
	case len(runs) > 0:
		f.run = runs[len(runs)-1] // newest first: the last is the first since the request
		f.aliveAt = f.env.Now()
		f.display.started(f.run.ID)
		return nil
	case !waits:
		return &Error{Code: "cancelled", Exit: ExitCancelled, Message: "the run was taken back before it began",
			Next: "Ask for it again when you like: pdpp run " + f.connectionID + " --now"}
	}
	if alive, err := anyWorker(ctx, f.owner); err != nil || alive {
		return err
	}
	return &Error{Code: "no_worker", Exit: ExitFailed, Message: "no worker is there to make the run; the request waits for one",
		Next: "Start one (pdpp serve), or collect here: pdpp run " + f.connectionID}
}

// workers gives up a run when nobody is there any more who could end or clean it up.
func (f *follower) workers(ctx context.Context) error {
	now := f.env.Now()
	if now.Sub(f.workersAt) < workersEvery {
		return nil
	}
	alive, err := anyWorker(ctx, f.owner)
	if err != nil {
		return err
	}
	f.workersAt = now
	if alive {
		f.aliveAt = now
	}
	if now.Sub(f.aliveAt) <= lostAfter {
		return nil
	}
	return &Error{Code: "run_lost", Exit: ExitFailed, Message: "the worker that made run " + f.run.ID + " is gone",
		Next: "Finished slices are kept. Run again: pdpp run " + f.connectionID}
}

// questions tells of a question that the run asks.
func (f *follower) questions(ctx context.Context) error {
	q, err := f.owner.Question(ctx, f.run.ID)
	if hasCode(err, api.CodeNoQuestion) || hasCode(err, api.CodeNotFound) {
		return nil
	}
	if err != nil || q.RequestID == f.question {
		return err
	}
	f.question = q.RequestID
	if f.display.painter != nil {
		how := "answer: pdpp answer " + f.connectionID
		if q.Page != "" {
			how = "open the page in the console: " + q.Page
		}
		f.display.say("The run asks: " + q.Message + " (" + how + ")")
	}
	return nil
}
