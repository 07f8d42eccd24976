package cli

import (
	"context"
	"errors"
	"slices"
	"time"

	"pdpp/internal/runner"
	"pdpp/internal/scheduler"
	"pdpp/internal/store"
)

const (
	// lookEvery is how often a run of another process is looked at.
	lookEvery = 250 * time.Millisecond
	// lostAfter is how long after the end of its lease a run counts as lost: a
	// worker that lives cleans up much sooner.
	lostAfter = time.Minute
)

// onlooker follows a run that was asked for, from the request to its end.
type onlooker struct {
	*app
	store  store.Store
	conn   store.Connection
	before string    // the newest run before the request
	run    store.Run // the one that was asked for, once it has begun
	view   *view

	seen      int64 // sequence number of the last event
	done      runner.Update
	recovered int64
	question  string // what was told already
}

// lookOn shows the run until it has ended, and ends with its outcome. Ctrl-C
// ends the looking on alone.
func (a *app) lookOn(ctx context.Context, st store.Store, conn store.Connection, before string) error {
	o := &onlooker{app: a, store: st, conn: conn, before: before, view: a.newView(conn)}
	o.view.begin(context.WithoutCancel(ctx))
	err := o.follow(ctx)
	o.view.end()
	if ctx.Err() != nil {
		return &Error{Code: "cancelled", Exit: ExitCancelled, Message: "stopped looking on; the run is not stopped",
			Next: "Look at it: pdpp runs --connection " + conn.ID + ". Stop it: pdpp cancel " + conn.ID}
	}
	if err != nil {
		return err
	}
	return o.tell(ctx)
}

func (o *onlooker) follow(ctx context.Context) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		look := o.look
		if o.run.ID == "" {
			look = o.begun
		}
		over, err := look(ctx)
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

// begun looks whether a worker has taken the request up. The request is read
// first: it goes in the moment in which the run is there.
func (o *onlooker) begun(ctx context.Context) (over bool, err error) {
	_, err = o.store.RunRequest(ctx, o.conn.ID)
	waits := err == nil
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return false, err
	}
	runs, err := o.store.ListRuns(ctx, store.RunQuery{ConnectionID: o.conn.ID})
	if err != nil {
		return false, err
	}
	if i := slices.IndexFunc(runs, func(r store.Run) bool { return r.ID == o.before }); i >= 0 {
		runs = runs[:i]
	}
	switch {
	case len(runs) > 0:
		o.run = runs[len(runs)-1] // newest first: the last is the first since the request
		o.view.started(o.run.ID)
		return false, nil
	case !waits:
		return false, &Error{Code: "cancelled", Exit: ExitCancelled, Message: "the run was taken back before it began",
			Next: "Ask for it again when you like: pdpp run " + o.conn.ID + " --now"}
	}
	return false, o.checkWorkers(ctx)
}

func (o *onlooker) checkWorkers(ctx context.Context) error {
	workers, err := o.store.Workers(ctx)
	if err != nil {
		return err
	}
	if scheduler.AnyAlive(workers, o.env.Now()) {
		return nil
	}
	return &Error{Code: scheduler.ErrNoWorker.Error(), Exit: ExitFailed, Message: "no worker is alive any more; the request waits for the next one",
		Next: "Start one (pdpp serve), or take the request back: pdpp cancel " + o.conn.ID}
}

// look shows what the run did since the last look.
func (o *onlooker) look(ctx context.Context) (over bool, err error) {
	run, err := o.store.Run(ctx, o.run.ID) // first: every event of a run that is over can be read then
	if err != nil {
		return false, err
	}
	o.run = run
	if err := o.events(ctx); err != nil {
		return false, err
	}
	o.view.observe(o.done)
	if run.Status != store.RunRunning {
		return true, nil
	}
	if err := o.questions(ctx); err != nil {
		return false, err
	}
	l, err := o.store.ActiveLease(ctx, o.conn.ID)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return false, nil // it ended since
	case err != nil:
		return false, err
	case l.RunID == run.ID && o.env.Now().Sub(l.ExpiresAt) > lostAfter:
		return false, &Error{Code: "run_lost", Exit: ExitFailed, Message: "the process that made run " + run.ID + " is gone",
			Next: "Finished slices are kept. Run again: pdpp run " + o.conn.ID}
	}
	return false, nil
}

// questions tells of a question that the run asks.
func (o *onlooker) questions(ctx context.Context) error {
	open, err := o.store.OpenInteractions(ctx, o.conn.ID)
	if err != nil || len(open) == 0 || open[0].RequestID == o.question {
		return err
	}
	o.question = open[0].RequestID
	if o.view.painter != nil {
		o.view.say("The run asks: " + open[0].Message + " (answer: pdpp answer " + o.conn.ID + ")")
	}
	return nil
}
