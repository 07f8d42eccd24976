package runner

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/protocol"
)

// session is the dialogue with one connector. One goroutine reads and gates,
// the committer writes; what both touch is guarded by mu or atomic.
type session struct {
	spec  Spec
	sink  Sink
	gaps  GapSource
	asker Asker
	opts  Options
	secrets

	order   []*stream
	streams map[string]*stream
	start   protocol.Start

	child     child
	output    *ending
	lines     *protocol.LineReader
	decoder   *protocol.Decoder
	committer *committer
	cur       *batch

	records   int64           // sent
	rejected  int64           // of those, left out because they break their own rules
	files     map[string]bool // of imports, that records came from
	dropped   int64           // accepted, then left out because their slice was not finished
	gapCount  int64
	done      *protocol.Done
	rate      *protocol.CollectionRate
	rates     RateSeries
	skips     []KnownGap
	coverage  map[lane]*protocol.DetailCoverage
	recorded  map[lane]map[string]bool // gap keys that this run reported
	served    map[string]*servedGap
	owed      map[owedKey]*servedGap
	pages     gapPages
	help      map[string]*time.Timer
	tally     map[gapTally]int64
	linger    *time.Timer // ends a connector that stays after DONE
	rotations int
	renewed   time.Time           // when the connector last asked for a fresh credential
	drawings  map[string]*drawing // on allowances, by sender
	tells     float64             // of those, that still count
	lastTold  time.Time

	workdir    workdir
	blobLimits BlobLimits
	blobBytes  int64 // kept by this run

	over       context.Context // ends with the dialogue
	background sync.WaitGroup  // everything that may outlast a message
	outgoing   chan outgoing
	delivered  chan struct{}
	stdinPhase string // of the first line that the connector did not take; read it when all is delivered

	lastActive   atomic.Int64
	asking       atomic.Bool
	began        time.Time // of the dialogue
	lastProgress time.Time
	lastGiven    time.Time // when the committer last got something
	untold       bool      // the timeline holds a word about the run as a whole that nobody can read yet

	mu      sync.Mutex
	events  []slice.Event
	noted   int
	failure *Failure
	asks    []KnownGap
}

// lane is a detail stream under the parent whose cursor it accounts for.
type lane struct{ stream, parent string }

// child is the process as the session sees it.
type child interface {
	io.Writer // stdin
	CloseStdin()
	Stdout() io.Reader
	// Terminate ends the process group, gently and then by force.
	Terminate()
	// Wait gives the exit status once the process is gone; ok is false when it outlives the grace.
	Wait(grace time.Duration) (exit exitStatus, ok bool)
	// StderrTail gives the last words on stderr, and whether earlier ones are lost.
	StderrTail() (text string, cut bool)
	// Dir is its working directory, which stays until Discard.
	Dir() string
	// Discard removes the directory, if it is the run's own.
	Discard()
}

func newSession(spec Spec, sink Sink, gaps GapSource, asker Asker, opts Options) *session {
	s := &session{
		spec: spec, sink: sink, gaps: gaps, asker: asker, opts: opts,
		streams:  map[string]*stream{},
		decoder:  protocol.NewDecoder(protocol.FromConnector),
		coverage: map[lane]*protocol.DetailCoverage{},
		recorded: map[lane]map[string]bool{},
		served:   map[string]*servedGap{},
		owed:     map[owedKey]*servedGap{},
		help:     map[string]*time.Timer{},
		pages:    gapPages{average: firstGapBytes},
		outgoing: make(chan outgoing, 1), delivered: make(chan struct{}),
		blobLimits: spec.BlobLimits.withDefaults(),
	}
	s.learn(spec.Command.Secrets...)
	return s
}

// prepare does everything that can fail before a process is started.
func (s *session) prepare(ctx context.Context) *Failure {
	if ctx.Err() != nil {
		return s.cancellation(ctx)
	}
	order, err := resolveScope(s.spec)
	if err == nil && s.spec.Mode != protocol.FullRefresh && s.spec.Mode != protocol.Incremental {
		err = errors.New("collection mode " + quoted(string(s.spec.Mode)) + " is neither full_refresh nor incremental")
	}
	if err != nil {
		return &Failure{Reason: ReasonInvalidScope, Origin: OriginRuntime, Message: err.Error()}
	}
	offered := map[string]jsontext.Value{}
	for name, descriptor := range s.spec.Bindings {
		offered[name] = descriptor
	}
	if s.asker != nil {
		offered["interactive"] = jsontext.Value("{}")
	} else {
		delete(offered, "interactive")
	}
	if name := missingBinding(s.spec.Manifest, offered); name != "" {
		return &Failure{Reason: ReasonBindingMissing, Origin: OriginRuntime,
			Message: "Runtime cannot satisfy required binding: " + name}
	}
	s.start = protocol.Start{
		RunID: s.spec.RunID, CollectionMode: s.spec.Mode, Bindings: offered,
		State: s.spec.State, CatchUpState: s.spec.CatchUpState, RecoveryOnly: s.spec.RecoveryOnly, Allowances: s.spec.Allowances != nil,
		Walks: s.spec.StoredKeys != nil && !s.spec.RecoveryOnly,
	}
	for _, st := range order {
		s.order, s.streams[st.name] = append(s.order, st), st
		s.start.Scope.Streams = append(s.start.Scope.Streams, st.Scope)
	}
	s.start.DetailGaps, err = s.nextPage(ctx, nil, s.opts.GapPageBytes)
	switch {
	case err != nil && ctx.Err() != nil:
		return s.cancellation(ctx)
	case err != nil:
		return s.storageFailed(err)
	}
	return nil
}

