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

// macTables are the tables that WhatsApp keeps on a Mac, which count seconds since 2001.
type macTables struct{}

func readMacDatabase(ctx context.Context, f *localfile.File, _ *os.File, kept jsontext.Value) error {
	return readDatabase(ctx, f, kept, macTables{})
}

func (macTables) tableNames() []string {
	return []string{"ZWAMESSAGE", "ZWACHATSESSION", "ZWAGROUPMEMBER", "ZWAMEDIAITEM", "Z_PRIMARYKEY"}
}

func (macTables) missingTables(s localdb.Schema) bool {
	return !s.Has("ZWAMESSAGE", "ZMESSAGEDATE") || !s.Has("ZWAMESSAGE", "ZCHATSESSION") ||
		!s.Has("ZWACHATSESSION", "ZCONTACTJID")
}

// macMessageKinds are the kinds of messages by their numbers.
var macMessageKinds = map[int64]string{
	0: "message", 1: "image", 2: "video", 3: "audio", 4: "contact", 5: "location", 6: "event", 7: "link", 8: "file",
	10: "event", 11: "gif", 14: "deleted", 15: "sticker",
}

// Places of the columns that messages are read from.
const (
	macColumnID = iota
	macColumnStanza
	macColumnChat
	macColumnFromMe
	macColumnDate
	macColumnText
	macColumnType
	macColumnFrom
	macColumnPushName
	macColumnMember
	macMemberName
	macColumnMedia
	macMediaPath
	macMediaTitle
	macMediaSize
	macMediaType
)

func (macTables) messageTable(p *databasePass) localdb.Table {
	column := p.schema.Column
	columns := []string{
		"t.Z_PK", column("ZWAMESSAGE", "t", "ZSTANZAID"), "c.ZCONTACTJID", column("ZWAMESSAGE", "t", "ZISFROMME"),
		"t.ZMESSAGEDATE",
		column("ZWAMESSAGE", "t", "ZTEXT"), column("ZWAMESSAGE", "t", "ZMESSAGETYPE"), column("ZWAMESSAGE", "t", "ZFROMJID"),
		column("ZWAMESSAGE", "t", "ZPUSHNAME"),
	}
	from := " FROM ZWAMESSAGE t LEFT JOIN ZWACHATSESSION c ON c.Z_PK = t.ZCHATSESSION"
	member, name := "NULL", "NULL"
	if p.schema.Has("ZWAMESSAGE", "ZGROUPMEMBER") && p.schema.Has("ZWAGROUPMEMBER", "ZMEMBERJID") {
		member, name = "g.ZMEMBERJID", column("ZWAGROUPMEMBER", "g", "ZCONTACTNAME")
		from += " LEFT JOIN ZWAGROUPMEMBER g ON g.Z_PK = t.ZGROUPMEMBER"
	}
	media := []string{"NULL", "NULL", "NULL", "NULL", "NULL"}
	if p.schema.Has("ZWAMESSAGE", "ZMEDIAITEM") && p.schema.Has("ZWAMEDIAITEM", "ZMEDIALOCALPATH") {
		media = []string{
			"i.Z_PK", "i.ZMEDIALOCALPATH", column("ZWAMEDIAITEM", "i", "ZTITLE"), column("ZWAMEDIAITEM", "i", "ZFILESIZE"),
			column("ZWAMEDIAITEM", "i", "ZVCARDSTRING"),
		}
		from += " LEFT JOIN ZWAMEDIAITEM i ON i.Z_PK = t.ZMEDIAITEM"
	}
	columns = append(append(columns, member, name), media...)
	largest := ""
	if p.schema.Has("Z_PRIMARYKEY", "Z_MAX") {
		largest = "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'WAMessage'"
	}
	key := "ZSTANZAID"
	if !p.schema.Has("ZWAMESSAGE", key) {
		key = "Z_PK"
	}
	return localdb.Table{
		Name: "ZWAMESSAGE", ID: "Z_PK", Key: key, Largest: largest, Select: "SELECT " + strings.Join(columns, ", ") + from,
		Recent: func(since time.Time) (string, []any) {
			seconds, nanoseconds := localdb.AppleCounts(since)
			return "t.ZMESSAGEDATE >= ? AND t.ZMESSAGEDATE < 100000000000 OR t.ZMESSAGEDATE >= ?",
				[]any{seconds, max(nanoseconds, 100_000_000_000)}
		},
		Row: func(rows *sql.Rows) (localdb.Row, error) { return scanMacRow(rows, key == "Z_PK") },
	}
}

