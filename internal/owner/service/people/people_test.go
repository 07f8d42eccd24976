package people

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/person"
	"github.com/pdpp-go/pdpp/internal/owner/service/lookup"
	"github.com/pdpp-go/pdpp/internal/owner/service/ownertest"
	"github.com/pdpp-go/pdpp/internal/owner/service/reading"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// Manifests of a mail account, and of a chat that names authors by the keys of its members.
const (
	mailManifest = `{"protocol_version":"0.1.0","connector_id":"lantern","version":"1.0.0","display_name":"Lantern",
"streams":[{"name":"mails","semantics":"append_only","primary_key":"id","consent_time_field":"at",
"display":{"kind":"message","roles":{"title":"subject","author":"sender","address":"from","mine":"own","time":"at"}},
"schema":{"type":"object","properties":{"id":{"type":"string"},"subject":{"type":"string"},"sender":{"type":"string"},
"from":{"type":"string"},"own":{"type":"boolean"},"at":{"type":"string","format":"date-time"}}}}]}`
	chatManifest = `{"protocol_version":"0.1.0","connector_id":"ferry","version":"1.0.0","display_name":"Ferry",
"streams":[{"name":"messages","semantics":"append_only","primary_key":"id","consent_time_field":"at",
"relationships":[{"name":"member","stream":"members","foreign_key":"by","cardinality":"has_one"}],
"display":{"kind":"message","roles":{"text":"text","author":"by","time":"at"}},
"schema":{"type":"object","properties":{"id":{"type":"string"},"text":{"type":"string"},"by":{"type":"string"},
"at":{"type":"string","format":"date-time"}}}},
{"name":"members","semantics":"mutable_state","primary_key":"id",
"display":{"roles":{"title":"name","address":"mail"}},
"schema":{"type":"object","properties":{"id":{"type":"string"},"name":{"type":"string"},"mail":{"type":"string"}}}}]}`
)

type home struct {
	*ownertest.Workspace
	*Directory
	t    *testing.T
	runs int
}

func newHome(t *testing.T) *home {
	t.Helper()
	w := ownertest.NewWorkspace(t)
	return &home{Workspace: w, t: t,
		Directory: New(w.Store, reading.New(w.Store, lookup.New(w.Store, nil), nil, w.Now), w.Now)}
}

// source adds a connection with a manifest.
func (h *home) source(connector, manifest string) {
	h.t.Helper()
	generation, err := h.Store.PutManifest(h.Ctx(), connector, []byte(manifest), h.At)
	h.Must(err)
	h.Must(h.Store.CreateConnection(h.Ctx(), store.Connection{ID: "cin_" + connector, ConnectorID: connector,
		DisplayName: strings.ToUpper(connector[:1]) + connector[1:], Status: store.ConnectionActive,
		SourceKind: store.SourceAccount, ManifestGeneration: generation, CreatedAt: h.At, UpdatedAt: h.At}))
}

// collect stores records of one stream.
func (h *home) collect(connector, stream string, records ...slice.Record) {
	h.t.Helper()
	h.runs++
	for i := range records {
		records[i].Stream, records[i].EmittedAt = stream, "2026-03-01T00:00:00Z"
	}
	l, err := h.Store.StartRun(h.Ctx(), store.RunStart{RunID: fmt.Sprintf("run_%d", h.runs),
		ConnectionID: "cin_" + connector, ConnectorID: connector, Trigger: store.TriggerManual, Holder: "w1",
		TTL: time.Hour, Streams: []store.StreamSpec{{Name: stream, TimeField: "at"}}}, h.At)
	h.Must(err)
	_, err = h.Store.CommitSlice(h.Ctx(), l, slice.Slice{Records: records}, h.At)
	h.Must(err)
	h.Must(h.Store.FinishRun(h.Ctx(), l,
		store.RunOutcome{Status: store.RunSucceeded, Event: slice.Event{Type: "run.completed"}}, h.At))
}

func mailFrom(key, sender, from, at string, own bool) slice.Record {
	return slice.Record{Key: key, SemanticTime: at, Data: fmt.Appendf(nil,
		`{"id":%q,"subject":"Boat","sender":%q,"from":%q,"own":%t,"at":%q}`, key, sender, from, own, at)}
}

func chatFrom(key, by, at string) slice.Record {
	return slice.Record{Key: key, SemanticTime: at,
		Data: fmt.Appendf(nil, `{"id":%q,"text":"Hello","by":%q,"at":%q}`, key, by, at)}
}

