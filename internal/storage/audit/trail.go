// Package audit records what was done: who, what, to which object, from which address, when, and with what outcome.
// It stores names and counts, but no content and no secrets.
package audit

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// Outcome is how an action ended.
type Outcome string

const (
	Succeeded Outcome = "done"
	Refused   Outcome = "refused" // by a rule
	Failed    Outcome = "failed"  // by an error
)

// Entry is one action to record. The context provides the actor and the address.
type Entry struct {
	Kind               ActionKind
	Outcome            Outcome // empty means Succeeded
	Reason             string  // a code
	Object, ObjectName string
	Records            *int64
}

// Config configures a trail.
type Config struct {
	Store store.Audit
	Now   func() time.Time
	// Log receives lines about refused sign-ins, and errors of the trail itself. Nil discards them.
	Log *slog.Logger
	// By is the actor when the context has none.
	By Actor
}

// Trail writes entries. It is safe for concurrent use; a nil trail writes nothing.
type Trail struct {
	Config
	crowd rateGroup
	// refusalSlot is held while a refusal is written. Most refusals come from unknown callers, and all of them
	// together use at most one database connection.
	refusalSlot chan struct{}
}

// New returns a trail.
func New(c Config) *Trail {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.By.Kind == "" {
		c.By.Kind = UnknownActor
	}
	return &Trail{Config: c, refusalSlot: make(chan struct{}, 1)}
}

// writeTimeout bounds the writing of an entry.
const writeTimeout = 5 * time.Second

// RefusedSignIn is the message of the log line about a refused sign-in. Programs that block addresses read it;
// docs/operate/audit.md describes its form.
const RefusedSignIn = "sign-in refused"

// Record writes an entry, even after the caller's context has ended. Errors go only to the log, because the action
// has already happened.
func (t *Trail) Record(ctx context.Context, e Entry) {
	if t == nil {
		return
	}
	by, ok := ActorFrom(ctx)
	if !ok {
		by = t.By
	}
	if e.Outcome == "" {
		e.Outcome = Succeeded
	}
	if e.Kind == SignIn && e.Outcome == Refused {
		t.Log.Warn(RefusedSignIn, "address", by.Address, "reason", e.Reason)
	}
	written, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
	defer cancel()
	if e.Outcome == Refused {
		select {
		case t.refusalSlot <- struct{}{}:
			defer func() { <-t.refusalSlot }()
		case <-written.Done(): // the write below fails and logs it
		}
	}
	if err := t.Store.AppendAudit(written, t.entryRow(e, by)); err != nil {
		t.Log.ErrorContext(ctx, "an audit entry was not written", "kind", e.Kind, "outcome", e.Outcome, "error", err)
	}
}

// ReadBy returns the entry for a read by the grant in the context, for a store that counts the read in the same
// transaction. It returns nil when the context has no actor.
func ReadBy(ctx context.Context, stream string, records int64, now time.Time) *store.AuditEntry {
	by, ok := ActorFrom(ctx)
	if !ok {
		return nil
	}
	row := newEntryRow(Entry{Kind: Read, Outcome: Succeeded, Object: stream, Records: &records}, by, now)
	return &row
}

func (t *Trail) entryRow(e Entry, by Actor) store.AuditEntry {
	now := t.Now()
	row := newEntryRow(e, by, now)
	if by.Kind == UnknownActor {
		row.Address = t.crowd.address(row.Address, now)
	}
	return row
}

func newEntryRow(e Entry, by Actor, now time.Time) store.AuditEntry {
	return store.AuditEntry{
		At: now, Kind: string(e.Kind), Outcome: string(e.Outcome), Reason: cleanName(e.Reason),
		Actor: string(by.Kind), ActorID: cleanName(by.ID), ActorName: cleanName(by.Name), Address: cleanName(by.Address),
		Object: cleanName(e.Object), ObjectName: cleanName(e.ObjectName), Times: 1, Records: e.Records,
		// Refused callers may repeat without limit, and an app may read all day.
		Folded: e.Outcome == Refused || e.Kind == Read,
	}
}

// maxNameLength bounds each name of an entry, in characters.
const maxNameLength = 200

// cleanName truncates a name and removes control characters.
func cleanName(name string) string {
	return text.Cut(text.Line(strings.ReplaceAll(strings.ToValidUTF8(name, " "), string(unicode.ReplacementChar), " ")),
		maxNameLength)
}

// ManyAddresses replaces the addresses of unknown callers beyond maxUnknownAddresses per minute.
const (
	ManyAddresses       = "many addresses"
	maxUnknownAddresses = 60
)

// rateGroup bounds how many different entries unknown callers can create per minute, from any number of addresses.
type rateGroup struct {
	mu     sync.Mutex
	minute time.Time
	seen   map[string]struct{}
}

func (c *rateGroup) address(address string, now time.Time) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if minute := now.Truncate(time.Minute); !minute.Equal(c.minute) || c.seen == nil {
		c.minute, c.seen = minute, map[string]struct{}{}
	}
	if _, ok := c.seen[address]; !ok && len(c.seen) >= maxUnknownAddresses {
		return ManyAddresses
	}
	c.seen[address] = struct{}{}
	return address
}