// scanMacRow reads a row as it is, whatever its columns hold.
func scanMacRow(rows *sql.Rows, numbered bool) (localdb.Row, error) {
	v, err := localdb.Values(rows)
	if err != nil {
		return localdb.Row{}, err
	}
	row := localdb.Row{ID: localdb.Number(v[macColumnID]), Key: localdb.ValueText(v[macColumnStanza]),
		At: localdb.AppleTime(v[macColumnDate])}
	if numbered {
		row.Key = fmt.Sprint(row.ID)
	}
	if row.At.IsZero() {
		row.Missing = string(reasonDate)
		return row, nil
	}
	chatID := cmp.Or(localdb.ValueText(v[macColumnChat]), "none")
	mine := localdb.Number(v[macColumnFromMe]) != 0
	m := &messageRecord{
		ID: messageID(chatID, localdb.ValueText(v[macColumnStanza]), row.ID), ChatID: chatID, IsFromMe: &mine,
		SentAt: localdb.RecordTime(row.At),
		Source: "mac",
		Kind: cmp.Or(macMessageKinds[localdb.Number(v[macColumnType])],
			fmt.Sprintf("type_%d", localdb.Number(v[macColumnType]))),
	}
	if !mine {
		m.AuthorID = cmp.Or(localdb.ValueText(v[macColumnMember]), localdb.ValueText(v[macColumnFrom]))
		m.Author = cmp.Or(localdb.ValueText(v[macMemberName]), readableName(localdb.ValueText(v[macColumnPushName])))
	}
	m.setBoundedText(localdb.ValueText(v[macColumnText]))
	row.Records = []localdb.Record{{Stream: "messages", Data: m}}
	if place := localdb.ValueText(v[macMediaPath]); v[macColumnMedia] != nil && place != "" {
		m.HasAttachment = true
		a := &attachment{
			ID:        m.ID + ":file",
			ChatID:    chatID,
			MessageID: m.ID,
			Filename: basePathName(
				cmp.Or(documentTitle(localdb.ValueText(v[macMediaTitle]), place), place),
			),
			Hydration: "deferred",
			Source:    "mac",
		}
		a.ContentType = cmp.Or(mediaTypeOf(localdb.ValueText(v[macMediaType])), contentType(place))
		if size := localdb.Number(v[macMediaSize]); size > 0 {
			a.SizeBytes = &size
		}
		if a.Filename != basePathName(place) && m.Content == "" && m.Kind != "file" {
			m.setBoundedText(localdb.ValueText(v[macMediaTitle])) // the words below a picture
			a.Filename = basePathName(place)
		}
		row.Records = append(row.Records, localdb.Record{Stream: "attachments", Data: a})
	}
	return row, nil
}

// documentTitle is the title of a document, where it is the name of a file.
func documentTitle(title, place string) string {
	if strings.Contains(title, ".") && !strings.ContainsAny(title, "\n/") && len(title) < 200 || title != "" &&
		place == "" {
		return title
	}
	return ""
}

// mediaTypeOf is a type, where the column holds one: it holds cards of people as well.
func mediaTypeOf(text string) string {
	if kind, rest, ok := strings.Cut(text, "/"); ok && kind != "" && rest != "" && len(text) < 100 &&
		!strings.ContainsAny(text, "\n :") {
		return text
	}
	return ""
}

// readableName returns a person's chosen name; the column also holds encoded values.
func readableName(text string) string {
	if len(text) > longestAuthor || strings.HasSuffix(text, "=") {
		return ""
	}
	return text
}

func (macTables) readChats(ctx context.Context, p *databasePass) ([]localdb.Record, error) {
	byID := map[int64]*chatRecord{}
	var list []localdb.Record
	column := p.schema.Column
	err := localdb.Query(ctx, p.db, func(v []any) {
		group := strings.HasSuffix(localdb.ValueText(v[1]), "@g.us")
		c := &chatRecord{
			ID:           localdb.ValueText(v[1]),
			Title:        cmp.Or(localdb.ValueText(v[2]), localdb.ValueText(v[1])),
			IsGroup:      &group,
			Participants: []string{},
			Source:       "mac",
		}
		if c.ID == "" {
			return
		}
		byID[localdb.Number(v[0])] = c
		list = append(list, localdb.Record{Stream: "chats", Data: c})
	}, "SELECT c.Z_PK, c.ZCONTACTJID, "+column("ZWACHATSESSION", "c",
		"ZPARTNERNAME")+" FROM ZWACHATSESSION c ORDER BY c.Z_PK")
	if err != nil || !p.schema.Has("ZWAGROUPMEMBER", "ZCHATSESSION") {
		return list, err
	}
	err = localdb.Query(ctx, p.db, func(v []any) {
		if c := byID[localdb.Number(v[0])]; c != nil {
			c.Participants = append(c.Participants, cmp.Or(localdb.ValueText(v[2]), localdb.ValueText(v[1])))
		}
	}, "SELECT g.ZCHATSESSION, "+column("ZWAGROUPMEMBER", "g", "ZMEMBERJID")+", "+column("ZWAGROUPMEMBER", "g",
		"ZCONTACTNAME")+" FROM ZWAGROUPMEMBER g ORDER BY g.ZCHATSESSION, g.Z_PK")
	return list, err
}
