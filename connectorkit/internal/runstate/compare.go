package runstate

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// If a bookmark is dropped, by a full refresh or another selection, the knowledge of stored records is lost. So
// the first whole walk after it is compared with the keys in the store, and records that the source no longer has
// are deleted. The bookmark then contains the time of the comparison. A bookmark without that time, such as that
// of an interrupted walk, is compared by the first later run that knows the whole source.

// StoreComparison is a claim to know every record of a stream at the source: see connectorkit.Whole.
type StoreComparison struct {
	Keys  iter.Seq[string]
	Since time.Time
	Gone  func(ctx context.Context, keys []string) ([]string, error)
}

// ErrCheckLater is returned by storeComparison.Gone beside keys if a bound prevented it from checking all of them.
var ErrCheckLater = errors.New("the rest is asked for by a later run")

// ComparesWalk reports whether this run compares a whole walk over the stream with the store.
func (r *Run) ComparesWalk(stream string) bool {
	return r.AllowsWalk(stream) && r.Bookmarks.compared[stream] == 0
}

// AllowsWalk reports whether a whole walk over the stream in this run can be compared with the store.
func (r *Run) AllowsWalk(stream string) bool {
	s := r.Scope[stream]
	return r.Start.Walks && !r.Start.RecoveryOnly && s != nil && s.Resources == nil && !s.Bounded &&
		s.Stream.Semantics == manifest.MutableState
}

// BeginWalk makes the runner record the keys of the following records.
func (r *Run) BeginWalk(ctx context.Context, stream string) error {
	r.Bookmarks.walks[stream] = true
	return r.Out.Send(ctx, &protocol.Walk{Stream: stream, Phase: protocol.WalkBegin})
}

// CompareWithStore deletes the stored records of a stream that are no longer at the source. It precedes the STATE that
// closes the walk.
func (r *Run) CompareWithStore(ctx context.Context, stream string, w StoreComparison) error {
	if !r.ComparesWalk(stream) {
		return nil
	}
	return r.CompareWalk(ctx, stream, w)
}

// CompareWalk is CompareWithStore in every run.
func (r *Run) CompareWalk(ctx context.Context, stream string, w StoreComparison) error {
	if r.Bookmarks.holes[stream] || w.Keys == nil && !r.Bookmarks.walks[stream] {
		return nil
	}
	if w.Keys != nil {
		if err := r.sendPresentKeys(ctx, stream, w.Keys); err != nil {
			return err
		}
	}
	for {
		m, err := r.RequestReply(ctx, protocol.TypeWalkMissing, func(id string) protocol.Message {
			return &protocol.Walk{Stream: stream, Phase: protocol.WalkEnd, RequestID: id, Since: FormatInstant(w.Since)}
		})
		if err != nil {
			return err
		}
		answer := m.(*protocol.WalkMissing)
		if answer.Status != protocol.WalkCompared {
			r.Log.Warn("stored records were not compared with the source", "stream", stream, "status", answer.Status)
			return nil
		}
		settled, err := r.deleteMissing(ctx, stream, answer.Keys, w.Gone)
		if err != nil || !settled {
			return err
		}
		if !answer.More {
			r.Bookmarks.compared[stream] = r.Now().UnixMilli()
			return nil
		}
	}
}

// sendPresentKeys sends keys of records that are at the source.
func (r *Run) sendPresentKeys(ctx context.Context, stream string, keys iter.Seq[string]) error {
	if err := r.BeginWalk(ctx, stream); err != nil {
		return err
	}
	for chunk := range chunkedKeys(keys, protocol.MaxWalkKeys) {
		if err := r.Out.Send(ctx, &protocol.Walk{Stream: stream, Phase: protocol.WalkPresent, Keys: chunk}); err != nil {
			return err
		}
	}
	return nil
}

func chunkedKeys(keys iter.Seq[string], size int) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		part := make([]string, 0, size)
		for key := range keys {
			if key == "" {
				continue
			}
			if part = append(part, key); len(part) == size {
				if !yield(part) {
					return
				}
				part = part[:0]
			}
		}
		if len(part) > 0 {
			yield(part)
		}
	}
}

// deleteMissing deletes the keys that a second look confirms as gone. It returns false if not all were checked.
func (r *Run) deleteMissing(ctx context.Context, stream string, keys []string,
	look func(context.Context, []string) ([]string, error)) (bool, error) {
	if len(keys) == 0 {
		return true, nil
	}
	gone, err := look(ctx, keys)
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	later := errors.Is(err, ErrCheckLater)
	if err != nil && !later {
		r.Log.Warn("deletions were not confirmed", "stream", stream, "cause", governhttp.WithoutURL(err))
		return false, nil
	}
	for _, key := range gone {
		if !slices.Contains(keys, key) {
			continue
		}
		if _, err := r.EmitRecord(ctx, stream, DeletedRecord(key)); err != nil {
			return false, err
		}
	}
	return !later, nil
}