// fill collects mail and messages of a few people.
func (h *home) fill() {
	h.source("lantern", mailManifest)
	h.source("ferry", chatManifest)
	h.collect("lantern", "mails",
		mailFrom("m1", "Ida Lund", "ida@boats.example", "2026-01-05T10:00:00Z", false),
		mailFrom("m2", "I. Lund", "Ida@Boats.example", "2026-02-05T10:00:00Z", false),
		mailFrom("m3", "Nadia", "nadia@quay.example", "2026-02-06T10:00:00Z", false),
		mailFrom("m4", "Me", "me@home.example", "2026-02-07T10:00:00Z", true),
		mailFrom("m5", "Harbour", "no-reply@harbour.example", "2026-02-08T10:00:00Z", false),
		mailFrom("m6", "Ada", "ada@home.example", "2026-02-09T10:00:00Z", false))
	h.collect("ferry", "members",
		slice.Record{Key: "U1", Data: []byte(`{"id":"U1","name":"Ida","mail":"ida@boats.example"}`)},
		slice.Record{Key: "U2", Data: []byte(`{"id":"U2","name":"Nadia"}`)})
	h.collect("ferry", "messages", chatFrom("c1", "U1", "2026-02-10T10:00:00Z"),
		chatFrom("c2", "U2", "2026-02-11T10:00:00Z"), chatFrom("c3", "U3", "2026-02-12T10:00:00Z"))
}

// names returns who is listed, with how much each wrote.
func (h *home) names(q person.PeopleQuery) (out []string) {
	h.t.Helper()
	found, err := h.People(h.Ctx(), q)
	h.Must(err)
	for _, p := range found.People {
		out = append(out, fmt.Sprintf("%s %d %s", p.Name, p.Records, strings.Join(p.Sources, "+")))
	}
	return out
}

func (h *home) id(name, source string) string {
	h.t.Helper()
	found, err := h.People(h.Ctx(), person.PeopleQuery{Search: name})
	h.Must(err)
	for _, p := range found.People {
		if slices.Contains(p.Sources, source) {
			return p.ID
		}
	}
	h.t.Fatalf("there is no %s in %s", name, source)
	return ""
}

// The same address is one person over all sources, whatever the name. Equal names are joined by the owner only.
func TestPeople(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	if got := h.names(person.PeopleQuery{}); len(got) != 0 {
		t.Errorf("an empty home has %v", got)
	}
	h.fill()
	want := []string{"Ida Lund 3 Ferry+Lantern", "U3 1 Ferry", "Nadia 1 Ferry", "Ada 1 Lantern", "Nadia 1 Lantern"}
	if got := h.names(person.PeopleQuery{}); !slices.Equal(got, want) {
		t.Errorf("people %q, want %q", got, want)
	}
	if got := h.names(person.PeopleQuery{Kind: "automatic"}); !slices.Equal(got, []string{"Harbour 1 Lantern"}) {
		t.Errorf("programs %q", got)
	}
	if got := h.names(person.PeopleQuery{Search: "QUAY nadia"}); !slices.Equal(got, []string{"Nadia 1 Lantern"}) {
		t.Errorf("found %q", got)
	}
	if got := h.names(person.PeopleQuery{Order: "name", Limit: 2, Skip: 1}); len(got) != 2 {
		t.Errorf("a page has %q", got)
	}
	ida, err := h.Person(h.Ctx(), h.id("ida", "Ferry"))
	h.Must(err)
	if len(ida.Identities) != 2 || ida.Identities[0].Joined != "address" || len(ida.Months) != 2 ||
		ida.Months[1] != (person.Month{Month: "2026-02", Records: 2}) || ida.First.Month() != time.January {
		t.Errorf("Ida is %+v", ida)
	}
	nadia := h.id("nadia", "Ferry")
	p, err := h.Person(h.Ctx(), nadia)
	h.Must(err)
	if len(p.Similar) != 1 || p.Similar[0].Sources[0] != "Lantern" || len(p.Identities) != 1 {
		t.Errorf("similar to Nadia: %+v", p)
	}
	_, err = h.Person(h.Ctx(), "per_none")
	ownertest.WantError(t, err, api.CodeNotFound, "")
}

