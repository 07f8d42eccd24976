package runner

import (
	"context"
	"errors"
	"strings"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/protocol"
)

// violationFailure returns the failure of a protocol violation. Its identifiers stay readable.
func (s *secrets) violationFailure(v *protocol.Violation) *Failure {
	redacted := *v
	redacted.MessageType = protocol.MessageType(s.redactKnown(string(v.MessageType)))
	redacted.Stream, redacted.Received = s.redactKnown(v.Stream), s.redactKnown(v.Received)
	v = redacted.Bounded()
	message := text.Cut(text.Line(strings.ToValidUTF8(v.Error(), "")), maxMessage)
	return &Failure{Reason: ReasonViolation, Origin: OriginConnector, Message: message, Violation: v}
}

// storageFailure returns the failure of a Sink, a GapSource or a BlobStore.
func (s *secrets) storageFailure(err error) *Failure {
	return &Failure{Reason: ReasonStorage, Origin: OriginStorage, Message: s.line(err.Error()), Err: err}
}

// asFailure returns the failure for any error of a message handler.
func (s *secrets) asFailure(err error) *Failure {
	if v, ok := protocol.AsViolation(err); ok {
		return s.violationFailure(v)
	}
	var f *Failure
	if errors.As(err, &f) {
		return f
	}
	return &Failure{Reason: ReasonRuntimeError, Origin: OriginRuntime, Message: s.line(err.Error()), Err: err}
}

// shutdownFailure returns the failure of a run that ends because its worker shuts down.
func shutdownFailure(cause error) *Failure {
	return &Failure{Reason: ReasonShutdown, Origin: OriginRuntime, Message: "the runtime is shutting down", Err: cause}
}

// cancellation returns the failure for the cause of a cancelled context.
func (s *secrets) cancellation(ctx context.Context) *Failure {
	f := &Failure{Origin: OriginRuntime}
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, ErrOwnerCancelled):
		f.Reason, f.Message = ReasonOwnerCancelled, "the owner stopped this run"
	case errors.Is(cause, ErrGrantExpired):
		f.Reason, f.Message = ReasonGrantExpired, "the grant that this run was made for has expired"
	case errors.Is(cause, ErrGrantRevoked):
		f.Reason, f.Message = ReasonGrantRevoked, "the grant that this run was made for was revoked"
	case errors.Is(cause, ctx.Err()):
		return shutdownFailure(cause)
	default:
		f.Reason, f.Message, f.Err = ReasonShutdown, s.line("the runtime stopped this run: "+cause.Error()), cause
	}
	return f
}
