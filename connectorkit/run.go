package connectorkit

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/connectorkit/failure"
	"github.com/pdpp-go/pdpp/connectorkit/internal/listdetail"
	"github.com/pdpp-go/pdpp/connectorkit/internal/runstate"
	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/protocol"
)

// runToEnd does everything between START and DONE.
func runToEnd(ctx context.Context, c Connector, setup *Setup) runEnding {
	r := setup.r
	workers, err := openCollectors(ctx, c, setup)
	if err == nil {
		err = recoverGaps(ctx, r, workers)
	}
	var failed []*failure.RunFailure
	var intact int
	if err == nil {
		failed, intact, err = runWorkers(ctx, r, forwardWorkers(r, workers))
	}
	for _, w := range workers {
		if concluded := w.ConcludeWork(ctx); err == nil {
			err = concluded
		}
	}
	if problem := r.DeclareRemaining(ctx); err == nil {
		err = problem
	}
	if problem := r.ReportDrift(ctx); err == nil {
		err = problem
	}
	if problem := r.ReportPace(ctx, err != nil || len(failed) > 0); err == nil {
		err = problem
	}
	if err != nil {
		f := r.ClassifyFailure(err)
		return runEnding{status: protocol.DoneFailed, Verdict: f.Verdict, cause: f.Cause}
	}
	return judgeStreams(ctx, r, failed, intact)
}

// openCollectors resolves the scope, checks the environment and starts the collectors in scope.
func openCollectors(ctx context.Context, c Connector, setup *Setup) ([]collectorRun, error) {
	r := setup.r
	for _, s := range r.Start.Scope.Streams {
		scope, why := runstate.NewStreamScope(r.Manifest, s)
		if why != "" {
			if err := skipUnsupported(ctx, r, s.Name, why); err != nil {
				return nil, err
			}
			continue
		}
		r.Scope[s.Name] = scope
	}
	if err := r.RequireEnvironment(ctx); err != nil {
		return nil, err
	}
	if len(r.Start.Scope.Streams) > 0 {
		r.Drift.SetStream(r.Start.Scope.Streams[0].Name) // requests before every stream count for the first
	}
	collectors, err := c.Open(ctx, setup)
	if err != nil {
		return nil, err
	}
	var workers []collectorRun
	served := map[string]bool{}
	for _, collector := range collectors {
		w := collector.beginRun(r)
		wanted := false
		for _, name := range w.StreamNames() {
			served[name] = true
			wanted = wanted || r.Scope[name] != nil
		}
		if wanted {
			workers = append(workers, w)
		}
	}
	for _, s := range r.Start.Scope.Streams {
		if r.Scope[s.Name] != nil && !served[s.Name] {
			if err := skipUnsupported(ctx, r, s.Name, "this connector does not collect the stream"); err != nil {
				return nil, err
			}
		}
	}
	return workers, nil
}

func skipUnsupported(ctx context.Context, r *runstate.Run, stream, why string) error {
	return r.Out.Send(ctx, &protocol.SkipResult{Stream: stream, Reason: protocol.ScopeNotSupported, Message: &why})
}

// forwardWorkers returns the workers that collect new records. A recovery run continues the lists that were cut
// short, which fills their gaps; a PushSource fills its own gaps.
func forwardWorkers(r *runstate.Run, workers []collectorRun) []collectorRun {
	if !r.Start.RecoveryOnly {
		return workers
	}
	return slices.DeleteFunc(slices.Clone(workers), func(w collectorRun) bool {
		_, cut := r.Lists[w.ListStream()]
		f, feed := w.(*pushRun)
		return !cut && !(feed && len(f.gaps) > 0)
	})
}

