package cli

import (
	"context"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// progressOf is what a run tells of itself: the stream that has most to do stands for it.
func progressOf(r api.Run) runner.Update {
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

// tell ends with the connection's verdict, in its own words.
func (f *follower) tell(ctx context.Context) error {
	d, err := f.owner.Connection(ctx, f.connectionID)
	if err != nil {
		return err
	}
	if f.json {
		writeJSON(f.out, map[string]any{"run": f.run, "connection": d.Connection})
	} else {
		printf(f.out, "Run %s %s: %s.\n", f.run.ID, f.run.Status, text.Count(f.run.RecordsEmitted, "record", "records"))
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
