package imap

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/message"
	"github.com/pdpp-go/pdpp/protocol"
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

const block = 10 // 1024 UIDs

// headFields are all that is asked for of a head.
const headFields = "BODY.PEEK[HEADER.FIELDS (DATE FROM TO CC BCC REPLY-TO SUBJECT MESSAGE-ID IN-REPLY-TO REFERENCES LIST-ID)]"

// messages collects what is known of the messages in all folders.
func (a *account) messages(ctx context.Context, f *connectorkit.Push) error {
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
