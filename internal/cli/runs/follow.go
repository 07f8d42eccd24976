package runs

import (
	"context"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

const (
	// followInterval is how often the owner's service is asked about a run. It may be a remote server.
	followInterval = time.Second
	// workerLossTimeout is how long no worker may be alive before a run counts as lost. Workers report more often.
	workerLossTimeout = time.Minute
	// workerCheckInterval is how often workers are checked during a run.
	workerCheckInterval = 10 * time.Second
)

// AwaitedRun is a requested run.
type AwaitedRun struct {
	ConnectionID, DisplayName string
	previousRunID             string // the newest run before the request
}

// runFollower follows a run through the owner's service, from the request to its end.
type runFollower struct {
	*command.Invocation
	AwaitedRun
	owner           api.Owner
	run             api.Run // once it has begun
	shownQuestionID string  // the last question that was printed
	display         *runDisplay

	workersAt time.Time // when workers were looked for last
	aliveAt   time.Time // when one was there
}

// FollowRun shows the next run of a connection until it ends, then prints the connection's verdict. Ctrl-C stops
// following; the run continues.
func FollowRun(ctx context.Context, inv *command.Invocation, o api.Owner, w AwaitedRun) error {
	f := newRunFollower(inv, o, w)
	f.display.begin(context.WithoutCancel(ctx))
	err := f.followToEnd(ctx)
	f.display.end()
	if ctx.Err() != nil {
		return &failure.Error{Code: "cancelled", Exit: failure.ExitCancelled,
			Message: "stopped looking on; the run is not stopped",
			Next:    "Look at it: pdpp status " + w.ConnectionID + ". Stop it: pdpp cancel " + w.ConnectionID}
	}
	if err != nil {
		return err
	}
	return f.printResult(ctx)
}

func newRunFollower(inv *command.Invocation, o api.Owner, w AwaitedRun) *runFollower {
	return &runFollower{Invocation: inv, AwaitedRun: w, owner: o,
		display: newRunDisplay(inv, store.Connection{ID: w.ConnectionID, DisplayName: w.DisplayName}), aliveAt: inv.Env.Now()}
}

func (f *runFollower) followToEnd(ctx context.Context) error {
	tick := time.NewTicker(followInterval)
	defer tick.Stop()
	for {
		over, err := f.pollRun(ctx)
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

func (f *runFollower) pollRun(ctx context.Context) (over bool, err error) {
	if f.run.ID == "" {
		return false, f.findStartedRun(ctx)
	}
	if f.run, err = f.owner.RunByID(ctx, f.run.ID); err != nil {
		return false, err
	}
	f.display.observe(runProgress(f.run))
	if f.run.Status != string(store.RunRunning) {
		return true, nil
	}
	if err := f.printNewQuestion(ctx); err != nil {
		return false, err
	}
	return false, f.checkWorkers(ctx)
}

// findStartedRun looks for the run of the request, and reports an error if no worker is alive. It reads the request
// first, because the start of the run removes it.
func (f *runFollower) findStartedRun(ctx context.Context) error {
	work, err := f.owner.Work(ctx)
	if err != nil {
		return err
	}
	waits := slices.ContainsFunc(work.Requests, func(r api.RunRequest) bool { return r.ConnectionID == f.ConnectionID })
	runs, err := f.owner.Runs(ctx, api.RunQuery{ConnectionID: f.ConnectionID, Limit: 20})
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(runs, func(r api.Run) bool { return r.ID == f.previousRunID }); i >= 0 {
		runs = runs[:i]
	}
	switch {
	case len(runs) > 0:
		f.run = runs[len(runs)-1] // newest first: the last is the first since the request
		f.aliveAt = f.Env.Now()
		f.display.started(f.run.ID)
		return nil
	case !waits:
		return &failure.Error{Code: "cancelled", Exit: failure.ExitCancelled,
			Message: "the run was taken back before it began",
			Next:    "Ask for it again when you like: pdpp run " + f.ConnectionID + " --now"}
	}
	if alive, err := command.AnyWorkerAlive(ctx, f.owner); err != nil || alive {
		return err
	}
	return &failure.Error{Code: "no_worker", Exit: failure.ExitFailed,
		Message: "no worker is there to make the run; the request waits for one",
		Next:    "Start one (pdpp serve), or collect here: pdpp run " + f.ConnectionID}
}

// checkWorkers returns an error when no worker is left to finish or clean up the run.
func (f *runFollower) checkWorkers(ctx context.Context) error {
	now := f.Env.Now()
	if now.Sub(f.workersAt) < workerCheckInterval {
		return nil
	}
	alive, err := command.AnyWorkerAlive(ctx, f.owner)
	if err != nil {
		return err
	}
	f.workersAt = now
	if alive {
		f.aliveAt = now
	}
	if now.Sub(f.aliveAt) <= workerLossTimeout {
		return nil
	}
	return &failure.Error{Code: "run_lost", Exit: failure.ExitFailed, Message: "the worker that made run " + f.run.ID +
		" is gone",
		Next: "Finished slices are kept. Run again: pdpp run " + f.ConnectionID}
}

// printNewQuestion prints a question of the run once.
func (f *runFollower) printNewQuestion(ctx context.Context) error {
	q, err := f.owner.Question(ctx, f.run.ID)
	if failure.HasCode(err, api.CodeNoQuestion) || failure.HasCode(err, api.CodeNotFound) {
		return nil
	}
	if err != nil || q.RequestID == f.shownQuestionID {
		return err
	}
	f.shownQuestionID = q.RequestID
	if f.display.painter != nil {
		how := "answer: pdpp answer " + f.ConnectionID
		if q.Page != "" {
			how = "open the page in the console: " + q.Page
		}
		f.display.printLine("The run asks: " + q.Message + " (" + how + ")")
	}
	return nil
}
