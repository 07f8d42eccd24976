package imap

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"pdpp/connectorkit"
	"pdpp/connectorkit/message"
	"pdpp/protocol"
)

// messageRecord is what is known of a message without its body.
type messageRecord struct {
	ID       string `json:"id"`
	Folder   string `json:"folder"`
	UID      int64  `json:"uid"`
	Received string `json:"received_at"`
	message.Head
	Flags   []string `json:"flags,omitempty"`
	GmailID string   `json:"gmail_message_id,omitzero"`
	Size    int64    `json:"size_bytes"`
}

const (
	deletions = 1000 // tombstones in one slice
	block     = 10   // 1024 UIDs
)

// headFields are all that is asked for of a head.
const headFields = "BODY.PEEK[HEADER.FIELDS (DATE FROM TO CC BCC REPLY-TO SUBJECT MESSAGE-ID IN-REPLY-TO REFERENCES LIST-ID)]"

// messages collects what is known of the messages in all folders.
func (a *account) messages(ctx context.Context, f *connectorkit.Feeding) error {
	if err := a.list(ctx); err != nil {
		return err
	}
	w := &walk{account: a, f: f, stream: "messages", marks: marksOf(f.Stored("messages"))}
	w.remove = func(ctx context.Context, key string, _ *mark, _ uint32) error {
		return f.Record(ctx, "messages", connectorkit.Delete(key))
	}
	if err := w.settle(ctx, w.fetchHeads); err != nil {
		return err
	}
	if err := w.vanishedFolders(ctx); err != nil {
		return err
	}
	for _, in := range a.walks {
		if in.closed != opened {
			continue
		}
		if err := w.alone(ctx, in, w.heads); err != nil {
			return err
		}
	}
	if err := f.Compare(ctx, "messages", connectorkit.Whole{Keys: w.keys, Gone: w.inRead}); err != nil {
		return err
	}
	return w.state(ctx)
}

