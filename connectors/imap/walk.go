package imap

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/protocol"
)

// walk reads the messages of all folders into a stream.
type walk struct {
	*account
	f      *connectorkit.Push
	stream string
	marks  marks
	remove func(ctx context.Context, key string, m *mark, uid uint32) error
}

func (w *walk) state(ctx context.Context) error { return w.f.State(ctx, w.stream, w.marks) }

// vanishedFolders removes what was in folders that are no more. What is in one that the server does
// not open may be there: nothing of it is removed.
func (w *walk) vanishedFolders(ctx context.Context) error {
	for _, in := range w.all {
		if in.closed == refused {
			if err := w.shut(ctx, in); err != nil {
				return err
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.marks.Folders)) {
		there := func(in *folder) bool { return in.name == name }
		shut := func(in *folder) bool { return in.name == name && (in.closed == refused || in.closed == forbidden) }
		if slices.ContainsFunc(w.walks, there) || slices.ContainsFunc(w.all, shut) {
			continue
		}
		if err := w.forget(ctx, name, w.marks.Folders[name].Have); err != nil {
			return err
		}
		delete(w.marks.Folders, name)
	}
	return nil
}

// shut declares a folder as missing that the server has and does not open.
func (w *walk) shut(ctx context.Context, in *folder) error {
	return w.f.Gap(ctx, protocol.DetailGap{
		Stream: w.stream, RecordKey: protocol.WireKey(in.name), Reason: protocol.ReasonTemporaryUnavailable, Retryable: true,
		Detail:    &protocol.GapDetail{Class: string(connectorkit.Unavailable)},
		LastError: jsontext.Value(`{"class":"unavailable","message":"the server has this folder and does not open it"}`),
	})
}

// alone reads one folder. A folder with an answer outside the grammar is declared as missing, and the others
// go on.
func (w *walk) alone(ctx context.Context, in *folder, read func(context.Context, *folder) error) error {
	err := read(ctx, in)
	if err == nil && in.closed == opened {
		return w.f.Recovered(ctx, w.stream, in.name)
	}
	if !errors.Is(err, errGrammar) || ctx.Err() != nil {
		return err
	}
	in.closed = refused // what is in it is not known, so that nothing of it is deleted
	if err := w.shut(ctx, in); err != nil {
		return err
	}
	return w.state(ctx)
}

// enter opens a folder. One that the server refuses, and not the others, is passed over: nil.
func (w *walk) enter(ctx context.Context, in *folder, since *mark) (*answer, error) {
	a, err := w.session.examine(ctx, in, since)
	why, alone := closureOf(err)
	if !alone {
		return a, err
	}
	if in.closed = why; why == refused {
		return nil, w.shut(ctx, in)
	}
	return nil, nil
}

// deletions is how many tombstones are in one slice.
const deletions = 1000

// forget removes messages that are gone, a slice at a time.
func (w *walk) forget(ctx context.Context, name string, gone uids) error {
	m := w.marks.Folders[name]
	for len(gone) > 0 {
		part := gone.newest(deletions)
		err := part.each(func(uid uint32) error { return w.remove(ctx, key(name, m.Validity, uid), m, uid) })
		if err != nil {
			return err
		}
		gone, m.Have, m.Again = gone.minus(part), m.Have.minus(part), m.Again.minus(part)
		if err := w.state(ctx); err != nil {
			return err
		}
	}
	return nil
}

// begin returns the mark of a folder. A folder with new numbers is read again, and so is another
// folder that got its name: folders of one account may have the same numbers for other messages.
func (w *walk) begin(ctx context.Context, in *folder) (*mark, error) {
	m := w.marks.Folders[in.name]
	if m != nil && (m.Validity != in.validity || m.ID != "" && in.id != "" && m.ID != in.id) {
		if err := w.forget(ctx, in.name, m.Have); err != nil {
			return nil, err
		}
		in.renewed, m = true, nil
	}
	if m == nil {
		m = &mark{Validity: in.validity}
		w.marks.Folders[in.name] = m
	}
	if in.id != "" {
		m.ID = in.id
	}
	return m, nil
}

// keys yields the keys of all messages that the server has, by what was sent of them.
func (w *walk) keys(yield func(string) bool) {
	for name, m := range w.marks.Folders {
		err := m.Have.each(func(uid uint32) error {
			if !yield(key(name, m.Validity, uid)) {
				return errEnough
			}
			return nil
		})
		if err != nil {
			return
		}
	}
}

var errEnough = errors.New("no more keys are wanted")

// inRead returns those of the keys that are not in a folder which the server did not open: what is in such a
// folder may be there. A search for all messages is proof for the others.
func (w *walk) inRead(_ context.Context, keys []string) (gone []string, err error) {
	for _, key := range keys {
		shut := slices.ContainsFunc(w.all, func(in *folder) bool {
			return (in.closed == refused || in.closed == forbidden) && strings.HasPrefix(key, in.name+"/")
		})
		if !shut {
			gone = append(gone, key)
		}
	}
	return gone, nil
}

// windows reads UIDs, the newest first. Each window is a slice.
func (w *walk) windows(ctx context.Context, in *folder, m *mark, todo uids, size int, fetch fetching) error {
	for len(todo) > 0 {
		part := todo.newest(size)
		if err := w.window(ctx, in, m, part, fetch); err != nil {
			return err
		}
		todo = todo.minus(part)
		if err := w.state(ctx); err != nil {
			return err
		}
	}
	return w.state(ctx)
}

// fetching asks for messages of a folder once and sends what comes. It returns what has come.
type fetching func(ctx context.Context, in *folder, m *mark, part uids) (uids, error)

// window reads a few UIDs. What a server refuses, or leaves out although it is there, is asked for
// in smaller and smaller parts; what is left is declared as missing, one by one.
func (w *walk) window(ctx context.Context, in *folder, m *mark, part uids, fetch fetching) error {
	came, err := fetch(ctx, in, m, part)
	m.Have, m.Again = m.Have.with(came), m.Again.minus(came)
	left := part.minus(came)
	if err != nil && !refusedOutright(err) {
		return err
	}
	if len(left) == 0 {
		return nil
	}
	there, err := w.session.search(ctx, in, "UID "+left.String())
	if err != nil {
		return err
	}
	m.Again = m.Again.minus(left.minus(there)) // removed meanwhile; a later run reports it
	if left = left.both(there); left.count() > 1 {
		half := left.newest(int(left.count() / 2))
		if err := w.window(ctx, in, m, half, fetch); err != nil {
			return err
		}
		return w.window(ctx, in, m, left.minus(half), fetch)
	}
	return left.each(func(uid uint32) error {
		m.Have, m.Again = m.Have.add(uid, uid), m.Again.minus(uids{{uid, uid}})
		return w.gap(ctx, in.name, m.Validity, uid)
	})
}

// gap declares one message as missing. A later run is served it and tries again.
func (w *walk) gap(ctx context.Context, name string, validity, uid uint32) error {
	return w.f.Gap(ctx, protocol.DetailGap{
		Stream: w.stream, RecordKey: protocol.WireKey(key(name, validity, uid)), Reason: protocol.ReasonTemporaryUnavailable,
		Retryable: true,
		Detail:    &protocol.GapDetail{Class: string(connectorkit.Malformed)},
		LastError: jsontext.Value(`{"class":"malformed_answer",` +
			`"message":"the server has this message and does not give it"}`),
	})
}

// settle tries again what earlier runs had to declare as missing.
func (w *walk) settle(ctx context.Context, fetch fetching) error {
	done := map[string]bool{}
	for _, e := range w.f.Gaps() {
		if slices.ContainsFunc(w.all, func(in *folder) bool {
			return (in.closed == refused || in.closed == opened) && in.name == string(e.RecordKey)
		}) {
			continue // it goes back with the folder, or is settled when that was read
		}
		in, m, uid := w.meant(e)
		if again := key(in.name, m.Validity, uid); uid > 0 && !done[again] {
			done[again] = true
			if err := w.window(ctx, in, m, uids{{uid, uid}}, fetch); err != nil {
				return err
			}
		}
		// What is gone by now is removed by the walk. A gap that was declared again is not open here.
		if err := w.f.Recovered(ctx, e.Stream, string(e.RecordKey)); err != nil {
			return err
		}
		if err := w.state(ctx); err != nil {
			return err
		}
	}
	return nil
}

// meant is the message of a gap; UID 0 when it is not there any more. The gap of
// something that came with a message, such as a file, has the key of that.
func (w *walk) meant(e protocol.GapEntry) (*folder, *mark, uint32) {
	text := string(e.RecordKey)
	for range 2 {
		name, validity, uid, ok := parseKey(text)
		i := slices.IndexFunc(w.walks, func(in *folder) bool { return in.name == name && in.validity == validity })
		if m := w.marks.Folders[name]; ok && i >= 0 && m != nil && m.Validity == validity {
			return w.walks[i], m, uid
		}
		text = text[:max(0, strings.LastIndexByte(text, '/'))]
	}
	return &folder{}, &mark{}, 0
}
