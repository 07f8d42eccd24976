package connectorkit

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"

	"pdpp/governor"
	"pdpp/governor/governhttp"
	"pdpp/protocol"
)

// run is one run in progress.
type run struct {
	c        Connector
	p        Process
	start    *protocol.Start
	out      *output
	peer     *peer
	log      *slog.Logger
	secrets  *redactor
	declared []string
	answered map[string]string // credentials that the owner gave in this run
	scope    map[string]*streamScope

	knobs     knobs
	providers []*provider // in the order they were made
	bookmarks bookmarks
	rests     int                      // open circuits waited out
	sent      atomic.Int64             // requests to all providers, repetitions included
	busy      atomic.Pointer[provider] // the one that was asked last

	trees    *trees
	encoding []byte                  // memory for a record
	picked   map[string]any          // and for what it is identified and selected by
	quick    map[string]*quickSchema // by stream; none where the connector judges otherwise
	judges   map[string]*fieldJudge  // by stream, of its last record
	masks    *masker                 // nil: texts go out as they are
	caps     caps
	budget   governor.RunBudget
	tail     *tail
	progress progress
	reports  int            // mismatch reports sent
	untold   map[string]int // mismatches beyond the limit of reports, by stream

	shared  shared
	closers *closers
	drift   *driftWatch

	lists map[string]protocol.GapEntry // gaps of lists that were served and are not settled, by list
}

func newRun(c Connector, p Process, start *protocol.Start, out *output, peer *peer, log *slog.Logger, secrets *redactor, last *closers) *run {
	caps := readCaps(p.Env, c.Manifest.EnvPrefix())
	var quick map[string]*quickSchema
	if c.wiredBySchemas() {
		quick = c.quick()
	}
	r := &run{
		c: c, p: p, start: start, out: out, peer: peer, log: log, secrets: secrets, closers: last,
		declared: c.Manifest.EnvNames(), answered: map[string]string{}, scope: map[string]*streamScope{},
		knobs: readKnobs(p.Env, c.Manifest.EnvPrefix(), caps, log), bookmarks: newBookmarks(),
		trees: newTrees(), quick: quick, judges: map[string]*fieldJudge{}, picked: map[string]any{}, caps: caps,
		budget: governor.RunBudget{Requests: caps.fetches, WallClock: caps.whole, Began: p.Now(), Details: caps.wallClock},
		tail:   newTail(caps),
		drift:  newDriftWatch(c),
		untold: map[string]int{}, lists: map[string]protocol.GapEntry{}, shared: shared{now: p.Now},
	}
	if start.CollectionMode != protocol.FullRefresh {
		for stream, mark := range start.State {
			_, r.bookmarks.compared[stream] = protocol.SplitCompared(mark)
		}
	}
	peer.hear(r.shared.hear)
	return r
}

// whole does everything between START and DONE.
func (r *run) whole(ctx context.Context) ending {
	workers, err := r.open(ctx)
	if err == nil {
		err = r.recoverGaps(ctx, workers)
	}
	var failed []*failure
	var intact int
	if err == nil {
		failed, intact, err = r.forward(ctx, r.forwarding(workers))
	}
	for _, w := range workers {
		if concluded := w.conclude(ctx); err == nil {
			err = concluded
		}
	}
	if told := r.declareUntold(ctx); err == nil {
		err = told
	}
	if told := r.tellDrift(ctx); err == nil {
		err = told
	}
	if told := r.lastWords(ctx, err != nil || len(failed) > 0); err == nil {
		err = told
	}
	if err != nil {
		f := r.failureOf(err)
		return ending{status: protocol.DoneFailed, verdict: f.verdict, cause: f.cause}
	}
	return r.judgeStreams(ctx, failed, intact)
}

// open resolves the scope, checks the environment and starts the collectors
// that the scope asks for.
func (r *run) open(ctx context.Context) ([]worker, error) {
	for _, s := range r.start.Scope.Streams {
		scope, why := newScope(r.c.Manifest, s)
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
		r.drift.reading.Store(&r.start.Scope.Streams[0].Name) // what precedes every stream counts for the first
	}
	collectors, err := r.c.Open(ctx, &Setup{Log: r.log, r: r})
	if err != nil {
		return nil, err
	}
	var workers []worker
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

func (r *run) unsupported(ctx context.Context, stream, why string) error {
	return r.out.send(ctx, &protocol.SkipResult{Stream: stream, Reason: protocol.ScopeNotSupported, Message: &why})
}

// forwarding gives the workers that collect what is new. A run that only recovers
// reads on the lists that were cut short, which is how their gaps are filled; a feed
// fills its gaps itself.
func (r *run) forwarding(workers []worker) []worker {
	if !r.start.RecoveryOnly {
		return workers
	}
	return slices.DeleteFunc(slices.Clone(workers), func(w worker) bool {
		_, cut := r.lists[w.list()]
		f, feed := w.(*Feeding)
		return !cut && !(feed && len(f.gaps) > 0)
	})
}

// read has a worker read its list to the end, or declare that it was cut short.
func (r *run) read(ctx context.Context, w worker) error {
	if err := r.listAttempted(ctx, w.list()); err != nil {
		return err
	}
	r.drift.begin(r, w)
	err := w.forward(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if d, cut := cutShort(err); cut {
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

// forward runs the workers in order and counts the intact ones. A stream's
// failure leaves the others alone; a refused credential or a check against robots
// would fail them all, so it ends the run.
func (r *run) forward(ctx context.Context, workers []worker) (failed []*failure, intact int, err error) {
	for _, w := range workers {
		err := r.read(ctx, w)
		if ctx.Err() != nil {
			return failed, intact, context.Cause(ctx)
		}
		if err == nil {
			intact++
			continue
		}
		var some *partly
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
				failed = append(failed, &failure{stream: name, verdict: f.verdict, cause: f.cause})
			}
		}
	}
	return failed, intact, nil
}

// judgeStreams ends a run that reached its end. When a part of it worked, the
// failure is certified as confined to the named streams.
func (r *run) judgeStreams(ctx context.Context, failed []*failure, intact int) ending {
	if len(failed) == 0 {
		return ending{status: protocol.DoneSucceeded}
	}
	e := ending{status: protocol.DoneFailed, verdict: failed[0].verdict, cause: failed[0].cause}
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
