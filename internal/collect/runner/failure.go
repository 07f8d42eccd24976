package runner

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/pdpp-go/pdpp/protocol"
)

// abort records the first failure and ends the child. Later failures are
// consequences of the first.
func (s *session) abort(f *Failure) {
	s.mu.Lock()
	first := s.failure == nil
	if first {
		s.failure = f
	}
	s.mu.Unlock()
	if first {
		s.child.Terminate()
	}
}

func (s *session) failed() *Failure {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failure
}

// violated makes a failure of a breach. What it names stays readable.
func (s *session) violated(v *protocol.Violation) *Failure {
	named := *v
	named.MessageType = protocol.MessageType(s.names(string(v.MessageType)))
	named.Stream, named.Received = s.names(v.Stream), s.names(v.Received)
	v = named.Bounded()
	return &Failure{Reason: ReasonViolation, Origin: OriginConnector, Message: text.Cut(text.Line(strings.ToValidUTF8(v.Error(), "")), maxMessage), Violation: v}
}

// storageFailed makes a failure of what the Sink or the GapSource could not do.
func (s *session) storageFailed(err error) *Failure {
	return &Failure{Reason: ReasonStorage, Origin: OriginStorage, Message: s.line(err.Error()), Err: err}
}

func (s *session) commitFailed(err error) *Failure {
	f := s.storageFailed(err)
	s.abort(f)
	return f
}

func (s *session) asFailure(err error) *Failure {
	if v, ok := protocol.AsViolation(err); ok {
		return s.violated(v)
	}
	var f *Failure
	if errors.As(err, &f) {
		return f
	}
	return &Failure{Reason: ReasonRuntimeError, Origin: OriginRuntime, Message: s.line(err.Error()), Err: err}
}

func (s *session) touch() { s.lastActive.Store(time.Now().UnixNano()) }

// watch ends the run when it is cancelled or has made no progress for too long.
// It returns when the dialogue is over.
func (s *session) watch(ctx context.Context) {
	var silence <-chan time.Time
	var timer *time.Timer
	if s.opts.NoProgress > 0 {
		timer = time.NewTimer(s.opts.NoProgress)
		defer timer.Stop()
		silence = timer.C
	}
	for {
		select {
		case <-s.over.Done():
			return
		case <-ctx.Done():
			s.abort(s.cancellation(ctx))
			return
		case <-silence:
			rest := s.opts.NoProgress - time.Since(time.Unix(0, s.lastActive.Load()))
			if s.asking.Load() {
				rest = s.opts.NoProgress // waiting for the owner is not silence
			}
			if rest <= 0 {
				s.abort(&Failure{Reason: ReasonTimedOut, Origin: OriginRuntime,
					Message: "the connector made no progress for " + s.opts.NoProgress.String()})
				return
			}
			timer.Reset(rest)
		}
	}
}

// drained is the end of a run whose worker stops.
func drained() *Failure {
	return &Failure{Reason: ReasonShutdown, Origin: OriginRuntime, Message: "the runtime is shutting down"}
}

func (s *session) cancellation(ctx context.Context) *Failure {
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, ErrOwnerCancelled):
		return &Failure{Reason: ReasonOwnerCancelled, Origin: OriginRuntime, Message: "the owner stopped this run"}
	case errors.Is(cause, ErrGrantExpired):
		return &Failure{Reason: ReasonGrantExpired, Origin: OriginRuntime, Message: "the grant that this run was made for has expired"}
	case errors.Is(cause, ErrGrantRevoked):
		return &Failure{Reason: ReasonGrantRevoked, Origin: OriginRuntime, Message: "the grant that this run was made for was revoked"}
	case errors.Is(cause, ctx.Err()):
		return &Failure{Reason: ReasonShutdown, Origin: OriginRuntime, Message: "the runtime is shutting down", Err: cause}
	default:
		return &Failure{Reason: ReasonShutdown, Origin: OriginRuntime, Message: s.line("the runtime stopped this run: " + cause.Error()), Err: cause}
	}
}

// awaitExit waits for the child, and ends one that lingers.
func (s *session) awaitExit() exitStatus {
	if s.failed() == nil {
		if exit, ok := s.child.Wait(s.opts.ExitGrace); ok {
			return exit
		}
		s.child.Terminate()
	}
	exit, _ := s.child.Wait(0)
	return exit
}