// readToEnd makes a worker read its list to the end, or declares that it was cut short.
func readToEnd(ctx context.Context, r *runstate.Run, w collectorRun) error {
	if err := r.ListAttempted(ctx, w.ListStream()); err != nil {
		return err
	}
	watchStreams(r, w)
	err := w.CollectForward(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if d, cut := runstate.PostponedList(err); cut {
		d.Since = r.Now()
		err = w.DeclareCutShort(ctx, d)
	} else if err == nil {
		for _, stream := range w.StreamNames() {
			r.Drift.EndHistory(stream)
		}
		err = r.ListRecovered(ctx, w.ListStream())
	}
	if err != nil {
		return err
	}
	return w.ConcludeWork(ctx)
}

// runWorkers runs the workers in order and counts the intact ones. A stream's failure does not affect the others; a
// refused credential or a challenge would fail them all, so it ends the run.
func runWorkers(ctx context.Context, r *runstate.Run, workers []collectorRun) (failed []*failure.RunFailure, intact int,
	err error) {
	for _, w := range workers {
		err := readToEnd(ctx, r, w)
		if ctx.Err() != nil {
			return failed, intact, context.Cause(ctx)
		}
		if err == nil {
			intact++
			continue
		}
		var some *partialFailure
		if errors.As(err, &some) {
			failed, intact = append(failed, some.failed...), intact+some.intact
			continue
		}
		f := r.ClassifyFailure(err)
		if f.Whole {
			return failed, intact, f
		}
		r.Log.Warn("stream failed", "streams", w.StreamNames(), "code", f.Code, "cause", governhttp.WithoutURL(f.Cause))
		if err := r.ReportTransitions(ctx); err != nil {
			return failed, intact, err
		}
		for _, name := range w.StreamNames() {
			if r.Scope[name] != nil {
				failed = append(failed, &failure.RunFailure{Stream: name, Verdict: f.Verdict, Cause: f.Cause})
			}
		}
	}
	return failed, intact, nil
}

// judgeStreams ends a run that reached its end. If a part succeeded, the failure is reported as confined to the
// named streams.
func judgeStreams(ctx context.Context, r *runstate.Run, failed []*failure.RunFailure, intact int) runEnding {
	if len(failed) == 0 {
		return runEnding{status: protocol.DoneSucceeded}
	}
	e := runEnding{status: protocol.DoneFailed, Verdict: failed[0].Verdict, cause: failed[0].Cause}
	var names []string
	for _, f := range failed {
		names = append(names, f.Stream)
		e.Retryable = e.Retryable && f.Retryable
		text, hint := f.Message, f.Hint
		if f.Code == failure.CodeForbidden && intact > 0 && len(r.Manifest.CredentialEnv()) > 0 {
			hint = protocol.RefreshCredentials // the same credential reads the others
		}
		err := r.Out.Send(ctx, &protocol.SkipResult{
			Stream: f.Stream, Reason: protocol.StreamCollectionFailed, Message: &text,
			RecoveryHint: &protocol.RecoveryHint{Action: hint},
		})
		if err != nil {
			return e
		}
	}
	e.Message = strings.Join(names, ", ") + ": " + e.Message
	if intact > 0 {
		e.Code = protocol.StreamCollectionFailed
	}
	return e
}

// watchStreams makes the drift watch expect the streams of a worker, and whether they are read from the beginning.
func watchStreams(r *runstate.Run, w collectorRun) {
	r.Drift.SetStream(w.ListStream())
	begun := func(stream string) bool {
		return r.StoredBookmark(stream, protocol.SteadyState).Kind() == '{' ||
			r.StoredBookmark(stream, protocol.CatchUp).Kind() == '{'
	}
	if _, feed := w.(*pushRun); feed && slices.ContainsFunc(w.StreamNames(), begun) {
		return // one bookmark may cover all its streams
	}
	for _, stream := range w.StreamNames() {
		if r.Scope[stream].IsUnrestricted() && !r.Start.RecoveryOnly && !begun(stream) {
			r.Drift.BeginHistory(stream)
		}
	}
}

// recoverGaps fetches what earlier runs left out, before anything new.
func recoverGaps(ctx context.Context, r *runstate.Run, workers []collectorRun) error {
	var lanes []*listdetail.Run
	var feeds []*pushRun
	var streams, lists []string
	for _, w := range workers {
		lists = append(lists, w.ListStream())
		for _, name := range w.StreamNames() {
			if r.Scope[name] != nil {
				streams = append(streams, name)
			}
		}
		switch w := w.(type) {
		case *listdetail.Run:
			lanes = append(lanes, w)
		case *pushRun:
			feeds = append(feeds, w)
		}
	}
	return listdetail.RecoverGaps(ctx, r, lanes, streams, lists, func(e protocol.GapEntry) {
		for _, f := range feeds {
			f.keepServedGap(e)
		}
	})
}
