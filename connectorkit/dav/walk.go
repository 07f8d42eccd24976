package dav

import (
	"context"
	"encoding/hex"
	"errors"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// Thing is a record that an object holds. An object can hold several, and objects that
// hold none of a stream are as good as any.
type Thing struct {
	Key  string
	Data any
}

// Read makes things of an object; false when it cannot be read.
type Read func(c Collection, o Object) ([]Thing, bool)

// Flat is a stream of what stands in the objects of those collections that holds admits.
func (a *Account) Flat(stream string, holds func(Collection) bool, read Read) connectorkit.PagedStream {
	w := &walk{a: a, holds: holds, read: read}
	return connectorkit.PagedStream{Stream: stream, Page: w.page}
}

// perPage is how many remembered objects let a page take one batch more: the bookmark
// grows with them, and is written after each page.
const perPage = 2000

// maxAgain bounds how many unreadable objects of a collection are asked for again.
const maxAgain = 1000

// walk goes through the collections once.
type walk struct {
	a     *Account
	holds func(Collection) bool
	read  Read

	begun    bool
	queue    []Collection // still to be read
	memories map[string]*memory

	here    *Collection // being read
	work    changes
	again   []string
	records []connectorkit.Record
	done    int
	late    error // met after a part of a page was read: the next page begins with it
}

// prefix begins the member of the bookmark that is a collection's.
const prefix = "collection "

func (w *walk) begin(ctx context.Context, at connectorkit.Cursor) error {
	all, err := w.a.Collections(ctx, false)
	if err != nil {
		return err
	}
	w.memories = map[string]*memory{}
	for name, text := range at {
		if path, ours := strings.CutPrefix(name, prefix); ours {
			w.memories[path] = memoryOf(text)
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

func (w *walk) cursor() connectorkit.Cursor {
	out := connectorkit.Cursor{}
	for path, m := range w.memories {
		out[prefix+path] = m.encode()
	}
	return out
}

// page reads on until a slice is full or everything is read.
func (w *walk) page(ctx context.Context, at connectorkit.Cursor) (connectorkit.Page, error) {
	if err := w.late; err != nil {
		w.late = nil
		return connectorkit.Page{}, err
	}
	if !w.begun {
		if err := w.begin(ctx, at); err != nil {
			return connectorkit.Page{}, err
		}
	}
	batches, moved := 0, false
	for w.here != nil || len(w.queue) > 0 {
		advanced, err := w.step(ctx)
		if err != nil && !moved {
			return connectorkit.Page{}, err
		}
		if err != nil {
			w.late = err
			return w.slice(true), nil
		}
		moved = moved || advanced
		if advanced {
			batches++
		}
		if moved && batches > w.remembered()/perPage {
			break
		}
	}
	return w.slice(w.here != nil || len(w.queue) > 0), nil
}

func (w *walk) slice(more bool) connectorkit.Page {
	page := connectorkit.Page{Records: w.records, Next: w.cursor(), More: more}
	if !more {
		page.Whole = &connectorkit.Whole{Keys: w.keys, Gone: w.sure}
	}
	w.done += len(w.records)
	if len(w.work.fetch) > 0 {
		page.Total = w.done + len(w.work.fetch)
	}
	w.records = nil
	return page
}

// keys yields the keys of all records that are remembered.
func (w *walk) keys(yield func(string) bool) {
	for _, m := range w.memories {
		for k := range m.holders {
			if !yield(hex.EncodeToString(k[:])) {
				return
			}
		}
	}
}

// sure returns the keys, if a list of another kind has no object that is not remembered.
func (w *walk) sure(ctx context.Context, keys []string) ([]string, error) {
	all, err := w.a.Collections(ctx, true)
	if err != nil {
		return nil, err
	}
	for _, c := range all {
		if !w.holds(c) {
			continue
		}
		listed, err := w.a.list(ctx, c)
		if err != nil {
			return nil, err
		}
		m := w.memories[c.Path]
		for path := range listed {
			if m == nil || !m.has(path) {
				return nil, connectorkit.ErrUnsure
			}
		}
	}
	return keys, nil
}

func (w *walk) remembered() (n int) {
	for _, m := range w.memories {
		n += len(m.objects)
	}
	return n
}

// step does one thing: list a collection, read a batch of it, or finish it. It tells
// whether the bookmark changed.
func (w *walk) step(ctx context.Context) (bool, error) {
	if w.here == nil {
		return w.open(ctx)
	}
	m := w.memories[w.here.Path]
	if len(w.work.fetch) == 0 {
		return w.finish(m), nil
	}
	members := w.work.fetch[:min(batch, len(w.work.fetch))]
	found, err := w.a.objects(ctx, *w.here, members)
	if err != nil {
		return false, err
	}
	w.work.fetch = w.work.fetch[len(members):]
	for _, o := range found.objects {
		w.take(m, o)
	}
	for _, o := range found.large {
		w.unreadable(o.path)
	}
	return len(found.objects)+len(found.large) > 0, nil
}

// open lists the next collection. One that this credential may not read is declared, and
// one that is gone takes its objects with it.
func (w *walk) open(ctx context.Context) (bool, error) {
	c := w.queue[0]
	m := w.memories[c.Path]
	if m == nil {
		m = memoryOf("{}")
	}
	work, err := w.a.changes(ctx, c, m)
	var e *connectorkit.Error
	if errors.As(err, &e) {
		switch e.Class {
		case connectorkit.NotFound, connectorkit.Gone:
			w.queue = w.queue[1:]
			for at := range m.objects {
				w.deleted(m.remove(at))
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

// finish accounts for what is gone, and only then remembers up to where the collection
// was read.
func (w *walk) finish(m *memory) bool {
	for _, at := range w.work.gone {
		w.deleted(m.remove(at))
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

func (w *walk) deleted(keys []string) {
	slices.Sort(keys)
	for _, k := range keys {
		w.records = append(w.records, connectorkit.Delete(k))
	}
}

// take puts the things of an object into the page. Records that it no longer holds are deleted.
func (w *walk) take(m *memory, o Object) {
	things, ok := w.read(*w.here, o)
	if !ok {
		w.unreadable(o.Path)
		return
	}
	var keys []string
	for _, t := range things {
		keys = append(keys, t.Key)
		w.records = append(w.records, connectorkit.Upsert(t.Data))
	}
	w.deleted(m.put(markOf(o.Path), versionOf(o.etag), keys))
}

// unreadable declares an object and has it asked for again by later runs.
func (w *walk) unreadable(path string) {
	w.records = append(w.records, connectorkit.Unreadable(path, nil))
	if len(w.again) < maxAgain {
		w.again = append(w.again, path)
	}
}