// What the owner joins is one person until it is taken apart, in a later process too.
func TestOwnerJoinsAndSplits(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.fill()
	one, other := h.id("nadia", "Ferry"), h.id("nadia", "Lantern")
	h.Must(h.JoinPeople(h.Ctx(), one, other))
	h.Directory = New(h.Store, h.read, h.Now)
	if got := h.names(person.PeopleQuery{Search: "nadia"}); !slices.Equal(got, []string{"Nadia 2 Ferry+Lantern"}) {
		t.Errorf("joined: %q", got)
	}
	ownertest.WantError(t, h.JoinPeople(h.Ctx(), one, other), api.CodeInvalid, "other")
	ownertest.WantError(t, h.JoinPeople(h.Ctx(), one, "per_none"), api.CodeInvalid, "other")
	ownertest.WantError(t, h.SplitPerson(h.Ctx(), one, h.id("ada", "Lantern")), api.CodeInvalid, "identity")
	p, err := h.Person(h.Ctx(), other)
	h.Must(err)
	if p.Identities[0].Joined != "owner" || p.Identities[1].Joined != "owner" {
		t.Errorf("joined by %+v", p.Identities)
	}
	h.Must(h.SplitPerson(h.Ctx(), one, p.Identities[1].ID))
	if got := h.names(person.PeopleQuery{Search: "nadia"}); len(got) != 2 {
		t.Errorf("taken apart: %q", got)
	}
	ida, err := h.Person(h.Ctx(), h.id("ida", "Ferry"))
	h.Must(err)
	h.Must(h.SplitPerson(h.Ctx(), ida.ID, ida.Identities[0].ID))
	if got := h.names(person.PeopleQuery{Search: "ida"}); len(got) != 2 {
		t.Errorf("an equal address is taken apart: %q", got)
	}
	me := h.id("ada", "Lantern")
	h.Must(h.SetPersonMine(h.Ctx(), me, true))
	if got := h.names(person.PeopleQuery{Kind: "mine"}); !slices.Equal(got, []string{"Ada 1 Lantern"}) {
		t.Errorf("the owner is %q", got)
	}
	h.Must(h.SetPersonMine(h.Ctx(), me, false))
	if got := h.names(person.PeopleQuery{Kind: "mine"}); len(got) != 0 {
		t.Errorf("the owner is still %q", got)
	}
	kept, err := h.Store.Setting(h.Ctx(), decisionsSetting)
	h.Must(err)
	if strings.Contains(string(kept), "ida") || strings.Contains(string(kept), "adia") {
		t.Errorf("a decision keeps a name: %s", kept)
	}
}

// New records and deletions change who is listed.
func TestPeopleFollowTheRecords(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.fill()
	_ = h.names(person.PeopleQuery{})
	h.collect("lantern", "mails", mailFrom("m9", "Tomas", "tomas@quay.example", "2026-02-20T10:00:00Z", false),
		slice.Record{Key: "m3", Op: protocol.OpDelete})
	if got := h.names(person.PeopleQuery{Search: "quay"}); !slices.Equal(got, []string{"Tomas 1 Lantern"}) {
		t.Errorf("after a change: %q", got)
	}
}

func TestSharedAddress(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		" Ida@Boats.example ": "ida@boats.example", "@ida:boats.example": "@ida:boats.example",
		"ida@chat.boats.example": "ida@chat.boats.example", "+44 (0)20 7946-0018": "+4402079460018",
		"0044 20 7946 0018": "+442079460018", "Ida Lund": "", "@ida": "", "1234": "", "": "", "a@b": "",
		"ida lund@boats.example": "", "12:30": "",
	} {
		if got := sharedAddress(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
	for address, want := range map[string]bool{"no-reply@harbour.example": true, "NoReply+7@x.example": true,
		"newsletter@x.example": true, "nora@x.example": false, "news.desk@x.example": true, "newsome@x.example": false,
		"Ida": false} {
		if got := isAutomatic(address); got != want {
			t.Errorf("%s is automatic: %t", address, got)
		}
	}
}

// Whatever the owner joins and splits: every identity belongs to one person, nothing is lost or counted twice, and a
// split identity is single afterwards while the others stay together.
func TestEveryIdentityHasOnePerson(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		var traces []*trace
		for i := range rapid.IntRange(1, 8).Draw(r, "traces") {
			at := &trace{connection: fmt.Sprint("c", rapid.IntRange(0, 2).Draw(r, "connection")), name: fmt.Sprint("n", i%3),
				address: rapid.SampledFrom([]string{"", "a@x.example", "b@x.example"}).Draw(r, "address")}
			at.Author, at.Records = at.name, int64(i+1)
			at.identify()
			traces = append(traces, at)
		}
		h := &memory{traces: traces}
		for range rapid.IntRange(0, 6).Draw(r, "decisions") {
			g := group(traces, h.by)
			ids := slices.Sorted(maps.Keys(g.identities))
			a, b := rapid.SampledFrom(ids).Draw(r, "a"), rapid.SampledFrom(ids).Draw(r, "b")
			before := g.members[g.root(a)]
			if g.root(a) != g.root(b) {
				h.by.Joined = append(h.by.Joined, [2]string{a, b})
				if after := group(traces, h.by); after.root(a) != after.root(b) {
					r.Fatalf("%s and %s are joined and not one", a, b)
				}
				continue
			}
			if len(before) < 2 {
				continue
			}
			split(g, &h.by, before, b)
			after := group(traces, h.by)
			if len(after.members[after.root(b)]) != 1 {
				r.Fatalf("%s is split and not single", b)
			}
			roots := map[string]bool{}
			for _, i := range before {
				if i.ID != b {
					roots[after.root(i.ID)] = true
				}
			}
			if len(roots) != 1 {
				r.Fatalf("a split of %s parts the others", b)
			}
		}
		g := group(traces, h.by)
		var sum int64
		for root, members := range g.members {
			sum += summary(root, members, nil).Records
		}
		if want := int64(len(traces) * (len(traces) + 1) / 2); sum != want {
			r.Fatalf("%d records of %d have a person", sum, want)
		}
	})
}

type memory struct {
	traces []*trace
	by     decisions
}
