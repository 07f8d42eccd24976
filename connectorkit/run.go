package connectorkit

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/protocol"
)

// runState is one run in progress.
type runState struct {
	c        Connector
	p        Process
	start    *protocol.Start
	out      *lineOutput
	peer     *runnerPeer
	log      *slog.Logger
	secrets  *logRedactor
	declared []string
	answered map[string]string // credentials that the owner entered in this run
	scope    map[string]*streamScope

	knobs     ownerTuning
	providers []*runProvider // in order of creation
	bookmarks runBookmarks
	rests     int                         // open circuits waited for
	sent      atomic.Int64                // requests to all providers, including retries
	busy      atomic.Pointer[runProvider] // the provider that was used last

	trees      *recordDecoder
	encoding   []byte                     // buffer for a record
	picked     map[string]any             // buffer for its key, resource and time
	quick      map[string]*quickSchema    // by stream; none if the connector validates differently
	judges     map[string]*fieldValidator // by stream, of its last record
	masks      *secretMasker              // nil: texts are not masked
	caps       ownerCaps
	budget     governor.RunBudget
	tail       *gapTail
	progress   progressThrottle
	reports    int            // mismatch reports sent
	unreported map[string]int // mismatches beyond the limit of reports, by stream

	shared  sharedQuotas
	closers *closerStack
	drift   *driftWatch

	lists map[string]protocol.GapEntry // served gaps of lists that are not settled, by list
}

func newRun(
	c Connector,
	p Process,
	start *protocol.Start,
	out *lineOutput,
	peer *runnerPeer,
	log *slog.Logger,
	secrets *logRedactor,
	last *closerStack,
) *runState {
	caps := readCaps(p.Env, c.Manifest.EnvPrefix())
	var quick map[string]*quickSchema
	if c.wiredBySchemas() {
		quick = c.quick()
	}
	r := &runState{
		c:         c,
		p:         p,
		start:     start,
		out:       out,
		peer:      peer,
		log:       log,
		secrets:   secrets,
		closers:   last,
		declared:  c.Manifest.EnvNames(),
		answered:  map[string]string{},
		scope:     map[string]*streamScope{},
		knobs:     readKnobs(p.Env, c.Manifest.EnvPrefix(), caps, log),
		bookmarks: newBookmarks(),
		trees:     newTrees(),
		quick:     quick,
		judges:    map[string]*fieldValidator{},
		picked:    map[string]any{},
		caps:      caps,
		budget: governor.RunBudget{
			Requests:  caps.fetches,
			WallClock: caps.whole,
			Began:     p.Now(),
			Details:   caps.wallClock,
		},
		tail:       newTail(caps),
		drift:      newDriftWatch(c),
		unreported: map[string]int{},
		lists:      map[string]protocol.GapEntry{},
		shared:     sharedQuotas{now: p.Now},
	}
	if start.CollectionMode != protocol.FullRefresh {
		for stream, mark := range start.State {
			_, r.bookmarks.compared[stream] = protocol.SplitCompared(mark)
		}
	}
	peer.onShare(r.shared.receive)
	return r
}

// whole does everything between START and DONE.
func (r *runState) whole(ctx context.Context) runEnding {
	workers, err := r.open(ctx)
	if err == nil {
		err = r.recoverGaps(ctx, workers)
	}
	var failed []*runFailure
	var intact int
	if err == nil {
		failed, intact, err = r.forward(ctx, r.forwarding(workers))
	}
	for _, w := range workers {
		if concluded := w.conclude(ctx); err == nil {
			err = concluded
		}
	}
	if told := r.declareRemaining(ctx); err == nil {
		err = told
	}
	if told := r.reportDrift(ctx); err == nil {
		err = told
	}
	if told := r.reportPace(ctx, err != nil || len(failed) > 0); err == nil {
		err = told
	}
	if err != nil {
		f := r.failureOf(err)
		return runEnding{status: protocol.DoneFailed, classVerdict: f.classVerdict, cause: f.cause}
	}
	return r.judgeStreams(ctx, failed, intact)
}

