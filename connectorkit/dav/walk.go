package dav

import (
	"context"
	"encoding/hex"
	"errors"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// ObjectRecord is a record that an object holds. An object can hold several, and objects that
// hold none of a stream are as good as any.
type ObjectRecord struct {
	Key  string
	Data any
}

// ObjectReader makes things of an object; false when it cannot be read.
type ObjectReader func(c Collection, o Object) ([]ObjectRecord, bool)

// ObjectStream returns the stream of the records in the objects of the collections that holds admits.
func (a *Account) ObjectStream(stream string, holds func(Collection) bool, read ObjectReader) connectorkit.PagedStream {
	w := &accountWalk{a: a, holds: holds, read: read}
	return connectorkit.PagedStream{Stream: stream, Page: w.readPage}
}

// objectsPerBatch is how many remembered objects let a page take one batch more: the bookmark
// grows with them, and is written after each page.
const objectsPerBatch = 2000

// maxUnreadRetries bounds how many unreadable objects of a collection are asked for again.
const maxUnreadRetries = 1000

// accountWalk goes through the collections once.
type accountWalk struct {
	a     *Account
	holds func(Collection) bool
	read  ObjectReader

	begun    bool
	queue    []Collection // still to be read
	memories map[string]*collectionMemory

	here    *Collection // being read
	work    collectionChanges
	again   []string
	records []connectorkit.Record
	done    int
	late    error // met after a part of a page was read: the next page begins with it
}

// collectionPrefix begins the member of the bookmark that is a collection's.
const collectionPrefix = "collection "

func (w *accountWalk) beginWalk(ctx context.Context, at connectorkit.Cursor) error {
	all, err := w.a.Collections(ctx, false)
	if err != nil {
		return err
	}
	w.memories = map[string]*collectionMemory{}
	for name, text := range at {
		if path, ours := strings.CutPrefix(name, collectionPrefix); ours {
			w.memories[path] = readMemory(text)
		}
	}
	for _, c := range all {
		if w.holds(c) {
			w.queue = append(w.queue, c)
		}
	}
	for path := range w.memories {
		if !slices.ContainsFunc(w.queue, func(c Collection) bool { return c.Path == path }) {
			w.queue = append(w.queue, Collection{Path: path}) // deleted, or no longer shown
		}
	}
	slices.SortFunc(w.queue, func(x, y Collection) int { return strings.Compare(x.Path, y.Path) })
	w.begun = true
	return nil
}

func (w *accountWalk) walkCursor() connectorkit.Cursor {
	out := connectorkit.Cursor{}
	for path, m := range w.memories {
		out[collectionPrefix+path] = m.encodeMemory()
	}
	return out
}

// readPage reads on until a slice is full or everything is read.
func (w *accountWalk) readPage(ctx context.Context, at connectorkit.Cursor) (connectorkit.Page, error) {
	if err := w.late; err != nil {
		w.late = nil
		return connectorkit.Page{}, err
	}
	if !w.begun {
		if err := w.beginWalk(ctx, at); err != nil {
			return connectorkit.Page{}, err
		}
	}
	batches, moved := 0, false
	for w.here != nil || len(w.queue) > 0 {
		advanced, err := w.nextStep(ctx)
		if err != nil && !moved {
			return connectorkit.Page{}, err
		}
		if err != nil {
			w.late = err
			return w.closeSlice(true), nil
		}
		moved = moved || advanced
		if advanced {
			batches++
		}
		if moved && batches > w.rememberedCount()/objectsPerBatch {
			break
		}
	}
	return w.closeSlice(w.here != nil || len(w.queue) > 0), nil
}

func (w *accountWalk) closeSlice(more bool) connectorkit.Page {
	page := connectorkit.Page{Records: w.records, Next: w.walkCursor(), More: more}
	if !more {
		page.Whole = &connectorkit.Whole{Keys: w.rememberedKeys, Gone: w.confirmGone}
	}
	w.done += len(w.records)
	if len(w.work.fetch) > 0 {
		page.Total = w.done + len(w.work.fetch)
	}
	w.records = nil
	return page
}

// rememberedKeys yields the keys of all records that are remembered.
func (w *accountWalk) rememberedKeys(yield func(string) bool) {
	for _, m := range w.memories {
		for k := range m.holders {
			if !yield(hex.EncodeToString(k[:])) {
				return
			}
		}
	}
}

// confirmGone returns the keys, if a list of another kind has no object that is not remembered.
func (w *accountWalk) confirmGone(ctx context.Context, keys []string) ([]string, error) {
	all, err := w.a.Collections(ctx, true)
	if err != nil {
		return nil, err
	}
	for _, c := range all {
		if !w.holds(c) {
			continue
		}
		listed, err := w.a.listObjects(ctx, c)
		if err != nil {
			return nil, err
		}
		m := w.memories[c.Path]
		for path := range listed {
			if m == nil || !m.remembersPath(path) {
				return nil, connectorkit.ErrNotConfirmed
			}
		}
	}
	return keys, nil
}

func (w *accountWalk) rememberedCount() (n int) {
	for _, m := range w.memories {
		n += len(m.objects)
	}
	return n
}

// nextStep does one thing: list a collection, read a batch of it, or finish it. It reports
// whether the bookmark changed.
func (w *accountWalk) nextStep(ctx context.Context) (bool, error) {
	if w.here == nil {
		return w.openCollection(ctx)
	}
	m := w.memories[w.here.Path]
	if len(w.work.fetch) == 0 {
		return w.finishCollection(m), nil
	}
	members := w.work.fetch[:min(multigetBatch, len(w.work.fetch))]
	found, err := w.a.fetchObjects(ctx, *w.here, members)
	if err != nil {
		return false, err
	}
	w.work.fetch = w.work.fetch[len(members):]
	for _, o := range found.objects {
		w.emitObject(m, o)
	}
	for _, o := range found.large {
		w.declareUnreadable(o.path)
	}
	return len(found.objects)+len(found.large) > 0, nil
}

// openCollection lists the next collection. One that this credential may not read is declared, and
// one that is gone takes its objects with it.
func (w *accountWalk) openCollection(ctx context.Context) (bool, error) {
	c := w.queue[0]
	m := w.memories[c.Path]
	if m == nil {
		m = readMemory("{}")
	}
	work, err := w.a.findChanges(ctx, c, m)
	var e *connectorkit.Error
	if errors.As(err, &e) {
		switch e.Class {
		case connectorkit.NotFound, connectorkit.Gone:
			w.queue = w.queue[1:]
			for at := range m.objects {
				w.emitDeleted(m.removeObject(at))
			}
			_, held := w.memories[c.Path]
			delete(w.memories, c.Path)
			return held, nil
		case connectorkit.Forbidden:
			w.queue = w.queue[1:]
			w.records = append(w.records, connectorkit.Unreadable(c.Path, nil))
			return false, nil
		}
	}
	if err != nil {
		return false, err
	}
	w.queue, w.here, w.work, w.again = w.queue[1:], &c, work, nil
	w.memories[c.Path] = m
	return false, nil
}

// finishCollection accounts for what is gone, and only then remembers up to where the collection
// was read.
func (w *accountWalk) finishCollection(m *collectionMemory) bool {
	for _, at := range w.work.gone {
		w.emitDeleted(m.removeObject(at))
	}
	moved := len(w.work.gone) > 0 || w.work.full != 0 || m.Token != w.work.token || m.CTag != w.work.ctag ||
		!slices.Equal(m.Again, w.again)
	m.Token, m.CTag, m.Again = w.work.token, w.work.ctag, w.again
	if w.work.full != 0 {
		m.Full = w.work.full
	}
	w.here = nil
	return moved
}

func (w *accountWalk) emitDeleted(keys []string) {
	slices.Sort(keys)
	for _, k := range keys {
		w.records = append(w.records, connectorkit.Delete(k))
	}
}

// emitObject puts the things of an object into the page. Records that it no longer holds are deleted.
func (w *accountWalk) emitObject(m *collectionMemory, o Object) {
	things, ok := w.read(*w.here, o)
	if !ok {
		w.declareUnreadable(o.Path)
		return
	}
	var keys []string
	for _, t := range things {
		keys = append(keys, t.Key)
		w.records = append(w.records, connectorkit.Upsert(t.Data))
	}
	w.emitDeleted(m.storeObject(digestPath(o.Path), digestVersion(o.etag), keys))
}

// declareUnreadable declares an object and has it asked for again by later runs.
func (w *accountWalk) declareUnreadable(path string) {
	w.records = append(w.records, connectorkit.Unreadable(path, nil))
	if len(w.again) < maxUnreadRetries {
		w.again = append(w.again, path)
	}
}
