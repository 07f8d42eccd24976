package connectorkit

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"pdpp/governor/governhttp"
	"pdpp/manifest"
	"pdpp/protocol"
)

// A bookmark that is forgotten, by a full refresh or another selection, takes with it what was stored. So the
// first whole walk after it is compared with the keys in the store, and what the source no longer has is
// deleted. The bookmark then holds when that was. One without it, also that of a walk which was cut short,
// is compared by the first later run in which the collector knows everything that the source has.

// Whole is a collector's claim that it knows every record that its source has of a stream: the whole list was
// read, without holes, filters or caps.
type Whole struct {
	// Keys yields the keys of all records that are at the source, sent by this run or by an earlier one. Nil
	// means those that this run sent, in a walk that began without a bookmark.
	Keys iter.Seq[string]
	// Since is when the part of the source begins that was walked, by the stream's own time field; zero means that
	// everything was.
	Since time.Time
	// Gone returns those of some stored keys, none of which is among Keys, that the source has no more, after a
	// second look. An error means that it does not know: nothing is deleted, and a later run asks again. With
	// ErrAskLater the returned keys are deleted, and a later run asks for the rest.
	Gone func(ctx context.Context, keys []string) ([]string, error)
}

// ErrUnsure is returned by Whole.Gone when a second look does not show what the first one did.
var ErrUnsure = errors.New("a second look at the source shows something else")

// ErrAskLater is returned by Whole.Gone beside keys when a bound kept it from asking for all of them.
var ErrAskLater = errors.New("the rest is asked for by a later run")

// AllGone is the Whole.Gone of a source where the first look is proof: its lists are of one moment, or were counted.
func AllGone(_ context.Context, keys []string) ([]string, error) { return keys, nil }

// Comparable reports whether a whole walk over the stream is to be compared with the store in this run.
func (f *Feeding) Comparable(stream string) bool { return f.r.comparable(stream) }

// comparable reports whether a whole walk over the stream is to be compared with the store in this run.
func (r *run) comparable(stream string) bool {
	s := r.scope[stream]
	return r.start.Walks && !r.start.RecoveryOnly && s != nil && s.resources == nil && !s.bounded &&
		s.stream.Semantics == manifest.MutableState && r.bookmarks.compared[stream] == 0
}

// beginWalk has the runner note the keys of what is sent from now on.
func (r *run) beginWalk(ctx context.Context, stream string) error {
	r.bookmarks.walks[stream] = true
	return r.out.send(ctx, &protocol.Walk{Stream: stream, Phase: protocol.WalkBegin})
}

// compare deletes what is stored of a stream and is no longer at its source. It precedes the STATE that closes
// the walk.
func (r *run) compare(ctx context.Context, stream string, w Whole) error {
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
			return &protocol.Walk{Stream: stream, Phase: protocol.WalkEnd, RequestID: id, Since: instant(w.Since)}
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
func (r *run) present(ctx context.Context, stream string, keys iter.Seq[string]) error {
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

// deleteMissing deletes what a second look finds gone. False means that not everything was looked for.
func (r *run) deleteMissing(ctx context.Context, stream string, keys []string,
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
