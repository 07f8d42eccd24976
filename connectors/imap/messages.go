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

// messageRecord is a message without its body.
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

const uidBlockBits = 10 // 1024 UIDs

// headFields are the requested header fields.
const headFields = "BODY.PEEK[HEADER.FIELDS (DATE FROM TO CC BCC REPLY-TO SUBJECT MESSAGE-ID IN-REPLY-TO REFERENCES " +
	"LIST-ID)]"

// collectMessages collects the headers of the messages in all folders.
func (a *mailAccount) collectMessages(ctx context.Context, f *connectorkit.Push) error {
	if err := a.loadFolderList(ctx); err != nil {
		return err
	}
	w := &messageWalk{mailAccount: a, f: f, stream: "messages", marks: parseFolderMarks(f.Stored("messages"))}
	w.remove = func(ctx context.Context, key string, _ *folderMark, _ uint32) error {
		return f.Record(ctx, "messages", connectorkit.Delete(key))
	}
	if err := w.retryGaps(ctx, w.fetchHeads); err != nil {
		return err
	}
	if err := w.vanishedFolders(ctx); err != nil {
		return err
	}
	for _, in := range a.walks {
		if in.closed != folderReadable {
			continue
		}
		if err := w.readOneFolder(ctx, in, w.readFolderHeaders); err != nil {
			return err
		}
	}
	if err := f.Compare(ctx, "messages", connectorkit.Whole{Keys: w.storedKeys, Gone: w.goneFromReadFolders}); err != nil {
		return err
	}
	return w.saveBookmark(ctx)
}

// readFolderHeaders updates the headers of a folder.
func (w *messageWalk) readFolderHeaders(ctx context.Context, in *mailFolder) error {
	m, err := w.startFolder(ctx, in)
	if err != nil {
		return err
	}
	reported := in.status.modseq > 0 // the server reports changes
	whole := m.Next == in.status.uidNext && m.Have.countUIDs() == in.status.messages
	if whole && reported && m.Modseq == in.status.modseq && len(m.Again) == 0 {
		w.f.Listed(w.stream, protocol.AnnouncedTotal{Announced: in.status.messages, Counted: in.status.messages})
		return nil
	}
	since := m
	if !reported || m.Modseq == 0 || m.Next == 0 {
		since = nil
	}
	opened, err := w.openFolder(ctx, in, since)
	if opened == nil {
		return err
	}
	in.validity = opened.validity
	if now, err := w.startFolder(ctx, in); err != nil {
		return err
	} else if now != m { // recreated since it was listed, or another folder
		m, since = now, nil
	}
	there := m.Have.difference(opened.vanished).unionWith(opened.changed)
	if since == nil || !w.session.qresync || there.countUIDs() != opened.exists {
		if there, err = w.uidsInFolder(ctx, in, opened.exists); err != nil {
			return err
		}
	}
	w.compareMessageCount(in, opened, there)
	if err := w.deleteMessages(ctx, in.name, m.Have.difference(there)); err != nil {
		return err
	}
	changed, err := w.findChangedFlags(ctx, in, m, since, opened)
	if err != nil {
		return err
	}
	m.Again = m.Again.unionWith(changed).intersection(m.Have)
	m.Modseq, m.Next = opened.modseq, opened.uidNext
	return w.readWindows(ctx, in, m, there.difference(m.Have).unionWith(m.Again), w.mailAccount.window, w.fetchHeads)
}

// uidsInFolder are the UIDs in a folder.
func (w *messageWalk) uidsInFolder(ctx context.Context, in *mailFolder, exists int64) (uidSet, error) {
	if exists == 0 {
		return nil, nil
	}
	there, err := w.session.searchUIDs(ctx, in, "ALL")
	if err != nil {
		return nil, err
	}
	// A folder that announces messages but lists none, or few, would look as if they were deleted.
	if there.countUIDs() < exists {
		if opened, err := w.session.examineFolder(ctx, in, nil); err != nil {
			return nil, err
		} else if there.countUIDs() < opened.exists {
			return nil, connectorkit.Fail(connectorkit.Malformed,
				fmt.Errorf("a search finds %d of %d messages", there.countUIDs(),
					opened.exists))
		}
	}
	return there, nil
}

