package localfile

import (
	"context"
	"errors"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/protocol"
)

// pendingSlice is what is sent together with the next bookmark.
type pendingSlice struct {
	out   []sliceMessage
	bytes int64
	since time.Time
	ticks int
	file  int // where the emissions of the file at work begin
}

// sliceMessage is one thing to send.
type sliceMessage struct {
	stream    string
	rec       connectorkit.Record
	gap       *protocol.DetailGap
	recovered string // key of a gap
}

// sendError is a failure of the output, not of the file.
type sendError struct{ err error }

func (e *sendError) Error() string { return e.err.Error() }

func (e *sendError) Unwrap() error { return e.err }

// IsSendError reports whether an error is one of the output, which ends the run whatever is read.
func IsSendError(err error) bool {
	var sent *sendError
	return errors.As(err, &sent)
}

// sliceIsDue reports whether the slice is to be closed. The clock is read now and then.
func (r *sourceReader) sliceIsDue() bool {
	s := &r.slice
	if len(s.out) >= sliceRecords || s.bytes >= maxSliceBytes {
		return true
	}
	if s.ticks++; s.ticks%64 != 0 {
		return false
	}
	return r.f.Now().Sub(s.since) >= maxSliceTime
}

// commitSlice sends the slice with the bookmark.
func (r *sourceReader) commitSlice(ctx context.Context) error {
	for _, e := range r.slice.out {
		if err := r.sendMessage(ctx, e); err != nil {
			return &sendError{err}
		}
	}
	r.slice = pendingSlice{out: r.slice.out[:0], since: r.f.Now()}
	r.storeMemory(r.cur)
	var err error
	if r.cur == r.history {
		err = r.f.StateCatchUp(ctx, r.carrier, r.cur)
	} else {
		err = r.f.State(ctx, r.carrier, r.cur)
	}
	if err != nil {
		return &sendError{err}
	}
	return nil
}

func (r *sourceReader) sendMessage(ctx context.Context, e sliceMessage) error {
	switch {
	case e.gap != nil:
		return r.f.Gap(ctx, *e.gap)
	case e.recovered != "":
		return r.f.Recovered(ctx, e.stream, e.recovered)
	}
	return r.f.Record(ctx, e.stream, e.rec)
}

func encodeState(v any) jsontext.Value {
	if v == nil {
		return nil
	}
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return nil
	}
	return b
}