// open resolves the scope, checks the environment and starts the collectors in scope.
func (r *runState) open(ctx context.Context) ([]collectorRun, error) {
	for _, s := range r.start.Scope.Streams {
		scope, why := newStreamScope(r.c.Manifest, s)
		if why != "" {
			if err := r.unsupported(ctx, s.Name, why); err != nil {
				return nil, err
			}
			continue
		}
		r.scope[s.Name] = scope
	}
	if err := r.requireEnvironment(ctx); err != nil {
		return nil, err
	}
	if len(r.start.Scope.Streams) > 0 {
		r.drift.reading.Store(&r.start.Scope.Streams[0].Name) // requests before every stream count for the first
	}
	collectors, err := r.c.Open(ctx, &Setup{Log: r.log, r: r})
	if err != nil {
		return nil, err
	}
	var workers []collectorRun
	served := map[string]bool{}
	for _, c := range collectors {
		w := c.begin(r)
		wanted := false
		for _, name := range w.streams() {
			served[name] = true
			wanted = wanted || r.scope[name] != nil
		}
		if wanted {
			workers = append(workers, w)
		}
	}
	for _, s := range r.start.Scope.Streams {
		if r.scope[s.Name] != nil && !served[s.Name] {
			if err := r.unsupported(ctx, s.Name, "this connector does not collect the stream"); err != nil {
				return nil, err
			}
		}
	}
	return workers, nil
}

func (r *runState) unsupported(ctx context.Context, stream, why string) error {
	return r.out.send(ctx, &protocol.SkipResult{Stream: stream, Reason: protocol.ScopeNotSupported, Message: &why})
}

// forwarding returns the workers that collect new records. A recovery run continues the lists that were cut
// short, which fills their gaps; a PushSource fills its own gaps.
func (r *runState) forwarding(workers []collectorRun) []collectorRun {
	if !r.start.RecoveryOnly {
		return workers
	}
	return slices.DeleteFunc(slices.Clone(workers), func(w collectorRun) bool {
		_, cut := r.lists[w.list()]
		f, feed := w.(*Push)
		return !cut && !(feed && len(f.gaps) > 0)
	})
}

// read makes a worker read its list to the end, or declares that it was cut short.
func (r *runState) read(ctx context.Context, w collectorRun) error {
	if err := r.listAttempted(ctx, w.list()); err != nil {
		return err
	}
	r.drift.begin(r, w)
	err := w.forward(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if d, cut := postponedList(err); cut {
		d.since = r.p.Now()
		err = w.cut(ctx, d)
	} else if err == nil {
		r.drift.end(w)
		err = r.listRecovered(ctx, w.list())
	}
	if err != nil {
		return err
	}
	return w.conclude(ctx)
}

// forward runs the workers in order and counts the intact ones. A stream's failure does not affect the others; a
// refused credential or a challenge would fail them all, so it ends the run.
func (r *runState) forward(ctx context.Context, workers []collectorRun) (failed []*runFailure, intact int, err error) {
	for _, w := range workers {
		err := r.read(ctx, w)
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
		f := r.failureOf(err)
		if f.whole {
			return failed, intact, f
		}
		r.log.Warn("stream failed", "streams", w.streams(), "code", f.code, "cause", governhttp.WithoutURL(f.cause))
		if err := r.transitions(ctx); err != nil {
			return failed, intact, err
		}
		for _, name := range w.streams() {
			if r.scope[name] != nil {
				failed = append(failed, &runFailure{stream: name, classVerdict: f.classVerdict, cause: f.cause})
			}
		}
	}
	return failed, intact, nil
}

// judgeStreams ends a run that reached its end. If a part succeeded, the failure is reported as confined to the
// named streams.
func (r *runState) judgeStreams(ctx context.Context, failed []*runFailure, intact int) runEnding {
	if len(failed) == 0 {
		return runEnding{status: protocol.DoneSucceeded}
	}
	e := runEnding{status: protocol.DoneFailed, classVerdict: failed[0].classVerdict, cause: failed[0].cause}
	var names []string
	for _, f := range failed {
		names = append(names, f.stream)
		e.retryable = e.retryable && f.retryable
		text, hint := f.message, f.hint
		if f.code == codeForbidden && intact > 0 && len(r.c.Manifest.CredentialEnv()) > 0 {
			hint = protocol.RefreshCredentials // the same credential reads the others
		}
		err := r.out.send(ctx, &protocol.SkipResult{
			Stream: f.stream, Reason: protocol.StreamCollectionFailed, Message: &text,
			RecoveryHint: &protocol.RecoveryHint{Action: hint},
		})
		if err != nil {
			return e
		}
	}
	e.message = strings.Join(names, ", ") + ": " + e.message
	if intact > 0 {
		e.code = protocol.StreamCollectionFailed
	}
	return e
}