// findChangedFlags finds which of the known messages have other flags or labels.
func (w *messageWalk) findChangedFlags(ctx context.Context, in *mailFolder, m, since *folderMark,
	opened *serverAnswer) (uidSet, error) {
	switch {
	case len(m.Have) == 0:
		return nil, nil
	case since != nil && w.session.qresync:
		return opened.changed, nil
	case since != nil && opened.modseq > 0:
		if opened.modseq == m.Modseq {
			return nil, nil
		}
		return w.session.searchUIDs(ctx, in, "MODSEQ "+strconv.FormatUint(m.Modseq+1, 10))
	}
	now := map[string]uint64{}
	set := m.Have
	_, err := w.session.sendCommand(ctx, imapCommand{name: "FETCH", folder: in,
		text: func() string {
			clear(now)
			return "UID FETCH " + uidRange{set[0].from, set[len(set)-1].to}.String() + " (UID FLAGS)"
		},
		got: func(r *fetchedMessage) error {
			if set.containsUID(r.uid) {
				now[uidBlock(r.uid)] ^= flagDigest(r)
			}
			return nil
		}})
	if err != nil {
		return nil, err
	}
	var out uidSet
	digests := map[string]string{}
	for name, digest := range now {
		digests[name] = strconv.FormatUint(digest, 36)
		if n, err := strconv.ParseUint(name, 36, 32); err == nil && m.Blocks[name] != digests[name] {
			out = out.withRange(max(1, uint32(n<<uidBlockBits)), uint32(n<<uidBlockBits|1<<uidBlockBits-1))
		}
	}
	m.Blocks = digests
	return out.intersection(m.Have), nil
}

func (s uidRange) String() string { return uidSet{s}.String() }

// fetchHeads requests the headers of messages.
func (w *messageWalk) fetchHeads(ctx context.Context, in *mailFolder, m *folderMark, part uidSet) (uidSet, error) {
	var came uidSet
	_, err := w.session.sendCommand(ctx, imapCommand{name: "FETCH", folder: in,
		text: func() string {
			items := "UID FLAGS INTERNALDATE RFC822.SIZE " + headFields
			if w.session.caps["X-GM-EXT-1"] {
				items += " X-GM-MSGID X-GM-THRID X-GM-LABELS"
			}
			return "UID FETCH " + part.difference(came).String() + " (" + items + ")"
		},
		got: func(r *fetchedMessage) error {
			if !r.hasHead || !part.containsUID(r.uid) || came.containsUID(r.uid) {
				return nil
			}
			came = came.withRange(r.uid, r.uid)
			if !m.Have.containsUID(r.uid) && in.status.modseq == 0 {
				m.noteFlags(r)
			}
			return w.f.Record(ctx, "messages", headRecord(in.name, m.Validity, r))
		}})
	return came, err
}

func headRecord(name string, validity uint32, r *fetchedMessage) connectorkit.Record {
	head, _ := message.ReadHead(r.head)
	rec := messageRecord{
		ID: messageKey(name, validity, r.uid), Folder: name, UID: int64(r.uid), Received: internalDate(r.date), Head: head,
		Flags: messageFlags(r.flags), Size: r.size,
	}
	if r.hasGmail {
		rec.GmailID, rec.ThreadID, rec.Labels = r.gmailID, r.thread, gmailLabels(r.labels)
	}
	return connectorkit.Upsert(&rec)
}

// internalDate returns when the server received the message; the start of 1970 when it is unknown.
func internalDate(text string) string {
	at, err := time.Parse("_2-Jan-2006 15:04:05 -0700", strings.TrimSpace(text))
	if err != nil || at.UTC().Year() < 1 || at.UTC().Year() > 9999 {
		at = time.Unix(0, 0)
	}
	return at.UTC().Format(time.RFC3339)
}
