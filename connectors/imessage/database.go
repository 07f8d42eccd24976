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

// database is the reader of a database. What it knows lasts for one run.
type database struct {
	attachments string // the folder of what is attached; empty when it is that beside the database
}

// state is how far a database was read.
type state struct {
	Mark localdb.Mark `json:"mark"`
	// Chats and Loose are digests of what was last brought as a whole: chats with who takes
	// part in them, and what is attached to no message.
	Chats string `json:"chats,omitzero"`
	Loose string `json:"loose,omitzero"`
	// Lacking are the parts of the database that were declared as missing.
	Lacking []string `json:"lacking,omitempty"`
}

// pass is one reading of the database.
type pass struct {
	f       *localfile.File
	db      *sql.DB
	schema  localdb.Schema
	state   state
	files   *os.Root // nil when there is none
	undated int
}

func (d *database) read(ctx context.Context, f *localfile.File, _ *os.File, kept jsontext.Value) error {
	p := &pass{f: f}
	if len(kept) > 0 && json.Unmarshal(kept, &p.state) != nil {
		p.state = state{} // another version's: everything is read again
	}
	folder := d.attachments
	if folder == "" {
		folder = strings.TrimSuffix(f.Path, f.Rel) + "Attachments"
	}
	if root, err := os.OpenRoot(folder); err == nil {
		p.files = root
		defer root.Close()
	}
	if err := localdb.Read(ctx, f.Path, p.pass); err != nil {
		return damage(err)
	}
	f.SetState(p.state)
	return nil
}

// damage tells a file that is no database, or none of this program, from one that cannot be
// read now. What was brought of it is kept.
func damage(err error) error {
	if localdb.Damaged(err) || errors.Is(err, errNoMessages) {
		return &localfile.RefusedError{Reason: localfile.ReasonDamaged, Err: err}
	}
	return err
}

// pass reads what is new and what changed. It goes on where it was when it is called again.
func (p *pass) pass(ctx context.Context, db *sql.DB) (err error) {
	p.db = db
	if err := localdb.Compare(ctx, db, p.f.Sample(p.f.Store.Name, p.f.Store.Streams)); err != nil {
		return err
	}
	if p.schema, err = localdb.SchemaOf(ctx, db,
		"message", "handle", "chat", "chat_message_join", "chat_handle_join", "attachment", "message_attachment_join", "chat_recoverable_message_join", "sqlite_sequence",
	); err != nil {
		return err
	}
	if !p.has("message", "guid") || !p.has("message", "date") {
		return errNoMessages
	}
	if err := p.chats(ctx); err != nil {
		return err
	}
	follower := localdb.Follower{DB: db, Table: p.messages(), Mark: &p.state.Mark, Now: p.f.Now(), Bring: p.bring, Place: p.place}
	if err := follower.Follow(ctx); err != nil {
		return err
	}
	return p.loose(ctx)
}

func (p *pass) place(ctx context.Context) error {
	return p.f.Place(ctx, func() any { return p.state })
}

// bring hands over a row.
func (p *pass) bring(row localdb.Row) {
	if row.Missing != "" {
		if p.undated++; p.undated > maxDatedByMessage {
			p.f.Skip(row.Missing)
			return
		}
		p.f.Gap(idOf(row.Key, row.ID), protocol.Reason(row.Missing), false, row.ID, 0)
		return
	}
	for _, rec := range row.Records {
		p.f.Emit(rec.Stream, connectorkit.Upsert(rec.Data))
		if m, ok := rec.Data.(*message); ok {
			p.f.Read(int64(len(m.Text)) + 200)
		}
	}
}

// has reports whether a table has a column.
func (p *pass) has(table, column string) bool { return p.schema.Has(table, column) }

// lacks declares, once, that this database has no such part.
func (p *pass) lacks(part string, reason protocol.Reason) {
	if !slices.Contains(p.state.Lacking, part) {
		p.state.Lacking = append(p.state.Lacking, part)
		p.f.Gap(part, reason, false, 0, 0)
	}
}

// whole brings a list that is read as a whole, if it is another than the last time.
func (p *pass) whole(ctx context.Context, list []localdb.Record, last *string) error {
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
	return p.place(ctx)
}
