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

// messageRecord is a message, a tapback or an event of a group.
type messageRecord struct {
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

// maxTextBytes is the longest stored text.
const maxTextBytes = 256 << 10

// Places of the columns that messages are read from.
const (
	columnID = iota
	columnGUID
	columnText
	columnBody
	colSubject
	colService
	columnDate
	colDelivered
	columnRead
	columnFromMe
	colAttached
	columnItemType
	columnTitle
	columnAction
	columnTarget
	colTapback
	columnEmoji
	columnReply
	columnEdited
	colRetracted
	colSummary
	columnApp
	columnHandle
	columnChat
	columnJoined
	columnBinary
)

// messageTable describes the table of messages. A message may be in several chats, of which the first counts, or in
// none.
func (p *databasePass) messageTable() localdb.Table {
	columns := []string{"t.ROWID", "t.guid"}
	for _, name := range []string{
		"text", "attributedBody", "subject", "service", "date", "date_delivered", "date_read", "is_from_me",
		"cache_has_attachments", "item_type", "group_title",
		"group_action_type", "associated_message_guid", "associated_message_type", "associated_message_emoji",
		"thread_originator_guid", "date_edited",
		"date_retracted", "message_summary_info", "balloon_bundle_id",
	} {
		columns = append(columns, p.schema.Column("message", "t", name))
	}
	handle, chat, joined, bin, from := "NULL", "NULL", "NULL", "NULL", "FROM message t"
	if p.hasColumn("handle", "id") && p.hasColumn("message", "handle_id") {
		handle, from = "h.id", from+" LEFT JOIN handle h ON h.ROWID = t.handle_id"
	}
	if p.hasColumn("chat", "guid") && p.hasColumn("chat_message_join", "message_id") {
		chat = "(SELECT c.guid FROM chat_message_join j JOIN chat c ON c.ROWID = j.chat_id WHERE j.message_id = t.ROWID " +
			"ORDER BY c.ROWID LIMIT 1)"
		if p.hasColumn("chat_message_join", "message_date") {
			joined = "(SELECT max(j.message_date) FROM chat_message_join j WHERE j.message_id = t.ROWID)"
		}
	}
	if p.hasColumn("chat", "guid") && p.hasColumn("chat_recoverable_message_join", "message_id") {
		bin = "(SELECT c.guid FROM chat_recoverable_message_join j JOIN chat c ON c.ROWID = j.chat_id WHERE j.message_id = " +
			"t.ROWID ORDER BY c.ROWID LIMIT 1)"
	}
	columns = append(columns, handle, chat, joined, bin)
	largest := ""
	if p.hasColumn("sqlite_sequence", "seq") {
		largest = "SELECT seq FROM sqlite_sequence WHERE name = 'message'"
	}
	return localdb.Table{
		Name: "message", ID: "ROWID", Key: "guid", Largest: largest, Select: "SELECT " + strings.Join(columns, ", ") + " " +
			from,
		Recent: func(since time.Time) (string, []any) {
			seconds, nanoseconds := localdb.AppleCounts(since)
			return "t.date >= ? OR t.date >= ? AND t.date < 100000000000", []any{max(nanoseconds, 100_000_000_000), seconds}
		},
		Row: p.scanMessageRow, Complete: p.addAttachments,
	}
}

// scanMessageRow reads a row as it is, whatever its columns hold.
func (p *databasePass) scanMessageRow(rows *sql.Rows) (localdb.Row, error) {
	v, err := localdb.Values(rows)
	if err != nil {
		return localdb.Row{}, err
	}
	row := localdb.Row{ID: localdb.Number(v[columnID]), Key: localdb.ValueText(v[columnGUID]),
		At: localdb.AppleTime(v[columnDate])}
	m := messageRecord{
		ID:             guidOrRowID(row.Key, row.ID),
		Service:        localdb.ValueText(v[colService]),
		IsFromMe:       localdb.Number(v[columnFromMe]) != 0,
		Subject:        localdb.ValueText(v[colSubject]),
		HasAttachments: localdb.Number(v[colAttached]) != 0,
		ReplyToID:      localdb.ValueText(v[columnReply]),
		DateDelivered:  localdb.RecordTime(localdb.AppleTime(v[colDelivered])),
		DateRead:       localdb.RecordTime(localdb.AppleTime(v[columnRead])),
		EditedAt:       localdb.RecordTime(localdb.AppleTime(v[columnEdited])),
		App:            localdb.ValueText(v[columnApp]),
		ChatID: cmp.Or(
			localdb.ValueText(v[columnChat]),
			localdb.ValueText(v[columnBinary]),
		),
		Deleted: v[columnBinary] != nil &&
			v[columnChat] == nil,
	}
	if !m.IsFromMe {
		m.Handle = localdb.ValueText(v[columnHandle])
	}
	sent := row.At
	for _, other := range []int{columnJoined, colDelivered, columnRead} { // a row that was never dated
		if sent.IsZero() {
			sent = localdb.AppleTime(v[other])
		}
	}
	if sent.IsZero() {
		row.Missing = string(reasonDate)
		return row, nil
	}
	m.Date = localdb.RecordTime(sent)
	fillByKind(&m, v)
	row.Records = []localdb.Record{{Stream: "messages", Data: &m}}
	return row, nil
}

// guidOrRowID returns the GUID of an object, or its row number.
func guidOrRowID(guid string, row int64) string { return cmp.Or(guid, fmt.Sprintf("rowid:%d", row)) }

// fillByKind fills the members of a message that depend on its kind.
func fillByKind(m *messageRecord, v []any) {
	changed := readSummary(localdb.Bytes(v[colSummary]))
	text := localdb.ValueText(v[columnText])
	if text == "" {
		text, _ = attributedText(localdb.Bytes(v[columnBody])) // a body that cannot be read has no text
	}
	if text = visibleText(text); text == "" {
		text = visibleText(changed.text)
	}
	m.Retracted = !localdb.AppleTime(v[colRetracted]).IsZero() || changed.taken && text == ""
	m.Kind = "message"
	code, item := localdb.Number(v[colTapback]), localdb.Number(v[columnItemType])
	switch {
	case code >= 2000 && code < 4000:
		m.Kind, m.Tapback, m.TapbackRemoved = "tapback", tapbackName(code%1000), code >= 3000
		m.TapbackEmoji, m.TapbackTarget = localdb.ValueText(v[columnEmoji]), targetGUID(localdb.ValueText(v[columnTarget]))
		text = "" // it repeats what it is about
	case item != 0:
		m.Kind, m.Event = "event", groupEventName(item, localdb.Number(v[columnAction]))
		text = cmp.Or(text, localdb.ValueText(v[columnTitle]))
	case code != 0:
		m.TapbackTarget = targetGUID(localdb.ValueText(v[columnTarget])) // a sticker that was put on a message
	}
	kept := localfile.Excerpt{Limit: maxTextBytes}
	kept.Text(text)
	m.Text, m.TextCut = kept.Marked(), kept.Cut()
	m.Subject = localfile.ShortText(m.Subject, 2000)
}

// visibleText removes the placeholders of attachments from a text.
func visibleText(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\ufffc' || r == 0 {
			return -1
		}
		return r
	}, text)
}

var tapbackNames = []string{"loved", "liked", "disliked", "laughed", "emphasized", "questioned", "emoji", "sticker"}

func tapbackName(code int64) string {
	if code < int64(len(tapbackNames)) {
		return tapbackNames[code]
	}
	return fmt.Sprintf("other_%d", code)
}

// targetGUID is the message that another one is about, without the part of it.
func targetGUID(guid string) string {
	if _, behind, found := strings.Cut(guid, "/"); found {
		return behind
	}
	return strings.TrimPrefix(guid, "bp:")
}

func groupEventName(item, action int64) string {
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
