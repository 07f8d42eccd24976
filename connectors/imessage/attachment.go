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

// attachment is what is known of a file that is attached to a message. Where it lies on the
// disk is not told.
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

// maxLoose bounds what is attached to no message and read at once.
const maxLoose = 5000

func (p *pass) attachmentColumns() string {
	columns := []string{"a.ROWID"}
	for _, name := range []string{"guid", "filename", "transfer_name", "mime_type", "total_bytes", "is_sticker", "created_date"} {
		columns = append(columns, p.schema.Column("attachment", "a", name))
	}
	return strings.Join(columns, ", ")
}

// attachmentOf reads the columns.
func (p *pass) attachmentOf(v []any) attachment {
	place := localdb.Text(v[2])
	a := attachment{
		ID:       idOf(localdb.Text(v[1]), localdb.Number(v[0])),
		Filename: cmp.Or(localdb.Text(v[3]), base(place), "unnamed"), ContentType: cmp.Or(localdb.Text(v[4]), "application/octet-stream"),
		IsSticker: localdb.Number(v[6]) != 0, CreatedAt: localdb.Stamp(localdb.Apple(v[7])), Hydration: "missing",
	}
	a.Filename = base(a.Filename)
	if size := localdb.Number(v[5]); size > 0 {
		a.SizeBytes = &size
	}
	if p.present(place) {
		a.Hydration = "deferred" // it is there, and its bytes are not collected
	}
	return a
}

// base is the last part of a path of any system.
func base(name string) string {
	return path.Base(strings.ReplaceAll(cmp.Or(name, "unnamed"), `\`, "/"))
}

// present reports whether the file lies below the folder of what is attached.
func (p *pass) present(place string) bool {
	_, below, within := strings.Cut(place, "/Attachments/")
	if !within || p.files == nil {
		return false
	}
	info, err := p.files.Stat(filepath.FromSlash(path.Clean(below)))
	return err == nil && info.Mode().IsRegular()
}

// attached adds to messages what is attached to them. What is attached to several belongs
// to the first.
func (p *pass) attached(ctx context.Context, _ *sql.DB, rows []*localdb.Row) error {
	if !p.attaches() {
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
		a.MessageID = idOf(row.Key, row.ID)
		if len(row.Records) > 0 {
			a.ChatID = row.Records[0].Data.(*message).ChatID
		}
		row.Records = append(row.Records, localdb.Record{Stream: "attachments", Data: &a})
	}, "SELECT "+p.attachmentColumns()+", j.message_id FROM message_attachment_join j JOIN attachment a ON a.ROWID = j.attachment_id WHERE j.message_id IN ("+
		strings.TrimSuffix(strings.Repeat("?,", len(ids)), ",")+") AND j.message_id = (SELECT min(o.message_id) FROM message_attachment_join o WHERE o.attachment_id = a.ROWID) ORDER BY j.message_id, a.ROWID", ids...)
	if err != nil {
		return fmt.Errorf("read what is attached: %w", err)
	}
	return nil
}

func (p *pass) attaches() bool {
	return p.has("attachment", "filename") && p.has("message_attachment_join", "attachment_id")
}

// loose brings what is attached to no message, or to one that is gone.
func (p *pass) loose(ctx context.Context) error {
	if !p.attaches() {
		p.lacks("attachments", reasonNoAttached)
		return nil
	}
	var list []localdb.Record
	err := localdb.Query(ctx, p.db, func(v []any) {
		a := p.attachmentOf(v)
		list = append(list, localdb.Record{Stream: "attachments", Data: &a})
	}, "SELECT "+p.attachmentColumns()+" FROM attachment a WHERE NOT EXISTS (SELECT 1 FROM message_attachment_join j JOIN message m ON m.ROWID = j.message_id "+
		fmt.Sprintf("WHERE j.attachment_id = a.ROWID) ORDER BY a.ROWID DESC LIMIT %d", maxLoose))
	if err != nil {
		return fmt.Errorf("read what is attached to nothing: %w", err)
	}
	return p.whole(ctx, list, &p.state.Loose)
}
