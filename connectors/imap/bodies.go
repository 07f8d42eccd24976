package imap

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/message"
)

// bodyRecord is what a message says.
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

// contents collects what messages say. A body never changes, so that each is read once.
func (a *account) contents(ctx context.Context, f *connectorkit.Push) error {
	if err := a.list(ctx); err != nil {
		return err
	}
	stream := f.Selected()[0] // it carries the bookmark
	w := &walk{account: a, f: f, stream: stream, marks: marksOf(f.Stored(stream))}
	a.session.useFiles(nil)
	if slices.Contains(f.Selected(), "attachments") {
		a.session.useFiles(a.files)
	}
	w.bringAgain(f.Selected())
	w.remove = func(ctx context.Context, key string, m *mark, uid uint32) error {
		for i := range m.attached(uid) {
			if err := f.Record(ctx, "attachments", connectorkit.Delete(attachmentKey(key, i))); err != nil {
				return err
			}
		}
		m.setAttached(uid, 0)
		m.Large = m.Large.minus(uids{{uid, uid}})
		return f.Record(ctx, "bodies", connectorkit.Delete(key))
	}
	if err := w.settle(ctx, w.fetchBodies); err != nil {
		return err
	}
	if err := w.vanishedFolders(ctx); err != nil {
		return err
	}
	for _, in := range a.walks {
		if in.closed != opened {
			continue
		}
		if err := w.alone(ctx, in, w.texts); err != nil {
			return err
		}
	}
	if err := w.compare(ctx); err != nil {
		return err
	}
	return w.state(ctx)
}

// compare has what is stored of texts and attachments held against what the server has. The bookmark is that of the
// first stream, and speaks for both.
func (w *walk) compare(ctx context.Context) error {
	attached := func(yield func(string) bool) {
		for name, m := range w.marks.Folders {
			for count, set := range m.Attached {
				n, _ := strconv.Atoi(count) // written by setAttached
				err := set.each(func(uid uint32) error {
					for i := range n {
						if !yield(attachmentKey(key(name, m.Validity, uid), i)) {
							return errEnough
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
		keys := w.keys
		if stream == "attachments" {
			keys = attached
		}
		if err := w.f.Compare(ctx, stream, connectorkit.Whole{Keys: keys, Gone: w.inRead}); err != nil {
			return err
		}
	}
	return nil
}

// attachmentKey is the key of a message's attachment, by its place.
func attachmentKey(message string, i int) string { return fmt.Sprintf("%s/%d", message, i+1) }

// withFiles stands among the streams that were brought for attachments with their contents.
const withFiles = "attachments/files"

// bringAgain finds out which messages are to be read again: all of them for a stream that was not
// asked for until now, and those with something too large when the owner keeps larger files by now.
func (w *walk) bringAgain(selected []string) {
	brings := slices.Clone(selected)
	if slices.Contains(selected, "attachments") {
		brings = append(brings, withFiles)
	}
	larger := w.marks.Largest >= 0 && (w.largest < 0 || w.largest > w.marks.Largest)
	for _, m := range w.marks.Folders {
		for _, name := range brings {
			if !slices.Contains(w.marks.Brought, name) {
				m.Again = m.Have
			}
		}
		if larger {
			m.Again, m.Large = m.Again.with(m.Large), nil
		}
	}
	w.marks.Brought, w.marks.Largest = brings, w.largest
}

// texts brings the bodies of a folder up to date.
func (w *walk) texts(ctx context.Context, in *folder) error {
	m, err := w.begin(ctx, in)
	if err != nil {
		return err
	}
	if m.Next == in.status.uidNext && m.Have.count() == in.status.messages && len(m.Again) == 0 {
		return nil
	}
	opened, err := w.enter(ctx, in, nil)
	if opened == nil {
		return err
	}
	in.validity = opened.validity
	if m, err = w.begin(ctx, in); err != nil {
		return err
	}
	there, err := w.present(ctx, in, opened.exists)
	if err != nil {
		return err
	}
	if err := w.forget(ctx, in.name, m.Have.minus(there)); err != nil {
		return err
	}
	m.Next = opened.uidNext
	for todo := there.minus(m.Have).with(m.Again); len(todo) > 0; {
		n, err := w.f.Afford(w.account.bodies)
		if err != nil {
			return err
		}
		part := todo.newest(n)
		if err := w.window(ctx, in, m, part, w.fetchBodies); err != nil {
			return err
		}
		todo = todo.minus(part)
		if err := w.state(ctx); err != nil {
			return err
		}
	}
	return w.state(ctx)
}

// fetchBodies asks for whole messages, which pass through.
func (w *walk) fetchBodies(ctx context.Context, in *folder, m *mark, part uids) (uids, error) {
	var came uids
	_, err := w.session.do(ctx, command{name: "FETCH", folder: in,
		text: func() string {
			left := part.minus(came)
			w.f.Spend(int(left.count()))
			return fmt.Sprintf("UID FETCH %s (UID INTERNALDATE BODY.PEEK[]<0.%d>)", left, w.session.limits.bytes)
		},
		got: func(r *fetched) error {
			if r.body == nil || !part.has(r.uid) || came.has(r.uid) {
				if r.body != nil {
					r.body.Forget()
				}
				return nil
			}
			came = came.add(r.uid, r.uid)
			return w.sendBody(ctx, in, m, r)
		}})
	return came, err
}

func (w *walk) sendBody(ctx context.Context, in *folder, m *mark, r *fetched) error {
	r.body.ID = key(in.name, m.Validity, r.uid)
	at := received(r.date)
	rec := bodyRecord{ID: r.body.ID, Received: at, Body: r.body.Body, Bytes: r.body.Size}
	rec.Cut = rec.Cut || r.cut
	if err := w.f.Record(ctx, "bodies", connectorkit.Upsert(&rec)); err != nil {
		return err
	}
	attached := r.body.Attached()
	m.setAttached(r.uid, len(attached))
	m.Large = m.Large.minus(uids{{r.uid, r.uid}})
	for _, part := range attached {
		if part.Status == message.Large {
			m.Large = m.Large.add(r.uid, r.uid)
		}
		if err := w.f.Record(ctx, "attachments", part.Record(&attachmentRecord{*part, at})); err != nil {
			return err
		}
	}
	return nil
}

// attached is how many attachments were sent with a message: they go with it.
func (m *mark) attached(uid uint32) int {
	for count, set := range m.Attached {
		if set.has(uid) {
			if n, err := strconv.Atoi(count); err == nil {
				return n
			}
		}
	}
	return 0
}

func (m *mark) setAttached(uid uint32, n int) {
	if was := m.attached(uid); was > 0 {
		count := strconv.Itoa(was)
		if m.Attached[count] = m.Attached[count].minus(uids{{uid, uid}}); len(m.Attached[count]) == 0 {
			delete(m.Attached, count)
		}
	}
	if n == 0 {
		return
	}
	if m.Attached == nil {
		m.Attached = map[string]uids{}
	}
	m.Attached[strconv.Itoa(n)] = m.Attached[strconv.Itoa(n)].add(uid, uid)
}
