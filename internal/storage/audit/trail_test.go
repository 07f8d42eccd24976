package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// kept is a trail in memory.
type kept struct {
	store.Audit
	entries []store.AuditEntry
	err     error
}

func (k *kept) AppendAudit(ctx context.Context, e store.AuditEntry) error {
	if k.err == nil && ctx.Err() == nil {
		k.entries = append(k.entries, e)
	}
	return errors.Join(k.err, ctx.Err())
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func newTrail(k *kept, log *slog.Logger) *Trail {
	return New(Config{Store: k, Now: func() time.Time { return noon }, Log: log})
}

func TestEntryNamesItsActor(t *testing.T) {
	k := &kept{}
	trail := newTrail(k, nil)
	ctx, cancel := context.WithCancel(WithActor(t.Context(),
		Actor{Kind: OwnerToken, ID: "ot_1", Name: "Laptop", Address: "192.0.2.7"}))
	cancel() // the caller has gone
	trail.Record(ctx, Entry{Kind: TokenEnd, Object: "ot_2", ObjectName: "Phone"})
	trail.Record(t.Context(), Entry{Kind: Export, Outcome: Failed, Reason: "disk_full"})
	want := []store.AuditEntry{
		{At: noon, Kind: "token_end", Outcome: "done", Actor: "owner_token", ActorID: "ot_1", ActorName: "Laptop",
			Address: "192.0.2.7", Object: "ot_2", ObjectName: "Phone", Times: 1},
		{At: noon, Kind: "export", Outcome: "failed", Reason: "disk_full", Actor: "stranger", Times: 1},
	}
	if fmt.Sprint(k.entries) != fmt.Sprint(want) {
		t.Errorf("got  %+v\nwant %+v", k.entries, want)
	}
	(*Trail)(nil).Record(ctx, Entry{Kind: SignIn}) // a nil trail
}

func TestHostileNamesAreBoundedText(t *testing.T) {
	k := &kept{}
	newTrail(k, nil).Record(WithActor(t.Context(),
		Actor{Kind: Grant, Name: "a\x1b[31m\n\x1fb\u202e\xff" + strings.Repeat("é", 500)}), Entry{Kind: ConsentGive})
	name := k.entries[0].ActorName
	if strings.ContainsAny(name, "\x1b\n\x1f\u202e") || !utf8.ValidString(name) ||
		utf8.RuneCountInString(name) != maxNameLength || !strings.HasPrefix(name, "a [31m b") {
		t.Errorf("%q", name)
	}
}

// TestUnknownCallersAreBounded checks that any number of unknown callers create a bounded number of entries.
func TestUnknownCallersAreBounded(t *testing.T) {
	k := &kept{}
	trail := newTrail(k, nil)
	for i := range 10 * maxUnknownAddresses {
		trail.Record(WithActor(t.Context(), Actor{Kind: UnknownActor, Address: fmt.Sprint(i)}),
			Entry{Kind: SignIn, Outcome: Refused})
	}
	trail.Record(WithActor(t.Context(), Actor{Kind: UnknownActor, Address: "0"}), Entry{Kind: SignIn, Outcome: Refused})
	different := map[string]int{}
	for _, e := range k.entries {
		if !e.Folded {
			t.Fatal("a refusal does not fold")
		}
		different[e.Address]++
	}
	if len(different) != maxUnknownAddresses+1 || different[ManyAddresses] != 9*maxUnknownAddresses ||
		different["0"] != 2 {
		t.Errorf("%d addresses, %d beyond them", len(different), different[ManyAddresses])
	}
}

func TestTroubleIsLogged(t *testing.T) {
	var b bytes.Buffer
	newTrail(&kept{err: errors.New("no space")}, slog.New(slog.NewTextHandler(&b, nil))).Record(t.Context(),
		Entry{Kind: GrantMake})
	if !strings.Contains(b.String(), "an audit entry was not written") ||
		!strings.Contains(b.String(), "kind=grant_make") {
		t.Error(b.String())
	}
}

func TestEveryKindIsInOneGroup(t *testing.T) {
	seen := map[ActionKind]bool{}
	for _, g := range Groups {
		for _, k := range g.Kinds {
			if seen[k] {
				t.Errorf("%s is in two groups", k)
			}
			seen[k] = true
			if got, ok := KindsByName(string(k)); !ok || len(got) != 1 || got[0] != k {
				t.Errorf("%s means %v", k, got)
			}
		}
		if got, ok := KindsByName(g.Name); !ok || len(got) != len(g.Kinds) {
			t.Errorf("%s means %v", g.Name, got)
		}
	}
	if got, ok := KindsByName("nonsense"); ok {
		t.Errorf("nonsense means %v", got)
	}
}

// slow delays writes.
type slow struct {
	store.Audit
	inside, open chan struct{}
}

func (s *slow) AppendAudit(context.Context, store.AuditEntry) error {
	s.inside <- struct{}{}
	<-s.open
	return nil
}

// TestRefusalsAreWrittenInOrder checks that refusals are written one after the other, and do not block the owner's
// entries.
func TestRefusalsAreWrittenInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{inside: make(chan struct{}, 100), open: make(chan struct{})}
		trail := New(Config{Store: s, Now: time.Now})
		for range 20 {
			go trail.Record(t.Context(), Entry{Kind: SignIn, Outcome: Refused})
		}
		synctest.Wait()
		if len(s.inside) != 1 {
			t.Errorf("%d refusals are written at once", len(s.inside))
		}
		go trail.Record(t.Context(), Entry{Kind: TokenMake})
		synctest.Wait()
		if len(s.inside) != 2 {
			t.Error("what the owner does waits for refusals")
		}
		close(s.open)
		synctest.Wait()
		if len(s.inside) != 21 {
			t.Errorf("%d of 21 were written", len(s.inside))
		}
	})
}
