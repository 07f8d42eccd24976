package launch

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"

	"github.com/pdpp-go/pdpp/internal/collect/browser"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
)

// ReasonBrowser ends a run when its browser profile cannot be opened on this machine. The connector is not started:
// without the profile the owner would seem to be signed out.
const ReasonBrowser runner.Reason = "browser_unusable"

// Timeline entries about the browser profile of a run.
const (
	eventTrimmed = "browser.session_kept_alone" // it is larger than is kept
	eventNotKept = "browser.profile_not_kept"   // it stays on this machine until the next start
)

// withBrowser runs the connector with the browser profile of its connection, if it uses one and this machine has a
// browser. It seals the profile when the run is over, before another run can start.
func (l *Launcher) withBrowser(ctx context.Context, lease store.Lease, spec runner.Spec,
	surface func(string, io.ReadWriteCloser), run func(runner.Spec) runner.Outcome) runner.Outcome {
	const name = string(manifest.BindingBrowser)
	if _, offered := spec.Bindings[name]; !offered || l.Browsers == nil || !spec.Manifest.UsesBrowser() {
		return run(spec)
	}
	profile, err := l.Browsers.Open(ctx, lease, spec.Manifest)
	if err != nil {
		return withoutBrowser(ctx, err)
	}
	number := 0
	if surface != nil {
		ours, theirs, err := browser.Channel()
		if err != nil {
			_, _ = profile.End(context.WithoutCancel(ctx)) // it is as it was
			return withoutBrowser(ctx, err)
		}
		defer ours.Close()
		number = 3 + len(spec.Command.Files)
		spec.Command.Files = append(slices.Clip(spec.Command.Files), theirs)
		surface(lease.RunID, ours)
	}
	spec.Bindings = maps.Clone(spec.Bindings)
	spec.Bindings[name] = encodeJSON(profile.Binding(number))
	profile.Prepare(&spec.Command)
	outcome := run(spec)
	kept, err := profile.End(context.WithoutCancel(ctx))
	switch {
	case errors.Is(err, store.ErrLeaseLost): // the new holder has a newer session
	case err != nil:
		outcome.Events = beforeLast(outcome.Events, slice.Event{Type: eventNotKept})
	case kept.Trimmed:
		outcome.Events = beforeLast(outcome.Events,
			slice.Event{Type: eventTrimmed, Data: encodeJSON(map[string]int64{"bytes": kept.Bytes})})
	}
	return outcome
}

// beforeLast puts an event before the one that sums the run up.
func beforeLast(events []slice.Event, e slice.Event) []slice.Event {
	return slices.Insert(slices.Clone(events), max(len(events)-1, 0), e)
}

// withoutBrowser is the end of a run that could not get its browser profile.
func withoutBrowser(ctx context.Context, err error) runner.Outcome {
	if errors.Is(err, credential.ErrWrongKey) || ctx.Err() != nil {
		return withoutCredential(ctx, err)
	}
	f := &runner.Failure{Reason: ReasonBrowser, Origin: runner.OriginRuntime, Err: err, Message: err.Error()}
	var unusable *store.FaultError
	if errors.As(err, &unusable) {
		f.Reason, f.Origin = runner.ReasonStorage, runner.OriginStorage
	}
	return runner.Outcome{Status: runner.Failed, Failure: f, ExitCode: -1}
}
