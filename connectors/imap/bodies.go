package imap

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/message"
)

// bodyRecord is the text of a message.
type bodyRecord struct {
	ID       string `json:"id"`
	Received string `json:"received_at"`
	message.Body
	Bytes int64 `json:"read_bytes"` // how much of it was read
}

// attachmentRecord is what came with a message. Its content is a file beside it.
type attachmentRecord struct {
	message.Attachment
	Received string `json:"received_at"`
}

// collectBodies collects the bodies of messages. A body never changes, so each is read once.
func (a *mailAccount) collectBodies(ctx context.Context, f *connectorkit.Push) error {
	if err := a.loadFolderList(ctx); err != nil {
		return err
	}
	stream := f.Selected()[0] // it carries the bookmark
	w := &messageWalk{mailAccount: a, f: f, stream: stream, marks: parseFolderMarks(f.Stored(stream))}
	a.session.setBlobWriter(nil)
	if slices.Contains(f.Selected(), "attachments") {
		a.session.setBlobWriter(a.files)
	}
	w.bringAgain(f.Selected())
	w.remove = func(ctx context.Context, key string, m *folderMark, uid uint32) error {
		for i := range m.attachmentCount(uid) {
			if err := f.Record(ctx, "attachments", connectorkit.Delete(attachmentKey(key, i))); err != nil {
				return err
			}
		}
		m.setAttached(uid, 0)
		m.Large = m.Large.difference(uidSet{{uid, uid}})
		return f.Record(ctx, "bodies", connectorkit.Delete(key))
	}
	if err := w.retryGaps(ctx, w.fetchBodies); err != nil {
		return err
	}
	if err := w.vanishedFolders(ctx); err != nil {
		return err
	}
	for _, in := range a.walks {
		if in.closed != folderReadable {
			continue
		}
		if err := w.readOneFolder(ctx, in, w.readFolderBodies); err != nil {
			return err
		}
	}
	if err := w.compareStoredKeys(ctx); err != nil {
		return err
	}
	return w.saveBookmark(ctx)
}

// compareStoredKeys compares the stored texts and attachments with the server's messages. Both streams use the
// bookmark of the first one.
func (w *messageWalk) compareStoredKeys(ctx context.Context) error {
	attached := func(yield func(string) bool) {
		for name, m := range w.marks.Folders {
			for count, set := range m.Attached {
				n, _ := strconv.Atoi(count) // written by setAttached
				err := set.eachDescending(func(uid uint32) error {
					for i := range n {
						if !yield(attachmentKey(messageKey(name, m.Validity, uid), i)) {
							return errStopIteration
						}
					}
					return nil
				})
				if err != nil {
					return
				}
			}
		}
	}
	if !w.f.Comparable(w.stream) {
		return nil
	}
	for _, stream := range w.f.Selected() {
		keys := w.storedKeys
		if stream == "attachments" {
			keys = attached
		}
		if err := w.f.Compare(ctx, stream, connectorkit.Whole{Keys: keys, Gone: w.goneFromReadFolders}); err != nil {
			return err
		}
	}
	return nil
}

// attachmentKey is the key of a message's attachment, by its place.
func attachmentKey(message string, i int) string { return fmt.Sprintf("%s/%d", message, i+1) }

// attachmentFilesMark is stored with the collected streams when attachments include their contents.
const attachmentFilesMark = "attachments/files"

// bringAgain marks messages to read again: all of them for a newly selected stream, and those with a large file when
// the owner now keeps larger files.
func (w *messageWalk) bringAgain(selected []string) {
	brings := slices.Clone(selected)
	if slices.Contains(selected, "attachments") {
		brings = append(brings, attachmentFilesMark)
	}
	larger := w.marks.Largest >= 0 && (w.largest < 0 || w.largest > w.marks.Largest)
	for _, m := range w.marks.Folders {
		for _, name := range brings {
			if !slices.Contains(w.marks.Brought, name) {
				m.Again = m.Have
			}
		}
		if larger {
			m.Again, m.Large = m.Again.unionWith(m.Large), nil
		}
	}
	w.marks.Brought, w.marks.Largest = brings, w.largest
}

