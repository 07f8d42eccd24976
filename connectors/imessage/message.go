package imessage

import (
	"cmp"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/localdb"
	"github.com/pdpp-go/pdpp/connectorkit/localfile"
)

// message is a message, a tapback or an event of a group.
type message struct {
	ID             string `json:"id"`
	ChatID         string `json:"chat_id,omitzero"`
	Handle         string `json:"handle,omitzero"` // of who sent it; none for the owner
	Service        string `json:"service,omitzero"`
	IsFromMe       bool   `json:"is_from_me"`
	Kind           string `json:"kind"`
	Text           string `json:"text,omitzero"`
	TextCut        bool   `json:"text_cut,omitzero"`
	Subject        string `json:"subject,omitzero"`
	Date           string `json:"date"`
	DateDelivered  string `json:"date_delivered,omitzero"`
	DateRead       string `json:"date_read,omitzero"`
	HasAttachments bool   `json:"has_attachments"`
	ReplyToID      string `json:"reply_to_id,omitzero"`
	Tapback        string `json:"tapback,omitzero"`
	TapbackEmoji   string `json:"tapback_emoji,omitzero"`
	TapbackRemoved bool   `json:"tapback_removed,omitzero"`
	TapbackTarget  string `json:"tapback_target_id,omitzero"`
	EditedAt       string `json:"edited_at,omitzero"`
	Retracted      bool   `json:"retracted,omitzero"`
	Deleted        bool   `json:"recently_deleted,omitzero"`
	Event          string `json:"event,omitzero"`
	App            string `json:"app,omitzero"`
}

// maxText is how much of a text is kept.
const maxText = 256 << 10

// Places of the columns that messages are read from.
const (
	colID = iota
	colGUID
	colText
	colBody
	colSubject
	colService
	colDate
	colDelivered
	colRead
	colFromMe
	colAttached
	colItem
	colTitle
	colAction
	colTarget
	colTapback
	colEmoji
	colReply
	colEdited
	colRetracted
	colSummary
	colApp
	colHandle
	colChat
	colJoined
	colBin
)

// messages is the table of messages. A message may be in several chats, of which the first
// counts, or in none.
func (p *pass) messages() localdb.Table {
	columns := []string{"t.ROWID", "t.guid"}
	for _, name := range []string{
		"text", "attributedBody", "subject", "service", "date", "date_delivered", "date_read", "is_from_me", "cache_has_attachments", "item_type", "group_title",
		"group_action_type", "associated_message_guid", "associated_message_type", "associated_message_emoji", "thread_originator_guid", "date_edited",
		"date_retracted", "message_summary_info", "balloon_bundle_id",
	} {
		columns = append(columns, p.schema.Column("message", "t", name))
	}
	handle, chat, joined, bin, from := "NULL", "NULL", "NULL", "NULL", "FROM message t"
	if p.has("handle", "id") && p.has("message", "handle_id") {
		handle, from = "h.id", from+" LEFT JOIN handle h ON h.ROWID = t.handle_id"
	}
	if p.has("chat", "guid") && p.has("chat_message_join", "message_id") {
		chat = "(SELECT c.guid FROM chat_message_join j JOIN chat c ON c.ROWID = j.chat_id WHERE j.message_id = t.ROWID ORDER BY c.ROWID LIMIT 1)"
		if p.has("chat_message_join", "message_date") {
			joined = "(SELECT max(j.message_date) FROM chat_message_join j WHERE j.message_id = t.ROWID)"
		}
	}
	if p.has("chat", "guid") && p.has("chat_recoverable_message_join", "message_id") {
		bin = "(SELECT c.guid FROM chat_recoverable_message_join j JOIN chat c ON c.ROWID = j.chat_id WHERE j.message_id = t.ROWID ORDER BY c.ROWID LIMIT 1)"
	}
	columns = append(columns, handle, chat, joined, bin)
	largest := ""
	if p.has("sqlite_sequence", "seq") {
		largest = "SELECT seq FROM sqlite_sequence WHERE name = 'message'"
	}
	return localdb.Table{
		Name: "message", ID: "ROWID", Key: "guid", Largest: largest, Select: "SELECT " + strings.Join(columns, ", ") + " " + from,
		Recent: func(since time.Time) (string, []any) {
			seconds, nanoseconds := localdb.AppleSince(since)
			return "t.date >= ? OR t.date >= ? AND t.date < 100000000000", []any{max(nanoseconds, 100_000_000_000), seconds}
		},
		Row: p.row, Complete: p.attached,
	}
}

