// Package audit writes down what was done: who, what, to which object, from which
// address, when, and how it ended. It takes names and counts, never content and never
// what opens something.
package audit

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/pdpp-go/pdpp/internal/keep/store"
)

// Outcome is how it ended.
type Outcome string

const (
	Done    Outcome = "done"
	Refused Outcome = "refused" // by a rule
	Failed  Outcome = "failed"  // by a fault
)

// Entry is what is to be written down. Who and from where comes from the context.
type Entry struct {
	Kind               Kind
	Outcome            Outcome // empty means Done
	Reason             string  // a code
	Object, ObjectName string
	Records            *int64
}

// Config is what a trail is made of.
type Config struct {
	Store store.Audit
	Now   func() time.Time
	// Log gets the lines about refused sign-ins, and what could not be written down;
	// nil means nobody.
	Log *slog.Logger
	// By is who acts when the context does not say.
	By Actor
}

// Trail writes entries. It is safe for concurrent use; a nil trail writes nothing.
type Trail struct {
	Config
	crowd crowd
	// refusing is held while a refusal is written: many are of strangers, and all together
	// they keep one connection to the database busy at most.
	refusing chan struct{}
}

// New makes a trail.
func New(c Config) *Trail {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.By.Kind == "" {
		c.By.Kind = Stranger
	}
	return &Trail{Config: c, refusing: make(chan struct{}, 1)}
}

// writeTime bounds the writing of an entry.
const writeTime = 5 * time.Second

// RefusedSignIn is the message of the log line about a refused sign-in. Programs that
// shut out addresses read it; docs/operations.md has its form.
const RefusedSignIn = "sign-in refused"

// Record writes an entry down. What happened has happened: whoever asked for it may be
// gone, and trouble with the trail is told to the log alone.
func (t *Trail) Record(ctx context.Context, e Entry) {
	if t == nil {
		return
	}
	by, ok := From(ctx)
	if !ok {
		by = t.By
	}
	if e.Outcome == "" {
		e.Outcome = Done
	}
	if e.Kind == SignIn && e.Outcome == Refused {
		t.Log.Warn(RefusedSignIn, "address", by.Address, "reason", e.Reason)
	}
	written, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
	defer cancel()
	if e.Outcome == Refused {
		select {
		case t.refusing <- struct{}{}:
			defer func() { <-t.refusing }()
		case <-written.Done(): // the writing fails, and says so
		}
	}
	if err := t.Store.AppendAudit(written, t.row(e, by)); err != nil {
		t.Log.ErrorContext(ctx, "an audit entry was not written", "kind", e.Kind, "outcome", e.Outcome, "error", err)
	}
}

// ReadBy is the entry about a read by the grant that acts in a context, for a store that
// counts the read in the same transaction; nil when nobody has said who acts.
func ReadBy(ctx context.Context, stream string, records int64, now time.Time) *store.AuditEntry {
	by, ok := From(ctx)
	if !ok {
		return nil
	}
	row := rowOf(Entry{Kind: Read, Outcome: Done, Object: stream, Records: &records}, by, now)
	return &row
}

func (t *Trail) row(e Entry, by Actor) store.AuditEntry {
	now := t.Now()
	row := rowOf(e, by, now)
	if by.Kind == Stranger {
		row.Address = t.crowd.address(row.Address, now)
	}
	return row
}

func rowOf(e Entry, by Actor, now time.Time) store.AuditEntry {
	return store.AuditEntry{
		At: now, Kind: string(e.Kind), Outcome: string(e.Outcome), Reason: clean(e.Reason),
		Actor: string(by.Kind), ActorID: clean(by.ID), ActorName: clean(by.Name), Address: clean(by.Address),
		Object: clean(e.Object), ObjectName: clean(e.ObjectName), Times: 1, Records: e.Records,
		// Whoever is refused can go on for as long as they like, and an app may read all day.
		Folded: e.Outcome == Refused || e.Kind == Read,
	}
}

// maxText bounds each name of an entry, in characters.
const maxText = 200

// clean bounds a name and takes out what is no text.
func clean(name string) string {
	return text.Cut(text.Line(strings.ReplaceAll(strings.ToValidUTF8(name, " "), string(unicode.ReplacementChar), " ")), maxText)
}

// ManyAddresses stands for the addresses of strangers beyond maxStrangers a minute.
const (
	ManyAddresses = "many addresses"
	maxStrangers  = 60
)

// crowd bounds how many entries strangers can make in a minute, however many addresses
// they have.
type crowd struct {
	mu     sync.Mutex
	minute time.Time
	seen   map[string]struct{}
}

func (c *crowd) address(address string, now time.Time) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if minute := now.Truncate(time.Minute); !minute.Equal(c.minute) || c.seen == nil {
		c.minute, c.seen = minute, map[string]struct{}{}
	}
	if _, ok := c.seen[address]; !ok && len(c.seen) >= maxStrangers {
		return ManyAddresses
	}
	c.seen[address] = struct{}{}
	return address
}
