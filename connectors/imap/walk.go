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

// messageWalk reads the messages of all folders into a stream.
type messageWalk struct {
	*mailAccount
	f      *connectorkit.Push
	stream string
	marks  folderMarks
	remove func(ctx context.Context, key string, m *folderMark, uid uint32) error
}

func (w *messageWalk) saveBookmark(ctx context.Context) error {
	return w.f.State(ctx, w.stream, w.marks)
}

// vanishedFolders deletes the messages of folders that no longer exist. Messages in a folder that the server does not
// open stay.
func (w *messageWalk) vanishedFolders(ctx context.Context) error {
	for _, in := range w.all {
		if in.closed == folderRefused {
			if err := w.declareClosedFolder(ctx, in); err != nil {
				return err
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.marks.Folders)) {
		there := func(in *mailFolder) bool { return in.name == name }
		shut := func(in *mailFolder) bool {
			return in.name == name && (in.closed == folderRefused || in.closed == folderForbidden)
		}
		if slices.ContainsFunc(w.walks, there) || slices.ContainsFunc(w.all, shut) {
			continue
		}
		if err := w.deleteMessages(ctx, name, w.marks.Folders[name].Have); err != nil {
			return err
		}
		delete(w.marks.Folders, name)
	}
	return nil
}

// declareClosedFolder declares a folder as missing that the server has and does not open.
func (w *messageWalk) declareClosedFolder(ctx context.Context, in *mailFolder) error {
	return w.f.Gap(ctx, protocol.DetailGap{
		Stream: w.stream, RecordKey: protocol.WireKey(in.name), Reason: protocol.ReasonTemporaryUnavailable, Retryable: true,
		Detail:    &protocol.GapDetail{Class: string(connectorkit.Unavailable)},
		LastError: jsontext.Value(`{"class":"unavailable","message":"the server has this folder and does not open it"}`),
	})
}

// readOneFolder reads one folder. A folder with an answer outside the grammar becomes a gap, and the others continue.
func (w *messageWalk) readOneFolder(ctx context.Context, in *mailFolder,
	read func(context.Context, *mailFolder) error) error {
	err := read(ctx, in)
	if err == nil && in.closed == folderReadable {
		return w.f.Recovered(ctx, w.stream, in.name)
	}
	if !errors.Is(err, errGrammar) || ctx.Err() != nil {
		return err
	}
	in.closed = folderRefused // what is in it is not known, so that nothing of it is deleted
	if err := w.declareClosedFolder(ctx, in); err != nil {
		return err
	}
	return w.saveBookmark(ctx)
}

// openFolder opens a folder. One that the server refuses, and not the others, is passed over: nil.
func (w *messageWalk) openFolder(ctx context.Context, in *mailFolder, since *folderMark) (*serverAnswer, error) {
	a, err := w.session.examineFolder(ctx, in, since)
	why, alone := folderClosureOf(err)
	if !alone {
		return a, err
	}
	if in.closed = why; why == folderRefused {
		return nil, w.declareClosedFolder(ctx, in)
	}
	return nil, nil
}

// maxDeletionsPerSlice is how many tombstones are in one slice.
const maxDeletionsPerSlice = 1000

// deleteMessages deletes messages that are gone, a slice at a time.
func (w *messageWalk) deleteMessages(ctx context.Context, name string, gone uidSet) error {
	m := w.marks.Folders[name]
	for len(gone) > 0 {
		part := gone.highestUIDs(maxDeletionsPerSlice)
		err := part.eachDescending(func(uid uint32) error { return w.remove(ctx, messageKey(name, m.Validity, uid), m, uid) })
		if err != nil {
			return err
		}
		gone, m.Have, m.Again = gone.difference(part), m.Have.difference(part), m.Again.difference(part)
		if err := w.saveBookmark(ctx); err != nil {
			return err
		}
	}
	return nil
}

// startFolder returns the mark of a folder. A folder with new numbers is read again, and so is another
// folder that got its name: folders of one account may have the same numbers for other messages.
func (w *messageWalk) startFolder(ctx context.Context, in *mailFolder) (*folderMark, error) {
	m := w.marks.Folders[in.name]
	if m != nil && (m.Validity != in.validity || m.ID != "" && in.id != "" && m.ID != in.id) {
		if err := w.deleteMessages(ctx, in.name, m.Have); err != nil {
			return nil, err
		}
		in.renewed, m = true, nil
	}
	if m == nil {
		m = &folderMark{Validity: in.validity}
		w.marks.Folders[in.name] = m
	}
	if in.id != "" {
		m.ID = in.id
	}
	return m, nil
}

// storedKeys yields the keys of all messages that were sent and that the server still has.
func (w *messageWalk) storedKeys(yield func(string) bool) {
	for name, m := range w.marks.Folders {
		err := m.Have.eachDescending(func(uid uint32) error {
			if !yield(messageKey(name, m.Validity, uid)) {
				return errStopIteration
			}
			return nil
		})
		if err != nil {
			return
		}
	}
}

var errStopIteration = errors.New("stop iteration")

// goneFromReadFolders returns the keys that are not in an unopened folder, because messages there may still exist. A
// search for all messages is the proof for the others.
func (w *messageWalk) goneFromReadFolders(_ context.Context, keys []string) (gone []string, err error) {
	for _, key := range keys {
		shut := slices.ContainsFunc(w.all, func(in *mailFolder) bool {
			return (in.closed == folderRefused || in.closed == folderForbidden) && strings.HasPrefix(key, in.name+"/")
		})
		if !shut {
			gone = append(gone, key)
		}
	}
	return gone, nil
}

// readWindows reads UIDs, the newest first. Each window is a slice.
func (w *messageWalk) readWindows(ctx context.Context, in *mailFolder, m *folderMark, todo uidSet, size int,
	fetch fetchFunction) error {
	for len(todo) > 0 {
		part := todo.highestUIDs(size)
		if err := w.readWindow(ctx, in, m, part, fetch); err != nil {
			return err
		}
		todo = todo.difference(part)
		if err := w.saveBookmark(ctx); err != nil {
			return err
		}
	}
	return w.saveBookmark(ctx)
}

// fetchFunction asks for messages of a folder once and sends what comes. It returns what has come.
type fetchFunction func(ctx context.Context, in *mailFolder, m *folderMark, part uidSet) (uidSet, error)

// readWindow reads a few UIDs. UIDs that a server refuses or omits are requested in smaller and smaller parts; the
// rest becomes one gap each.
func (w *messageWalk) readWindow(ctx context.Context, in *mailFolder, m *folderMark, part uidSet,
	fetch fetchFunction) error {
	came, err := fetch(ctx, in, m, part)
	m.Have, m.Again = m.Have.unionWith(came), m.Again.difference(came)
	left := part.difference(came)
	if err != nil && !refusedOutright(err) {
		return err
	}
	if len(left) == 0 {
		return nil
	}
	there, err := w.session.searchUIDs(ctx, in, "UID "+left.String())
	if err != nil {
		return err
	}
	m.Again = m.Again.difference(left.difference(there)) // removed meanwhile; a later run reports it
	if left = left.intersection(there); left.countUIDs() > 1 {
		half := left.highestUIDs(int(left.countUIDs() / 2))
		if err := w.readWindow(ctx, in, m, half, fetch); err != nil {
			return err
		}
		return w.readWindow(ctx, in, m, left.difference(half), fetch)
	}
	return left.eachDescending(func(uid uint32) error {
		m.Have, m.Again = m.Have.withRange(uid, uid), m.Again.difference(uidSet{{uid, uid}})
		return w.declareMessageGap(ctx, in.name, m.Validity, uid)
	})
}

// declareMessageGap declares one message as missing. A later run is served it and tries again.
func (w *messageWalk) declareMessageGap(ctx context.Context, name string, validity, uid uint32) error {
	return w.f.Gap(ctx, protocol.DetailGap{
		Stream: w.stream, RecordKey: protocol.WireKey(messageKey(name, validity, uid)),
		Reason:    protocol.ReasonTemporaryUnavailable,
		Retryable: true,
		Detail:    &protocol.GapDetail{Class: string(connectorkit.Malformed)},
		LastError: jsontext.Value(`{"class":"malformed_answer",` +
			`"message":"the server lists this message but does not return it"}`),
	})
}

// retryGaps tries again what earlier runs had to declare as missing.
func (w *messageWalk) retryGaps(ctx context.Context, fetch fetchFunction) error {
	done := map[string]bool{}
	for _, e := range w.f.Gaps() {
		if slices.ContainsFunc(w.all, func(in *mailFolder) bool {
			return (in.closed == folderRefused || in.closed == folderReadable) && in.name == string(e.RecordKey)
		}) {
			continue // it goes back with the folder, or is settled when that was read
		}
		in, m, uid := w.messageOfGap(e)
		if again := messageKey(in.name, m.Validity, uid); uid > 0 && !done[again] {
			done[again] = true
			if err := w.readWindow(ctx, in, m, uidSet{{uid, uid}}, fetch); err != nil {
				return err
			}
		}
		// The walk deletes messages that are gone. A gap that was declared again is not open here.
		if err := w.f.Recovered(ctx, e.Stream, string(e.RecordKey)); err != nil {
			return err
		}
		if err := w.saveBookmark(ctx); err != nil {
			return err
		}
	}
	return nil
}

// messageOfGap returns the message of a gap; UID 0 when it no longer exists. The gap of an attachment has the
// attachment's key.
func (w *messageWalk) messageOfGap(e protocol.GapEntry) (*mailFolder, *folderMark, uint32) {
	text := string(e.RecordKey)
	for range 2 {
		name, validity, uid, ok := parseMessageKey(text)
		i := slices.IndexFunc(w.walks, func(in *mailFolder) bool { return in.name == name && in.validity == validity })
		if m := w.marks.Folders[name]; ok && i >= 0 && m != nil && m.Validity == validity {
			return w.walks[i], m, uid
		}
		text = text[:max(0, strings.LastIndexByte(text, '/'))]
	}
	return &mailFolder{}, &folderMark{}, 0
}