// row reads a row as it is, whatever its columns hold.
func (p *pass) row(rows *sql.Rows) (localdb.Row, error) {
	v, err := localdb.Values(rows)
	if err != nil {
		return localdb.Row{}, err
	}
	row := localdb.Row{ID: localdb.Number(v[colID]), Key: localdb.Text(v[colGUID]), At: localdb.Apple(v[colDate])}
	m := message{
		ID: idOf(row.Key, row.ID), Service: localdb.Text(v[colService]), IsFromMe: localdb.Number(v[colFromMe]) != 0,
		Subject: localdb.Text(v[colSubject]), HasAttachments: localdb.Number(v[colAttached]) != 0, ReplyToID: localdb.Text(v[colReply]),
		DateDelivered: localdb.Stamp(localdb.Apple(v[colDelivered])), DateRead: localdb.Stamp(localdb.Apple(v[colRead])),
		EditedAt: localdb.Stamp(localdb.Apple(v[colEdited])), App: localdb.Text(v[colApp]),
		ChatID: cmp.Or(localdb.Text(v[colChat]), localdb.Text(v[colBin])), Deleted: v[colBin] != nil && v[colChat] == nil,
	}
	if !m.IsFromMe {
		m.Handle = localdb.Text(v[colHandle])
	}
	sent := row.At
	for _, other := range []int{colJoined, colDelivered, colRead} { // a row that was never dated
		if sent.IsZero() {
			sent = localdb.Apple(v[other])
		}
	}
	if sent.IsZero() {
		row.Missing = string(reasonDate)
		return row, nil
	}
	m.Date = localdb.Stamp(sent)
	said(&m, v)
	row.Records = []localdb.Record{{Stream: "messages", Data: &m}}
	return row, nil
}

// idOf is the id of a thing: that which it has everywhere, or the number of its row.
func idOf(guid string, row int64) string { return cmp.Or(guid, fmt.Sprintf("rowid:%d", row)) }

// said fills in what the message says, by its kind.
func said(m *message, v []any) {
	changed := readSummary(localdb.Bytes(v[colSummary]))
	text := localdb.Text(v[colText])
	if text == "" {
		text, _ = bodyText(localdb.Bytes(v[colBody])) // a body that cannot be read has no text
	}
	if text = visible(text); text == "" {
		text = visible(changed.text)
	}
	m.Retracted = !localdb.Apple(v[colRetracted]).IsZero() || changed.taken && text == ""
	m.Kind = "message"
	code, item := localdb.Number(v[colTapback]), localdb.Number(v[colItem])
	switch {
	case code >= 2000 && code < 4000:
		m.Kind, m.Tapback, m.TapbackRemoved = "tapback", tapback(code%1000), code >= 3000
		m.TapbackEmoji, m.TapbackTarget = localdb.Text(v[colEmoji]), target(localdb.Text(v[colTarget]))
		text = "" // it repeats what it is about
	case item != 0:
		m.Kind, m.Event = "event", event(item, localdb.Number(v[colAction]))
		text = cmp.Or(text, localdb.Text(v[colTitle]))
	case code != 0:
		m.TapbackTarget = target(localdb.Text(v[colTarget])) // a sticker that was put on a message
	}
	kept := localfile.Excerpt{Limit: maxText}
	kept.Text(text)
	m.Text, m.TextCut = kept.Marked(), kept.Cut()
	m.Subject = localfile.Short(m.Subject, 2000)
}

// visible is a text without the marks that stand for what is attached.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\ufffc' || r == 0 {
			return -1
		}
		return r
	}, text)
}

var tapbacks = []string{"loved", "liked", "disliked", "laughed", "emphasized", "questioned", "emoji", "sticker"}

func tapback(code int64) string {
	if code < int64(len(tapbacks)) {
		return tapbacks[code]
	}
	return fmt.Sprintf("other_%d", code)
}

// target is the message that another one is about, without the part of it.
func target(guid string) string {
	if _, behind, found := strings.Cut(guid, "/"); found {
		return behind
	}
	return strings.TrimPrefix(guid, "bp:")
}

func event(item, action int64) string {
	switch {
	case item == 1 && action == 0:
		return "participant_added"
	case item == 1:
		return "participant_removed"
	case item == 2:
		return "renamed"
	case item == 3 && action == 0:
		return "left"
	case item == 3:
		return "photo_changed"
	}
	return fmt.Sprintf("item_%d", item)
}
