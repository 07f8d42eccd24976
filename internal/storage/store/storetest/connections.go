package storetest

import (
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

func testManifests(t *testing.T, s store.Store) {
	ctx := t.Context()
	_, _, err := s.Manifest(ctx, "example")
	fails(t, err, store.ErrNotFound)

	for _, c := range []struct {
		body string
		want int64
	}{{`{"a":1}`, 1}, {`{"a":1}`, 1}, {`{"a": 1}`, 2}, {`{"a":1}`, 3}} {
		generation, err := s.PutManifest(ctx, "example", []byte(c.body), Now)
		ok(t, err)
		same(t, generation, c.want)
		body, newest, err := s.Manifest(ctx, "example")
		ok(t, err)
		same(t, string(body), c.body)
		same(t, newest, c.want)
	}
	generation, err := s.PutManifest(ctx, "other", []byte(`{}`), Now)
	ok(t, err)
	same(t, generation, 1)

	for connector, want := range map[string]int64{"example": 3, "other": 1, "unseen": 0} {
		ok(t, s.CreateConnection(ctx, store.Connection{ID: "of " + connector, ConnectorID: connector,
			Status: store.ConnectionActive, SourceKind: store.SourceAccount, CreatedAt: Now, UpdatedAt: Now}))
		of, generation, err := s.ConnectorGeneration(ctx, "of "+connector)
		ok(t, err)
		same(t, []any{of, generation}, []any{connector, want})
	}
	_, _, err = s.ConnectorGeneration(ctx, "nothing")
	fails(t, err, store.ErrNotFound)
}

func testConnections(t *testing.T, s store.Store) {
	ctx := t.Context()
	_, err := s.Connection(ctx, "b")
	fails(t, err, store.ErrNotFound)

	b := store.Connection{
		ID: "b", ConnectorID: "github", DisplayName: "Work", Status: store.ConnectionDraft, SourceKind: store.SourceAccount,
		Binding: jsontext.Value(`{"login":  "ann"}`), ManifestGeneration: 3, CreatedAt: Now, UpdatedAt: Now,
	}
	a := store.Connection{ID: "a", ConnectorID: "mail", Status: store.ConnectionActive, SourceKind: store.SourceManual,
		CreatedAt: Now, UpdatedAt: Now}
	first := a
	first.ID, first.CreatedAt = "z", Now.Add(-time.Microsecond)
	for _, c := range []store.Connection{b, a, first} {
		ok(t, s.CreateConnection(ctx, c))
	}
	fails(t, s.CreateConnection(ctx, store.Connection{ID: "b", ConnectorID: "mail"}), store.ErrExists)

	got, err := s.Connection(ctx, "b")
	ok(t, err)
	same(t, got, b)
	all, err := s.ListConnections(ctx)
	ok(t, err)
	same(t, all, []store.Connection{first, a})

	b.DisplayName, b.Status, b.Binding, b.ManifestGeneration, b.UpdatedAt = "Home", store.ConnectionPaused, nil, 4,
		Now.Add(time.Hour)
	changed := b
	// not written by Update
	changed.ConnectorID, changed.SourceKind, changed.CreatedAt = "mail", store.SourceManual, Now.Add(time.Hour)
	ok(t, s.UpdateConnection(ctx, changed))
	got, err = s.Connection(ctx, "b")
	ok(t, err)
	same(t, got, b)
	fails(t, s.UpdateConnection(ctx, store.Connection{ID: "none"}), store.ErrNotFound)
}

// testDrafts checks that discarding deletes the draft that is named and old ones with what was stored for them, and
// no connection.
func testDrafts(t *testing.T, s store.Store) {
	ctx := t.Context()
	for id, c := range map[string]store.Connection{
		"named":  {Status: store.ConnectionDraft, UpdatedAt: Now},
		"old":    {Status: store.ConnectionDraft, UpdatedAt: Now.Add(-time.Hour)},
		"young":  {Status: store.ConnectionDraft, UpdatedAt: Now},
		"in use": {Status: store.ConnectionActive, UpdatedAt: Now.Add(-time.Hour)},
	} {
		c.ID, c.ConnectorID, c.SourceKind, c.CreatedAt = id, "github", store.SourceAccount, c.UpdatedAt
		ok(t, s.CreateConnection(ctx, c))
		ok(t, s.PutSignIn(ctx, store.SignIn{Mark: "mark of " + id, Binder: id, ConnectionID: id, Sealed: []byte("sealed"),
			ExpiresAt: Now.Add(time.Hour)}, Now))
		ok(t, s.AddTrigger(ctx, store.RunTrigger{ID: id, ConnectionID: id, Kind: "generic", CreatedAt: Now}))
	}
	ok(t, s.DiscardDrafts(ctx, "named", Now.Add(-time.Minute)))
	ok(t, s.DiscardDrafts(ctx, "in use", time.Time{}))
	gone := store.ErrNotFound
	for id, want := range map[string]error{"named": gone, "old": gone, "young": nil, "in use": nil} {
		_, err := s.Connection(ctx, id)
		fails(t, err, want)
		_, err = s.TakeSignIn(ctx, "mark of "+id, id, Now)
		fails(t, err, want)
	}
	triggers, err := s.Triggers(ctx)
	ok(t, err)
	if len(triggers) != 2 || triggers[0].ID != "in use" || triggers[1].ID != "young" {
		t.Errorf("triggers %+v", triggers)
	}
	page, err := s.Evidence(ctx, evidence.Query{})
	ok(t, err)
	if len(page) != 1 || page[0].Connection.ID != "in use" {
		t.Errorf("evidence of %d connections", len(page))
	}
}

func testCheck(t *testing.T, s store.Store) {
	ok(t, s.Check(t.Context()))
	ok(t, s.Check(t.Context()))
}