// readFolderBodies updates the bodies of a folder.
func (w *messageWalk) readFolderBodies(ctx context.Context, in *mailFolder) error {
	m, err := w.startFolder(ctx, in)
	if err != nil {
		return err
	}
	if m.Next == in.status.uidNext && m.Have.countUIDs() == in.status.messages && len(m.Again) == 0 {
		return nil
	}
	opened, err := w.openFolder(ctx, in, nil)
	if opened == nil {
		return err
	}
	in.validity = opened.validity
	if m, err = w.startFolder(ctx, in); err != nil {
		return err
	}
	there, err := w.uidsInFolder(ctx, in, opened.exists)
	if err != nil {
		return err
	}
	if err := w.deleteMessages(ctx, in.name, m.Have.difference(there)); err != nil {
		return err
	}
	m.Next = opened.uidNext
	for todo := there.difference(m.Have).unionWith(m.Again); len(todo) > 0; {
		n, err := w.f.Afford(w.mailAccount.bodies)
		if err != nil {
			return err
		}
		part := todo.highestUIDs(n)
		if err := w.readWindow(ctx, in, m, part, w.fetchBodies); err != nil {
			return err
		}
		todo = todo.difference(part)
		if err := w.saveBookmark(ctx); err != nil {
			return err
		}
	}
	return w.saveBookmark(ctx)
}

// fetchBodies asks for whole messages, which pass through.
func (w *messageWalk) fetchBodies(ctx context.Context, in *mailFolder, m *folderMark, part uidSet) (uidSet, error) {
	var came uidSet
	_, err := w.session.sendCommand(ctx, imapCommand{name: "FETCH", folder: in,
		text: func() string {
			left := part.difference(came)
			w.f.Spend(int(left.countUIDs()))
			return fmt.Sprintf("UID FETCH %s (UID INTERNALDATE BODY.PEEK[]<0.%d>)", left, w.session.limits.bytes)
		},
		got: func(r *fetchedMessage) error {
			if r.body == nil || !part.containsUID(r.uid) || came.containsUID(r.uid) {
				if r.body != nil {
					r.body.DiscardFiles()
				}
				return nil
			}
			came = came.withRange(r.uid, r.uid)
			return w.sendMessageBody(ctx, in, m, r)
		}})
	return came, err
}

func (w *messageWalk) sendMessageBody(ctx context.Context, in *mailFolder, m *folderMark, r *fetchedMessage) error {
	r.body.ID = messageKey(in.name, m.Validity, r.uid)
	at := internalDate(r.date)
	rec := bodyRecord{ID: r.body.ID, Received: at, Body: r.body.Body, Bytes: r.body.Size}
	rec.Cut = rec.Cut || r.cut
	if err := w.f.Record(ctx, "bodies", connectorkit.Upsert(&rec)); err != nil {
		return err
	}
	attached := r.body.KeyedAttachments()
	m.setAttached(r.uid, len(attached))
	m.Large = m.Large.difference(uidSet{{r.uid, r.uid}})
	for _, part := range attached {
		if part.Status == message.OversizedContent {
			m.Large = m.Large.withRange(r.uid, r.uid)
		}
		if err := w.f.Record(ctx, "attachments", part.Record(&attachmentRecord{*part, at})); err != nil {
			return err
		}
	}
	return nil
}

// attachmentCount is how many attachments were sent with a message: they go with it.
func (m *folderMark) attachmentCount(uid uint32) int {
	for count, set := range m.Attached {
		if set.containsUID(uid) {
			if n, err := strconv.Atoi(count); err == nil {
				return n
			}
		}
	}
	return 0
}

func (m *folderMark) setAttached(uid uint32, n int) {
	if was := m.attachmentCount(uid); was > 0 {
		count := strconv.Itoa(was)
		if m.Attached[count] = m.Attached[count].difference(uidSet{{uid, uid}}); len(m.Attached[count]) == 0 {
			delete(m.Attached, count)
		}
	}
	if n == 0 {
		return
	}
	if m.Attached == nil {
		m.Attached = map[string]uidSet{}
	}
	m.Attached[strconv.Itoa(n)] = m.Attached[strconv.Itoa(n)].withRange(uid, uid)
}
