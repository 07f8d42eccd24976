package whatsapp

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit/localdb"
	"github.com/pdpp-go/pdpp/connectorkit/localfile"
)

// androidTables are the tables of a phone, decrypted by its owner, which count milliseconds since
// 1970.
type androidTables struct{}

func readAndroid(ctx context.Context, f *localfile.File, _ *os.File, kept jsontext.Value) error {
	return readDatabase(ctx, f, kept, androidTables{})
}

func (androidTables) tableNames() []string {
	return []string{"message", "chat", "jid", "message_media", "sqlite_sequence"}
}

func (androidTables) missingTables(s localdb.Schema) bool {
	return !s.Has("message", "key_id") || !s.Has("message", "timestamp") || !s.Has("chat", "jid_row_id") ||
		!s.Has("jid", "raw_string")
}

// androidKinds are the kinds of messages by their numbers.
var androidKinds = map[int64]string{
	0: "message", 1: "image", 2: "audio", 3: "video", 4: "contact", 5: "location", 7: "event", 9: "file", 13: "gif",
	15: "deleted", 16: "location", 20: "sticker", 90: "event",
}

func (androidTables) messageTable(p *databasePass) localdb.Table {
	column := p.schema.Column
	columns := []string{
		"t._id", "t.key_id", "cj.raw_string", column("message", "t", "from_me"), "t.timestamp",
		column("message", "t", "text_data"), column("message", "t", "message_type"),
	}
	from := " FROM message t LEFT JOIN chat c ON c._id = t.chat_row_id LEFT JOIN jid cj ON cj._id = c.jid_row_id"
	sender := "NULL"
	if p.schema.Has("message", "sender_jid_row_id") {
		sender, from = "sj.raw_string", from+" LEFT JOIN jid sj ON sj._id = t.sender_jid_row_id"
	}
	media := []string{"NULL", "NULL", "NULL", "NULL"}
	if p.schema.Has("message_media", "message_row_id") {
		media = []string{
			column("message_media", "m", "file_path"), column("message_media", "m", "media_name"),
			column("message_media", "m", "mime_type"), column("message_media", "m", "file_length"),
		}
		from += " LEFT JOIN message_media m ON m.message_row_id = t._id"
	}
	columns = append(append(columns, sender), media...)
	largest := ""
	if p.schema.Has("sqlite_sequence", "seq") {
		largest = "SELECT seq FROM sqlite_sequence WHERE name = 'message'"
	}
	return localdb.Table{
		Name: "message", ID: "_id", Key: "key_id", Largest: largest, Select: "SELECT " + strings.Join(columns, ", ") + from,
		Recent: func(since time.Time) (string, []any) { return "t.timestamp >= ?", []any{since.UnixMilli()} },
		Row:    androidRow,
	}
}

func androidRow(rows *sql.Rows) (localdb.Row, error) {
	v, err := localdb.Values(rows)
	if err != nil {
		return localdb.Row{}, err
	}
	row := localdb.Row{ID: localdb.Number(v[0]), Key: localdb.ValueText(v[1])}
	if at := time.UnixMilli(localdb.Number(v[4])).UTC(); at.Year() >= 2009 && at.Year() < 2200 {
		row.At = at
	} else {
		row.Missing = string(reasonDate)
		return row, nil
	}
	chatID := cmp.Or(localdb.ValueText(v[2]), "none")
	mine := localdb.Number(v[3]) != 0
	m := &messageRecord{
		ID: messageID(chatID, row.Key, row.ID), ChatID: chatID, IsFromMe: &mine, SentAt: localdb.RecordTime(row.At),
		Source: "android",
		Kind:   cmp.Or(androidKinds[localdb.Number(v[6])], fmt.Sprintf("type_%d", localdb.Number(v[6]))),
	}
	if !mine {
		m.AuthorID = localdb.ValueText(v[7])
		if m.AuthorID == "" && !strings.HasSuffix(chatID, "@g.us") {
			m.AuthorID = chatID // a chat of two names the other one
		}
	}
	m.setBoundedText(localdb.ValueText(v[5]))
	row.Records = []localdb.Record{{Stream: "messages", Data: m}}
	if place := cmp.Or(localdb.ValueText(v[9]), localdb.ValueText(v[8])); place != "" {
		m.HasAttachment = true
		a := &attachment{
			ID: m.ID + ":file", ChatID: chatID, MessageID: m.ID, Filename: basePathName(place),
			ContentType: cmp.Or(mediaTypeOf(localdb.ValueText(v[10])), contentType(place)),
			Hydration:   "deferred", Source: "android",
		}
		if size := localdb.Number(v[11]); size > 0 {
			a.SizeBytes = &size
		}
		row.Records = append(row.Records, localdb.Record{Stream: "attachments", Data: a})
	}
	return row, nil
}

func (androidTables) readChats(ctx context.Context, p *databasePass) ([]localdb.Record, error) {
	var list []localdb.Record
	err := localdb.Query(ctx, p.db, func(v []any) {
		group := strings.HasSuffix(localdb.ValueText(v[0]), "@g.us")
		c := &chatRecord{
			ID:           localdb.ValueText(v[0]),
			Title:        cmp.Or(localdb.ValueText(v[1]), localdb.ValueText(v[0])),
			IsGroup:      &group,
			Participants: []string{},
			Source:       "android",
		}
		if c.ID != "" {
			list = append(list, localdb.Record{Stream: "chats", Data: c})
		}
	}, "SELECT j.raw_string, "+p.schema.Column("chat", "c",
		"subject")+" FROM chat c JOIN jid j ON j._id = c.jid_row_id ORDER BY c._id")
	return list, err
}
