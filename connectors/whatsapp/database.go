package whatsapp

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/localdb"
	"github.com/pdpp-go/pdpp/connectorkit/localfile"
	"github.com/pdpp-go/pdpp/protocol"
)

const reasonDate protocol.Reason = "message_date_unusable"

// maxUndated bounds the gaps of one pass; the rest is counted.
const maxUndated = 100

var errNoMessages = errors.New("the database has no messages of WhatsApp")

// readerState is how far a database was read.
type readerState struct {
	Mark  localdb.Mark `json:"mark"`
	Chats string       `json:"chats,omitzero"` // digest of all chats
}

// databasePass is one reading of a database.
type databasePass struct {
	f       *localfile.File
	db      *sql.DB
	schema  localdb.Schema
	state   readerState
	undated int
}

// databaseTables is how one system keeps its messages.
type databaseTables interface {
	// tableNames are the tables that are looked for; the first has the messages.
	tableNames() []string
	// missingTables reports whether there are no messages to read.
	missingTables(s localdb.Schema) bool
	messageTable(p *databasePass) localdb.Table
	readChats(ctx context.Context, p *databasePass) ([]localdb.Record, error)
}

func readDatabase(ctx context.Context, f *localfile.File, kept jsontext.Value, t databaseTables) error {
	p := &databasePass{f: f}
	if len(kept) > 0 && json.Unmarshal(kept, &p.state) != nil {
		p.state = readerState{} // another version's: everything is read again
	}
	err := localdb.ReadDatabase(ctx, f.Path,
		func(ctx context.Context, db *sql.DB) error { return p.readChanges(ctx, db, t) })
	if err != nil {
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
func (p *databasePass) readChanges(ctx context.Context, db *sql.DB, t databaseTables) (err error) {
	p.db = db
	if err := localdb.CompareSchema(ctx, db, p.f.Sample(p.f.Store.Name, p.f.Store.Streams)); err != nil {
		return err
	}
	if p.schema, err = localdb.ReadSchema(ctx, db, t.tableNames()...); err != nil {
		return err
	}
	if t.missingTables(p.schema) {
		return errNoMessages
	}
	chats, err := t.readChats(ctx, p)
	if err != nil {
		return fmt.Errorf("read chats: %w", err)
	}
	sum, err := localdb.Digest(chats)
	if err != nil {
		return err
	}
	if sum != p.state.Chats {
		for _, rec := range chats {
			p.f.Emit(rec.Stream, connectorkit.Upsert(rec.Data))
		}
		p.state.Chats = sum
		if err := p.savePosition(ctx); err != nil {
			return err
		}
	}
	follower := localdb.Follower{DB: db, Table: t.messageTable(p), Mark: &p.state.Mark, Now: p.f.Now(), Bring: p.emitRow,
		Place: p.savePosition}
	return follower.Follow(ctx)
}

func (p *databasePass) savePosition(ctx context.Context) error {
	return p.f.Place(ctx, func() any { return p.state })
}

// emitRow hands over a row.
func (p *databasePass) emitRow(row localdb.Row) {
	if row.Missing != "" {
		if p.undated++; p.undated > maxUndated {
			p.f.Skip(row.Missing)
			return
		}
		p.f.Gap(fmt.Sprintf("row-%d", row.ID), protocol.Reason(row.Missing), false, row.ID, 0)
		return
	}
	for _, rec := range row.Records {
		p.f.Emit(rec.Stream, connectorkit.Upsert(rec.Data))
		if m, ok := rec.Data.(*messageRecord); ok {
			p.f.Read(int64(len(m.Content)) + 200)
		}
	}
}

// messageID is the id of a message: its chat and what the network calls it, which is the same on
// every device; where that is missing, the number of its row.
func messageID(chat, stanza string, row int64) string {
	if stanza == "" {
		return fmt.Sprintf("%s:row-%d", chat, row)
	}
	return chat + ":" + stanza
}

// setBoundedText puts a text into a message, cut and marked when it is too long.
func (m *messageRecord) setBoundedText(text string) {
	kept := localfile.Excerpt{Limit: maxTextBytes}
	kept.Text(text)
	m.Content, m.ContentCut = kept.Marked(), kept.Cut()
}

// basePathName is the last part of a path.
func basePathName(name string) string { return path.Base(strings.ReplaceAll(name, `\`, "/")) }
