package runs

import (
	"context"

	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/cli/status"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// runProgress returns the progress of a run: that of the last stream with a message.
func runProgress(r api.Run) runner.Update {
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
	if r.Message != "" {
		u.Stream, u.Message, u.Count, u.Total = "", r.Message, nil, nil
	}
	return u
}

// printResult prints the result of the run and the connection's verdict.
func (f *runFollower) printResult(ctx context.Context) error {
	d, err := f.owner.Connection(ctx, f.ConnectionID)
	if err != nil {
		return err
	}
	if f.JSON {
		output.WriteJSON(f.Out, map[string]any{"run": f.run, "connection": d.Connection})
	} else {
		output.Printf(f.Out, "Run %s %s: %s.\n", f.run.ID, f.run.Status,
			text.Count(f.run.RecordsEmitted, "record", "records"))
		if f.run.Failure != "" {
			output.Printf(f.Out, "%s\n", output.SingleLine(f.run.Failure))
		}
		status.PrintHeadline(f.Invocation, &d.Connection)
		status.PrintActions(f.Invocation, &d.Connection)
		output.Printf(f.Out, "\nWhy: pdpp why %s\n", f.ConnectionID)
	}
	return f.exitError(d.Verdict.Channel)
}

// exitError returns the exit code of the run. It is ExitOwner if a failed run needs the owner.
func (f *runFollower) exitError(channel verdict.Channel) error {
	switch store.RunStatus(f.run.Status) {
	case store.RunSucceeded:
		return nil
	case store.RunCancelled:
		return &failure.ExitError{Code: failure.ExitCancelled}
	}
	if channel == verdict.Attention {
		return &failure.ExitError{Code: failure.ExitOwner}
	}
	return &failure.ExitError{Code: failure.ExitFailed}
}
