package imessage

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/localdb"
	"github.com/pdpp-go/pdpp/connectorkit/localfile"
	"github.com/pdpp-go/pdpp/protocol"
)

// Reasons of gaps.
const (
	reasonDate        protocol.Reason = "message_date_unusable"
	reasonNoChats     protocol.Reason = "chat_handle_join_table_missing"
	reasonNoAttached  protocol.Reason = "attachment_tables_missing"
	maxDatedByMessage                 = 100 // gaps of messages of one pass; the rest is counted
)

var errNoMessages = errors.New("the database has no messages of Messages")

// databaseReader reads a database. Its state lasts for one run.
type databaseReader struct {
	attachments string // the folder of what is attached; empty when it is that beside the database
}

// readerState is how far a database was read.
type readerState struct {
	Mark localdb.Mark `json:"mark"`
	// Chats and Loose are digests of the lists that were last sent: chats with their members, and attachments without a
	// message.
	Chats string `json:"chats,omitzero"`
	Loose string `json:"loose,omitzero"`
	// Lacking are the parts of the database that were declared as missing.
	Lacking []string `json:"lacking,omitempty"`
}

// databasePass is one reading of the database.
type databasePass struct {
	f       *localfile.File
	db      *sql.DB
	schema  localdb.Schema
	state   readerState
	files   *os.Root // nil when there is none
	undated int
}

func (d *databaseReader) readDatabase(ctx context.Context, f *localfile.File, _ *os.File, kept jsontext.Value) error {
	p := &databasePass{f: f}
	if len(kept) > 0 && json.Unmarshal(kept, &p.state) != nil {
		p.state = readerState{} // another version's: everything is read again
	}
	folder := d.attachments
	if folder == "" {
		folder = strings.TrimSuffix(f.Path, f.Rel) + "Attachments"
	}
	if root, err := os.OpenRoot(folder); err == nil {
		p.files = root
		defer root.Close()
	}
	if err := localdb.ReadDatabase(ctx, f.Path, p.readChanges); err != nil {
		return damageError(err)
	}
	f.SetState(p.state)
	return nil
}

// damageError marks a file that is no database of this program, and leaves temporary errors unchanged. Records that
// were already sent are kept.
func damageError(err error) error {
	if localdb.IsDamaged(err) || errors.Is(err, errNoMessages) {
		return &localfile.RefusedError{Reason: localfile.ReasonDamaged, Err: err}
	}
	return err
}

// readChanges reads new and changed rows. A further call continues where it stopped.
func (p *databasePass) readChanges(ctx context.Context, db *sql.DB) (err error) {
	p.db = db
	if err := localdb.CompareSchema(ctx, db, p.f.Sample(p.f.Store.Name, p.f.Store.Streams)); err != nil {
		return err
	}
	if p.schema, err = localdb.ReadSchema(ctx, db,
		"message", "handle", "chat", "chat_message_join", "chat_handle_join", "attachment", "message_attachment_join",
		"chat_recoverable_message_join", "sqlite_sequence",
	); err != nil {
		return err
	}
	if !p.hasColumn("message", "guid") || !p.hasColumn("message", "date") {
		return errNoMessages
	}
	if err := p.readChats(ctx); err != nil {
		return err
	}
	follower := localdb.Follower{DB: db, Table: p.messageTable(), Mark: &p.state.Mark, Now: p.f.Now(), Bring: p.emitRow,
		Place: p.savePosition}
	if err := follower.Follow(ctx); err != nil {
		return err
	}
	return p.readLooseAttachments(ctx)
}

func (p *databasePass) savePosition(ctx context.Context) error {
	return p.f.Place(ctx, func() any { return p.state })
}

// emitRow hands over a row.
func (p *databasePass) emitRow(row localdb.Row) {
	if row.Missing != "" {
		if p.undated++; p.undated > maxDatedByMessage {
			p.f.Skip(row.Missing)
			return
		}
		p.f.Gap(guidOrRowID(row.Key, row.ID), protocol.Reason(row.Missing), false, row.ID, 0)
		return
	}
	for _, rec := range row.Records {
		p.f.Emit(rec.Stream, connectorkit.Upsert(rec.Data))
		if m, ok := rec.Data.(*messageRecord); ok {
			p.f.Read(int64(len(m.Text)) + 200)
		}
	}
}

// hasColumn reports whether a table has a column.
func (p *databasePass) hasColumn(table, column string) bool { return p.schema.Has(table, column) }

// declareMissingPart declares, once, that this database has no such part.
func (p *databasePass) declareMissingPart(part string, reason protocol.Reason) {
	if !slices.Contains(p.state.Lacking, part) {
		p.state.Lacking = append(p.state.Lacking, part)
		p.f.Gap(part, reason, false, 0, 0)
	}
}

// emitFullList emits a list that is read as a whole, if it changed since the last run.
func (p *databasePass) emitFullList(ctx context.Context, list []localdb.Record, last *string) error {
	sum, err := localdb.Digest(list)
	if err != nil {
		return err
	}
	if sum == *last {
		return nil
	}
	for _, rec := range list {
		p.f.Emit(rec.Stream, connectorkit.Upsert(rec.Data))
	}
	*last = sum
	return p.savePosition(ctx)
}
