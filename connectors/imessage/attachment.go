package imessage

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/pdpp-go/pdpp/connectorkit/localdb"
)

// attachment describes a file attached to a message, without its path on the disk.
type attachment struct {
	ID          string `json:"id"`
	MessageID   string `json:"message_id,omitzero"`
	ChatID      string `json:"chat_id,omitzero"`
	Filename    string `json:"filename"`
	ContentType string `json:"content_type"`
	SizeBytes   *int64 `json:"size_bytes,omitzero"`
	IsSticker   bool   `json:"is_sticker,omitzero"`
	CreatedAt   string `json:"created_at,omitzero"`
	Hydration   string `json:"hydration_status"`
}

// maxLooseAttachments bounds the attachments without a message in one read.
const maxLooseAttachments = 5000

func (p *databasePass) attachmentColumns() string {
	columns := []string{"a.ROWID"}
	for _, name := range []string{"guid", "filename", "transfer_name", "mime_type", "total_bytes", "is_sticker",
		"created_date"} {
		columns = append(columns, p.schema.Column("attachment", "a", name))
	}
	return strings.Join(columns, ", ")
}

// attachmentOf reads the columns.
func (p *databasePass) attachmentOf(v []any) attachment {
	place := localdb.ValueText(v[2])
	a := attachment{
		ID:          guidOrRowID(localdb.ValueText(v[1]), localdb.Number(v[0])),
		Filename:    cmp.Or(localdb.ValueText(v[3]), basePathName(place), "unnamed"),
		ContentType: cmp.Or(localdb.ValueText(v[4]), "application/octet-stream"),
		IsSticker:   localdb.Number(v[6]) != 0, CreatedAt: localdb.RecordTime(localdb.AppleTime(v[7])), Hydration: "missing",
	}
	a.Filename = basePathName(a.Filename)
	if size := localdb.Number(v[5]); size > 0 {
		a.SizeBytes = &size
	}
	if p.fileIsPresent(place) {
		a.Hydration = "deferred" // it is there, and its bytes are not collected
	}
	return a
}

// basePathName is the last part of a path of any system.
func basePathName(name string) string {
	return path.Base(strings.ReplaceAll(cmp.Or(name, "unnamed"), `\`, "/"))
}

// fileIsPresent reports whether the file is below the attachments folder.
func (p *databasePass) fileIsPresent(place string) bool {
	_, below, within := strings.Cut(place, "/Attachments/")
	if !within || p.files == nil {
		return false
	}
	info, err := p.files.Stat(filepath.FromSlash(path.Clean(below)))
	return err == nil && info.Mode().IsRegular()
}

// addAttachments adds attachments to their messages. An attachment of several messages belongs to the first.
func (p *databasePass) addAttachments(ctx context.Context, _ *sql.DB, rows []*localdb.Row) error {
	if !p.hasAttachments() {
		return nil
	}
	byID := map[int64]*localdb.Row{}
	var ids []any
	for _, row := range rows {
		byID[row.ID] = row
		ids = append(ids, row.ID)
	}
	err := localdb.Query(ctx, p.db, func(v []any) {
		row := byID[localdb.Number(v[len(v)-1])]
		if row == nil {
			return
		}
		a := p.attachmentOf(v[:len(v)-1])
		a.MessageID = guidOrRowID(row.Key, row.ID)
		if len(row.Records) > 0 {
			a.ChatID = row.Records[0].Data.(*messageRecord).ChatID
		}
		row.Records = append(row.Records, localdb.Record{Stream: "attachments", Data: &a})
	}, "SELECT "+p.attachmentColumns()+", j.message_id FROM message_attachment_join j JOIN attachment a ON a.ROWID = "+
		"j.attachment_id WHERE j.message_id IN ("+
		strings.TrimSuffix(strings.Repeat("?,", len(ids)),
			",")+") AND j.message_id = (SELECT min(o.message_id) FROM message_attachment_join o WHERE o.attachment_id = "+
		"a.ROWID) ORDER BY j.message_id, a.ROWID", ids...)
	if err != nil {
		return fmt.Errorf("read attachments: %w", err)
	}
	return nil
}

func (p *databasePass) hasAttachments() bool {
	return p.hasColumn("attachment", "filename") && p.hasColumn("message_attachment_join", "attachment_id")
}

// readLooseAttachments emits attachments without a message, or with a deleted one.
func (p *databasePass) readLooseAttachments(ctx context.Context) error {
	if !p.hasAttachments() {
		p.declareMissingPart("attachments", reasonNoAttached)
		return nil
	}
	var list []localdb.Record
	err := localdb.Query(ctx, p.db, func(v []any) {
		a := p.attachmentOf(v)
		list = append(list, localdb.Record{Stream: "attachments", Data: &a})
	}, "SELECT "+p.attachmentColumns()+" FROM attachment a WHERE NOT EXISTS (SELECT 1 FROM message_attachment_join j "+
		"JOIN message m ON m.ROWID = j.message_id "+
		fmt.Sprintf("WHERE j.attachment_id = a.ROWID) ORDER BY a.ROWID DESC LIMIT %d", maxLooseAttachments))
	if err != nil {
		return fmt.Errorf("read loose attachments: %w", err)
	}
	return p.emitFullList(ctx, list, &p.state.Loose)
}