// converse speaks with the child until it is gone.
func (s *session) converse(ctx context.Context, c child) Outcome {
	s.child, s.began = c, time.Now()
	s.workdir.dir = c.Dir()
	defer c.Discard()
	defer s.workdir.close()
	s.lastGiven = s.began
	s.output = &ending{Reader: c.Stdout()}
	s.lines = protocol.NewLineReader(s.output, s.opts.MaxLine)
	s.committer = newCommitter(s.sink, s.commitFailed, s.committed)
	durable := context.WithoutCancel(ctx)
	go s.committer.run(durable)
	s.cur = <-s.committer.free
	s.touch()
	over, end := context.WithCancel(durable)
	defer end()
	s.over = over
	s.background.Go(func() { s.watch(ctx) })
	go s.deliver()

	s.send("start", &s.start)
	s.read(durable)
	exit := s.awaitExit()
	end()
	s.stopTimers()
	s.background.Wait()
	s.leaveAllowances(durable)
	close(s.outgoing)
	<-s.delivered
	if ctx.Err() != nil {
		s.abort(s.cancellation(ctx)) // a cancellation that comes before the judgement wins
	}
	return s.finish(durable, exit)
}

func (s *session) stopTimers() {
	if s.linger != nil {
		s.linger.Stop()
	}
	for _, timer := range s.help {
		if timer != nil {
			timer.Stop()
		}
	}
}

// read handles lines until the connector closes stdout or breaks a rule.
func (s *session) read(ctx context.Context) {
	for {
		// A connector that has gone quiet has its finished slices made durable now, and
		// what it said about the run as a whole, such as why it waits.
		if s.lines.Buffered() == 0 {
			if s.untold && s.committer.idle() {
				s.give()
			}
			s.handover()
		}
		line, err := s.lines.Next()
		if err != nil {
			if v, ok := protocol.AsViolation(err); ok {
				s.abort(s.violated(v))
			}
			return
		}
		s.touch()
		if s.asking.Load() {
			s.abort(s.violated(&protocol.Violation{Subtype: protocol.OutputWhileAsking, Expected: []string{"silence until INTERACTION_RESPONSE"}}))
			return
		}
		m, err := s.decoder.Decode(line)
		if err != nil && s.tornOff(err) {
			return // the connector died while it wrote: its end tells more than half a line
		}
		if err == nil && s.done != nil {
			err = &protocol.Violation{Subtype: protocol.MessageAfterDone, MessageType: m.Type(), Expected: []string{"nothing after DONE"}}
		}
		if err == nil {
			err = s.handle(ctx, m)
		}
		if err != nil {
			s.abort(s.asFailure(err))
			return
		}
	}
}

// tornOff reports whether a malformed line is only the beginning of one.
func (s *session) tornOff(err error) bool {
	v, ok := protocol.AsViolation(err)
	return ok && v.Subtype == protocol.MalformedJSON && s.done == nil && s.output.torn() && s.lines.Buffered() == 0
}

// handle routes one valid message.
func (s *session) handle(ctx context.Context, m protocol.Message) error {
	switch m := m.(type) {
	case *protocol.Record:
		return s.record(ctx, m)
	case *protocol.State:
		return s.state(ctx, m)
	case *protocol.Progress:
		return s.progress(ctx, m)
	case *protocol.Interaction:
		return s.interaction(ctx, m)
	case *protocol.SkipResult:
		return s.skip(m)
	case *protocol.DetailGap:
		return s.gap(m)
	case *protocol.DetailCoverage:
		return s.declareCoverage(m)
	case *protocol.DetailGapsPageRequest:
		return s.page(ctx, m)
	case *protocol.DetailGapAttempted:
		return s.attempted(m)
	case *protocol.DetailGapRecovered:
		return s.recovered(m)
	case *protocol.Assistance:
		return s.assistance(m)
	case *protocol.AssistanceStatus:
		return s.assistanceStatus(m)
	case *protocol.CredentialRequest:
		return s.rotated(ctx, m)
	case *protocol.Allowance:
		return s.allowance(ctx, m)
	case *protocol.Walk:
		return s.walked(ctx, m)
	case *protocol.Done:
		return s.doneSaid(m)
	default:
		return &protocol.Violation{Subtype: protocol.WrongDirection, MessageType: m.Type()}
	}
}
