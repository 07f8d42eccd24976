package connectorkit

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

// Whole is a collector's claim that it knows every record of a stream at the source: the whole list was read,
// without holes, filters or caps.
type Whole struct {
	// Keys yields the keys of all records at the source, sent by this run or an earlier one. Nil means those that
	// this run sent, in a walk that began without a bookmark.
	Keys iter.Seq[string]
	// Since is the start of the walked part of the source, by the stream's time field. Zero means everything.
	Since time.Time
	// Gone checks stored keys that are not among Keys and returns those that the source no longer has. An error
	// means unknown: nothing is deleted, and a later run checks again. With ErrAskLater the returned keys are
	// deleted, and a later run checks the rest.
	Gone func(ctx context.Context, keys []string) ([]string, error)
}

// ErrUnsure is returned by Whole.Gone if a second look does not confirm the first one.
var ErrUnsure = errors.New("a second look at the source shows something else")

// ErrAskLater is returned by Whole.Gone beside keys if a bound prevented it from checking all of them.
var ErrAskLater = errors.New("the rest is asked for by a later run")

// AllGone is the Whole.Gone of a source that needs no second look: its lists are snapshots, or were counted.
func AllGone(_ context.Context, keys []string) ([]string, error) { return keys, nil }

// Comparable reports whether this run compares a whole walk over the stream with the store.
func (f *Push) Comparable(stream string) bool { return f.r.comparable(stream) }

// comparable reports whether this run compares a whole walk over the stream with the store.
func (r *runState) comparable(stream string) bool {
	s := r.scope[stream]
	return r.start.Walks && !r.start.RecoveryOnly && s != nil && s.resources == nil && !s.bounded &&
		s.stream.Semantics == manifest.MutableState && r.bookmarks.compared[stream] == 0
}

// beginWalk makes the runner record the keys of the following records.
func (r *runState) beginWalk(ctx context.Context, stream string) error {
	r.bookmarks.walks[stream] = true
	return r.out.send(ctx, &protocol.Walk{Stream: stream, Phase: protocol.WalkBegin})
}

// compare deletes the stored records of a stream that are no longer at the source. It precedes the STATE that
// closes the walk.
func (r *runState) compare(ctx context.Context, stream string, w Whole) error {
	if !r.comparable(stream) || r.bookmarks.holes[stream] || w.Keys == nil && !r.bookmarks.walks[stream] {
		return nil
	}
	if w.Keys != nil {
		if err := r.present(ctx, stream, w.Keys); err != nil {
			return err
		}
	}
	for {
		m, err := r.ask(ctx, protocol.TypeWalkMissing, func(id string) protocol.Message {
			return &protocol.Walk{Stream: stream, Phase: protocol.WalkEnd, RequestID: id, Since: formatInstant(w.Since)}
		})
		if err != nil {
			return err
		}
		answer := m.(*protocol.WalkMissing)
		if answer.Status != protocol.WalkCompared {
			r.log.Warn("stored records were not compared with the source", "stream", stream, "status", answer.Status)
			return nil
		}
		settled, err := r.deleteMissing(ctx, stream, answer.Keys, w.Gone)
		if err != nil || !settled {
			return err
		}
		if !answer.More {
			r.bookmarks.compared[stream] = r.p.Now().UnixMilli()
			return nil
		}
	}
}

// present sends keys of records that are at the source.
func (r *runState) present(ctx context.Context, stream string, keys iter.Seq[string]) error {
	if err := r.beginWalk(ctx, stream); err != nil {
		return err
	}
	for chunk := range chunks(keys, protocol.MaxWalkKeys) {
		if err := r.out.send(ctx, &protocol.Walk{Stream: stream, Phase: protocol.WalkPresent, Keys: chunk}); err != nil {
			return err
		}
	}
	return nil
}

func chunks(keys iter.Seq[string], size int) iter.Seq[[]string] {
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
func (r *runState) deleteMissing(ctx context.Context, stream string, keys []string,
	look func(context.Context, []string) ([]string, error)) (bool, error) {
	if len(keys) == 0 {
		return true, nil
	}
	gone, err := look(ctx, keys)
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	later := errors.Is(err, ErrAskLater)
	if err != nil && !later {
		r.log.Warn("deletions were not confirmed", "stream", stream, "cause", governhttp.WithoutURL(err))
		return false, nil
	}
	for _, key := range gone {
		if !slices.Contains(keys, key) {
			continue
		}
		if _, err := r.emit(ctx, stream, Delete(key)); err != nil {
			return false, err
		}
	}
	return !later, nil
}
