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

// state is how far a database was read.
type state struct {
	Mark  localdb.Mark `json:"mark"`
	Chats string       `json:"chats,omitzero"` // digest of all chats
}

// pass is one reading of a database.
type pass struct {
	f       *localfile.File
	db      *sql.DB
	schema  localdb.Schema
	state   state
	undated int
}

// tables is how one system keeps its messages.
type tables interface {
	// names are the tables that are looked for; the first has the messages.
	names() []string
	// missing reports whether there are no messages to read.
	missing(s localdb.Schema) bool
	messages(p *pass) localdb.Table
	chats(ctx context.Context, p *pass) ([]localdb.Record, error)
}

func read(ctx context.Context, f *localfile.File, kept jsontext.Value, t tables) error {
	p := &pass{f: f}
	if len(kept) > 0 && json.Unmarshal(kept, &p.state) != nil {
		p.state = state{} // another version's: everything is read again
	}
	err := localdb.Read(ctx, f.Path, func(ctx context.Context, db *sql.DB) error { return p.pass(ctx, db, t) })
	if err != nil {
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
func (p *pass) pass(ctx context.Context, db *sql.DB, t tables) (err error) {
	p.db = db
	if err := localdb.Compare(ctx, db, p.f.Sample(p.f.Store.Name, p.f.Store.Streams)); err != nil {
		return err
	}
	if p.schema, err = localdb.SchemaOf(ctx, db, t.names()...); err != nil {
		return err
	}
	if t.missing(p.schema) {
		return errNoMessages
	}
	chats, err := t.chats(ctx, p)
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
		if err := p.place(ctx); err != nil {
			return err
		}
	}
	follower := localdb.Follower{DB: db, Table: t.messages(p), Mark: &p.state.Mark, Now: p.f.Now(), Bring: p.bring, Place: p.place}
	return follower.Follow(ctx)
}

func (p *pass) place(ctx context.Context) error {
	return p.f.Place(ctx, func() any { return p.state })
}

// bring hands over a row.
func (p *pass) bring(row localdb.Row) {
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
		if m, ok := rec.Data.(*message); ok {
			p.f.Read(int64(len(m.Content)) + 200)
		}
	}
}

// idOf is the id of a message: its chat and what the network calls it, which is the same on
// every device; where that is missing, the number of its row.
func idOf(chat, stanza string, row int64) string {
	if stanza == "" {
		return fmt.Sprintf("%s:row-%d", chat, row)
	}
	return chat + ":" + stanza
}

// keep puts a text into a message, cut and marked when it is too long.
func (m *message) keep(text string) {
	kept := localfile.Excerpt{Limit: maxText}
	kept.Text(text)
	m.Content, m.ContentCut = kept.Marked(), kept.Cut()
}

// base is the last part of a path.
func base(name string) string { return path.Base(strings.ReplaceAll(name, `\`, "/")) }