// folders collects the list of folders, and what is no longer on it.
func (a *account) folders(ctx context.Context, f *connectorkit.Feeding) error {
	if err := a.list(ctx); err != nil {
		return err
	}
	var before, now struct {
		Names []string `json:"names"`
	}
	if v := f.Stored("folders"); len(v) > 0 && json.Unmarshal(v, &before) != nil {
		before.Names = nil
	}
	for _, in := range a.all {
		if slices.Contains(now.Names, in.name) {
			continue
		}
		now.Names = append(now.Names, in.name)
		if err := f.Record(ctx, "folders", connectorkit.Upsert(in.record())); err != nil {
			return err
		}
	}
	for _, name := range before.Names {
		if !slices.Contains(now.Names, name) {
			if err := f.Record(ctx, "folders", connectorkit.Delete(name)); err != nil {
				return err
			}
		}
	}
	if err := f.Compare(ctx, "folders", connectorkit.Whole{Keys: slices.Values(now.Names), Gone: connectorkit.AllGone}); err != nil {
		return err
	}
	return f.State(ctx, "folders", now)
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

// walk reads the messages of all folders into a stream.
type walk struct {
	*account
	f      *connectorkit.Feeding
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

// alone reads a folder. A folder with an answer outside the grammar is declared as missing, and the others
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

// begin gives the mark of a folder. One whose numbers were made anew is read anew, and so is another
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

// heads brings a folder up to date.
func (w *walk) heads(ctx context.Context, in *folder) error {
	m, err := w.begin(ctx, in)
	if err != nil {
		return err
	}
	told := in.status.modseq > 0 // the server says what changed
	whole := m.Next == in.status.uidNext && m.Have.count() == in.status.messages
	if whole && told && m.Modseq == in.status.modseq && len(m.Again) == 0 {
		w.f.Listed(w.stream, protocol.AnnouncedTotal{Announced: in.status.messages, Counted: in.status.messages})
		return nil
	}
	since := m
	if !told || m.Modseq == 0 || m.Next == 0 {
		since = nil
	}
	opened, err := w.enter(ctx, in, since)
	if opened == nil {
		return err
	}
	in.validity = opened.validity
	if now, err := w.begin(ctx, in); err != nil {
		return err
	} else if now != m { // made anew since it was listed, or another one
		m, since = now, nil
	}
	there := m.Have.minus(opened.vanished).with(opened.changed)
	if since == nil || !w.session.qresync || there.count() != opened.exists {
		if there, err = w.present(ctx, in, opened.exists); err != nil {
			return err
		}
	}
	w.announce(in, opened, there)
	if err := w.forget(ctx, in.name, m.Have.minus(there)); err != nil {
		return err
	}
	changed, err := w.changed(ctx, in, m, since, opened)
	if err != nil {
		return err
	}
	m.Again = m.Again.with(changed).both(m.Have)
	m.Modseq, m.Next = opened.modseq, opened.uidNext
	return w.windows(ctx, in, m, there.minus(m.Have).with(m.Again), w.account.window, w.fetchHeads)
}

// present are the UIDs in a folder.
func (w *walk) present(ctx context.Context, in *folder, exists int64) (uids, error) {
	if exists == 0 {
		return nil, nil
	}
	there, err := w.session.search(ctx, in, "ALL")
	if err != nil {
		return nil, err
	}
	// A folder that says it has messages and lists none, or few, would read as if they were gone.
	if there.count() < exists {
		if opened, err := w.session.examine(ctx, in, nil); err != nil {
			return nil, err
		} else if there.count() < opened.exists {
			return nil, connectorkit.Fail(connectorkit.Malformed, fmt.Errorf("a search finds %d of %d messages", there.count(), opened.exists))
		}
	}
	return there, nil
}

// changed finds which of the known messages have other flags or labels.
func (w *walk) changed(ctx context.Context, in *folder, m, since *mark, opened *answer) (uids, error) {
	switch {
	case len(m.Have) == 0:
		return nil, nil
	case since != nil && w.session.qresync:
		return opened.changed, nil
	case since != nil && opened.modseq > 0:
		if opened.modseq == m.Modseq {
			return nil, nil
		}
		return w.session.search(ctx, in, "MODSEQ "+strconv.FormatUint(m.Modseq+1, 10))
	}
	now := map[string]uint64{}
	set := m.Have
	_, err := w.session.do(ctx, command{name: "FETCH", folder: in,
		text: func() string {
			clear(now)
			return "UID FETCH " + span{set[0].from, set[len(set)-1].to}.String() + " (UID FLAGS)"
		},
		got: func(r *fetched) error {
			if set.has(r.uid) {
				now[blockOf(r.uid)] ^= flagDigest(r)
			}
			return nil
		}})
	if err != nil {
		return nil, err
	}
	var out uids
	digests := map[string]string{}
	for name, digest := range now {
		digests[name] = strconv.FormatUint(digest, 36)
		if n, err := strconv.ParseUint(name, 36, 32); err == nil && m.Blocks[name] != digests[name] {
			out = out.add(max(1, uint32(n<<block)), uint32(n<<block|1<<block-1))
		}
	}
	m.Blocks = digests
	return out.both(m.Have), nil
}

func (s span) String() string { return uids{s}.String() }

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

// fetching asks for messages of a folder once and sends what comes. It gives what has come.
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
	m.Again = m.Again.minus(left.minus(there)) // removed meanwhile; a later run says so
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
		Stream: w.stream, RecordKey: protocol.WireKey(key(name, validity, uid)), Reason: protocol.ReasonTemporaryUnavailable, Retryable: true,
		Detail:    &protocol.GapDetail{Class: string(connectorkit.Malformed)},
		LastError: jsontext.Value(`{"class":"malformed_answer","message":"the server has this message and does not give it"}`),
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

// meant is the message that a gap stands for; UID 0 when it is not there any more. The gap of
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

// fetchHeads asks for what is known of messages.
func (w *walk) fetchHeads(ctx context.Context, in *folder, m *mark, part uids) (uids, error) {
	var came uids
	_, err := w.session.do(ctx, command{name: "FETCH", folder: in,
		text: func() string {
			items := "UID FLAGS INTERNALDATE RFC822.SIZE " + headFields
			if w.session.caps["X-GM-EXT-1"] {
				items += " X-GM-MSGID X-GM-THRID X-GM-LABELS"
			}
			return "UID FETCH " + part.minus(came).String() + " (" + items + ")"
		},
		got: func(r *fetched) error {
			if !r.hasHead || !part.has(r.uid) || came.has(r.uid) {
				return nil
			}
			came = came.add(r.uid, r.uid)
			if !m.Have.has(r.uid) && in.status.modseq == 0 {
				m.addFlags(r)
			}
			return w.f.Record(ctx, "messages", headRecord(in.name, m.Validity, r))
		}})
	return came, err
}

func headRecord(name string, validity uint32, r *fetched) connectorkit.Record {
	head, _ := message.ReadHead(r.head)
	rec := messageRecord{
		ID: key(name, validity, r.uid), Folder: name, UID: int64(r.uid), Received: received(r.date), Head: head,
		Flags: flagsOf(r.flags), Size: r.size,
	}
	if r.hasGmail {
		rec.GmailID, rec.ThreadID, rec.Labels = r.gmailID, r.thread, labelsOf(r.labels)
	}
	return connectorkit.Upsert(&rec)
}

// received is when the server got the message; the beginning of 1970 when it does not say so.
func received(text string) string {
	at, err := time.Parse("_2-Jan-2006 15:04:05 -0700", strings.TrimSpace(text))
	if err != nil || at.UTC().Year() < 1 || at.UTC().Year() > 9999 {
		at = time.Unix(0, 0)
	}
	return at.UTC().Format(time.RFC3339)
}
