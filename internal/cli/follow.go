package cli

import (
	"context"
	"errors"
	"slices"
	"time"

	"pdpp/internal/ownerapi"
	"pdpp/internal/runner"
	"pdpp/internal/store"
	"pdpp/internal/verdict"
)

// followEvery is how often a run is asked about at the owner's service, which may be
// a server far away.
const followEvery = time.Second

// follower looks on at a run through the owner's service, from the request to its end.
type follower struct {
	*app
	owner        ownerapi.Owner
	connectionID string
	before       string // the newest run before the request
	run          ownerapi.Run
	question     string // what was told already
	view         *view
}

// follow shows the next run of a connection until it has ended, and ends with the
// connection's verdict. Ctrl-C ends the looking on alone.
func (a *app) follow(ctx context.Context, o ownerapi.Owner, connectionID, displayName, before string) error {
	f := &follower{app: a, owner: o, connectionID: connectionID, before: before,
		view: a.newView(store.Connection{ID: connectionID, DisplayName: displayName})}
	f.view.begin(context.WithoutCancel(ctx))
	err := f.look(ctx)
	f.view.end()
	if ctx.Err() != nil {
		return &Error{Code: "cancelled", Exit: ExitCancelled, Message: "stopped looking on; the run is not stopped",
			Next: "Look at it: pdpp status " + connectionID + ". Stop it: pdpp cancel " + connectionID}
	}
	if err != nil {
		return err
	}
	return f.tell(ctx)
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
	f.view.observe(progressOf(f.run))
	if f.run.Status != string(store.RunRunning) {
		return true, nil
	}
	return false, f.questions(ctx)
}

// begun looks whether a worker has taken the request up, and whether one is there.
func (f *follower) begun(ctx context.Context) error {
	runs, err := f.owner.Runs(ctx, f.connectionID, 20)
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(runs, func(r ownerapi.Run) bool { return r.ID == f.before }); i >= 0 {
		runs = runs[:i]
	}
	if len(runs) > 0 {
		f.run = runs[len(runs)-1] // newest first: the last is the first since the request
		f.view.started(f.run.ID)
		return nil
	}
	runtime, err := f.owner.Runtime(ctx)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(runtime.Workers, func(w ownerapi.Worker) bool { return w.Alive }) {
		return nil
	}
	return &Error{Code: "no_worker", Exit: ExitFailed, Message: "no worker is there to make the run; the request waits for one",
		Next: "Start one (pdpp serve), or collect here: pdpp run " + f.connectionID}
}

// questions tells of a question that the run asks.
func (f *follower) questions(ctx context.Context) error {
	q, err := f.owner.Question(ctx, f.run.ID)
	var e *ownerapi.Error
	if errors.As(err, &e) && (e.Code == ownerapi.CodeNoQuestion || e.Code == ownerapi.CodeNotFound) {
		return nil
	}
	if err != nil || q.RequestID == f.question {
		return err
	}
	f.question = q.RequestID
	if f.view.painter != nil {
		f.view.say("The run asks: " + q.Message + " (answer it in the console, or on the server's machine with pdpp answer " + f.connectionID + ")")
	}
	return nil
}

// progressOf is what a run tells of itself: the stream that has most to do stands for it.
func progressOf(r ownerapi.Run) runner.Update {
	u := runner.Update{Records: r.RecordsEmitted, Committed: r.RecordsEmitted}
	for _, s := range r.Streams {
		if s.Message != "" {
			u.Stream, u.Message, u.Count, u.Total = s.Label, s.Message, nil, nil
			if s.Considered != nil {
				done, total := float64(s.Records), float64(*s.Considered)
				u.Count, u.Total = &done, &total
			}
		}
	}
	return u
}

// tell ends with the connection's verdict, in its own words.
func (f *follower) tell(ctx context.Context) error {
	d, err := f.owner.Connection(ctx, f.connectionID)
	if err != nil {
		return err
	}
	if f.json {
		writeJSON(f.out, map[string]any{"run": f.run, "connection": d.Connection})
	} else {
		printf(f.out, "Run %s %s: %s.\n", f.run.ID, f.run.Status, plural(f.run.RecordsEmitted, "record", "records"))
		if f.run.Failure != "" {
			printf(f.out, "%s\n", oneLine(f.run.Failure))
		}
		f.printHead(&d.Connection)
		f.printActions(&d.Connection)
		printf(f.out, "\nWhy: pdpp why %s\n", f.connectionID)
	}
	return f.exit(d.Verdict.Channel)
}

// exit is that of the run; one that failed and needs the owner says so.
func (f *follower) exit(channel verdict.Channel) error {
	switch store.RunStatus(f.run.Status) {
	case store.RunSucceeded:
		return nil
	case store.RunCancelled:
		return &exitOnly{ExitCancelled}
	}
	if channel == verdict.Attention {
		return &exitOnly{ExitOwner}
	}
	return &exitOnly{ExitFailed}
}
