package grants_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
)

var noon = time.Date(2026, 4, 1, 12, 0, 0, 0, time.UTC)

const journal = `{"protocol_version":"0.1.0","connector_id":"journal","version":"1.0.0","display_name":"Journal",` +
	`"streams":[
 {"name":"notes","semantics":"mutable_state","primary_key":["folder","id"],"consent_time_field":"written_at",
  "schema":{"type":"object","required":["id","folder"],"properties":{"id":{"type":"string"},` +
	`"folder":{"type":"string"},"title":{"type":"string"},"written_at":{"type":"string"}}}},
 {"name":"letters","semantics":"mutable_state","primary_key":"id","schema":{"type":"object","required":["id"],` +
	`"properties":{"id":{"type":"string"}}}}]}`

func newService(t *testing.T) (*grants.Service, store.Store) {
	t.Helper()
	kept, err := sqlite.Open(t.Context(), sqlitetest.NewDatabase(t, filepath.Join(t.TempDir(), "pdpp.db")),
		sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { kept.Close() })
	if _, err := kept.PutManifest(t.Context(), "journal", []byte(journal), noon); err != nil {
		t.Fatal(err)
	}
	err = kept.CreateConnection(t.Context(), store.Connection{ID: "c1", ConnectorID: "journal", DisplayName: "Journal",
		Status:     store.ConnectionActive,
		SourceKind: store.SourceAccount, CreatedAt: noon, UpdatedAt: noon})
	if err != nil {
		t.Fatal(err)
	}
	return grants.NewService(kept, "https://home.example", func() time.Time { return noon }), kept
}

func when(text string) *time.Time {
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		panic(err)
	}
	return &at
}

func TestWhatCannotBeGranted(t *testing.T) {
	service, _ := newService(t)
	stream := func(change func(*grants.Stream)) func(*grants.New) {
		return func(n *grants.New) { change(&n.Scope[0]) }
	}
	for name, tt := range map[string]struct {
		change func(*grants.New)
		code   string
	}{
		"no streams":         {func(n *grants.New) { n.Scope = nil }, grants.CodeInvalidRequest},
		"too many streams":   {func(n *grants.New) { n.Scope = make(grants.GrantedStreams, 201) }, grants.CodeInvalidRequest},
		"a stream twice":     {func(n *grants.New) { n.Scope = append(n.Scope, n.Scope[0]) }, grants.CodeInvalidRequest},
		"an unknown stream":  {stream(func(s *grants.Stream) { s.Stream = "nowhere" }), grants.CodeInvalidRequest},
		"an unknown account": {stream(func(s *grants.Stream) { s.ConnectionID = "nobody" }), grants.CodeInvalidRequest},
		"an unknown field":   {stream(func(s *grants.Stream) { s.Fields = []string{"colour"} }), grants.CodeUnknownField},
		"too many fields": {stream(func(s *grants.Stream) { s.Fields = make([]string, 201) }),
			grants.CodeInvalidRequest},
		"an empty key": {stream(func(s *grants.Stream) { s.Resources = []string{""} }), grants.CodeInvalidRequest},
		"too many keys": {stream(func(s *grants.Stream) { s.Resources = make([]string, 501) }),
			grants.CodeInvalidRequest},
		"a range without time": {stream(func(s *grants.Stream) {
			s.Stream, s.Since = "letters",
				when("2026-01-01T00:00:00Z")
		}), grants.CodeInvalidRequest},
		"a range backwards": {stream(func(s *grants.Stream) {
			s.Since, s.Until = when("2026-02-01T00:00:00Z"),
				when("2026-01-01T00:00:00Z")
		}), grants.CodeInvalidRequest},
		"an empty range": {stream(func(s *grants.Stream) {
			s.Since, s.Until = when("2026-02-01T00:00:00Z"),
				when("2026-02-01T00:00:00Z")
		}), grants.CodeInvalidRequest},
		"a range out of time": {stream(func(s *grants.Stream) {
			at := time.Date(10000, 1, 1, 0, 0, 0, 0,
				time.UTC)
			s.Until = &at
		}), grants.CodeInvalidRequest},
		"an end that is past": {func(n *grants.New) { n.At = &noon }, grants.CodeInvalidRequest},
		"an end out of time":  {func(n *grants.New) { n.At = when("9999-12-31T23:59:59-01:00") }, grants.CodeInvalidRequest},
		"an end and none": {func(n *grants.New) { n.At, n.Never = when("2027-01-01T00:00:00Z"), true },
			grants.CodeInvalidRequest},
		"a range that is not": {stream(func(s *grants.Stream) { s.Until = when("9999-12-31T23:59:59-01:00") }),
			grants.CodeInvalidRequest},
		"no name":              {func(n *grants.New) { n.ClientName = " " }, grants.CodeInvalidRequest},
		"a name too long":      {func(n *grants.New) { n.ClientName = strings.Repeat("x", 81) }, grants.CodeInvalidRequest},
		"a name that deceives": {func(n *grants.New) { n.ClientName = "bank\u202egnp" }, grants.CodeInvalidRequest},
		"a name of two lines":  {func(n *grants.New) { n.ClientName = "one\ntwo" }, grants.CodeInvalidRequest},
		"a purpose too long":   {func(n *grants.New) { n.Purpose = strings.Repeat("x", 301) }, grants.CodeInvalidRequest},
		"another mode":         {func(n *grants.New) { n.Mode = "forever" }, grants.CodeInvalidRequest},
	} {
		n := grants.New{ClientName: "Reader", Scope: grants.GrantedStreams{{ConnectionID: "c1", Stream: "notes"}}}
		tt.change(&n)
		_, token, err := service.Create(t.Context(), n)
		var refused *usererr.Error
		if !errors.As(err, &refused) || refused.Code != tt.code || refused.Message == "" || refused.Next == "" ||
			token != "" {
			t.Errorf("%s: %#v, want %s", name, err, tt.code)
		}
	}
	if all, err := service.List(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("kept nevertheless: %v, %v", all, err)
	}
}

// The primary key is among the fields, and a range is rounded inwards.
func TestScopeIsSettled(t *testing.T) {
	service, _ := newService(t)
	g, _, err := service.Create(t.Context(), grants.New{ClientName: " Reader ", Scope: grants.GrantedStreams{{
		ConnectionID: "c1", Stream: "notes", Fields: []string{"title", "title"}, Resources: []string{"b", "a", "b"},
		Since: when("2026-01-01T01:00:00.0000001+01:00"), Until: when("2026-02-01T00:00:00.0000009Z"),
	}}})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := service.One(t.Context(), g.ID)
	if err != nil {
		t.Fatal(err)
	}
	s := kept.Scope[0]
	if !slices.Equal(s.Fields, []string{"folder", "id", "title"}) || !slices.Equal(s.Resources, []string{"a", "b"}) ||
		!s.Since.Equal(*when("2026-01-01T00:00:00.000001Z")) || !s.Until.Equal(*when("2026-02-01T00:00:00Z")) ||
		kept.ClientName != "Reader" {
		t.Errorf("settled as %+v", kept)
	}
}

func TestStatus(t *testing.T) {
	service, kept := newService(t)
	n := grants.New{ClientName: "Reader", Mode: store.GrantSingleUse,
		Scope: grants.GrantedStreams{{ConnectionID: "c1", Stream: "notes"}, {ConnectionID: "c1", Stream: "letters"}}}
	g, token, err := service.Create(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	status := func(want grants.Status) {
		t.Helper()
		all, err := service.List(t.Context())
		if err != nil || len(all) != 1 || all[0].Status != want {
			t.Errorf("grants %+v (%v), want one that is %s", all, err, want)
		}
	}
	status(grants.Active)
	who, err := service.Access(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	views, err := service.Views(t.Context(), who, "", "")
	if err != nil || len(views) != 2 {
		t.Fatalf("%d views, %v", len(views), err)
	}
	for i, v := range views {
		if err := service.Used(t.Context(), who, v, 1, &grants.Turn{}); err != nil {
			t.Fatal(err)
		}
		status([]grants.Status{grants.Active, grants.Consumed}[i])
	}
	if err := service.Revoke(t.Context(), g.ID); err != nil {
		t.Fatal(err)
	}
	status(grants.Revoked)
	if err := service.Revoke(t.Context(), "nobody"); !errors.Is(err, &usererr.Error{Code: grants.CodeNotFound}) {
		t.Errorf("revoke nothing: %v", err)
	}
	ended := grants.NewService(kept, "", func() time.Time { return noon.AddDate(1, 0, 0) })
	n.At = when("2026-05-01T00:00:00Z")
	g, token, err = service.Create(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	if later, err := ended.One(t.Context(), g.ID); err != nil || later.Status != grants.Expired {
		t.Errorf("a year later: %+v, %v", later, err)
	}
	if _, err := ended.Access(t.Context(), token); !errors.Is(err, &usererr.Error{Code: grants.CodeGrantExpired}) {
		t.Errorf("a year later: %v", err)
	}
}

// A connector that declares a stream no more does not widen the grant.
func TestScopeOutlivesTheManifest(t *testing.T) {
	service, kept := newService(t)
	_, token, err := service.Create(t.Context(),
		grants.New{ClientName: "Reader",
			Scope: grants.GrantedStreams{{ConnectionID: "c1", Stream: "notes", Fields: []string{"title"}}}})
	if err != nil {
		t.Fatal(err)
	}
	without := `{"protocol_version":"0.1.0","connector_id":"journal","version":"2.0.0","display_name":"Journal","streams":[
		{"name":"letters","semantics":"mutable_state","primary_key":"id","schema":{"type":"object","required":["id"],` +
		`"properties":{"id":{"type":"string"}}}}]}`
	if _, err := kept.PutManifest(t.Context(), "journal", []byte(without), noon); err != nil {
		t.Fatal(err)
	}
	who, err := service.Access(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	views, err := service.Views(t.Context(), who, "", "")
	if err != nil || len(views) != 1 {
		t.Fatalf("%d views, %v", len(views), err)
	}
	data, err := views[0].Project([]byte(`{"id":"1","folder":"f","title":"t","written_at":"x"}`), nil)
	if err != nil || string(data) != `{"id":"1","folder":"f","title":"t"}` || views[0].Searchable() {
		t.Errorf("projects to %s, %v", data, err)
	}
}

// A grant ends after 90 days by default.
func TestGrantsEndAfterAYear(t *testing.T) {
	service, _ := newService(t)
	usual := noon.AddDate(0, 0, 90)
	for name, c := range map[string]struct {
		end  grants.End
		want *time.Time
	}{
		"nothing said": {grants.End{}, &usual},
		"a date":       {grants.End{At: when("2030-01-01T00:00:00Z")}, when("2030-01-01T00:00:00Z")},
		"never":        {grants.End{Never: true}, nil},
	} {
		g, _, err := service.Create(t.Context(),
			grants.New{ClientName: "Reader", Scope: grants.GrantedStreams{{ConnectionID: "c1", Stream: "notes"}}, End: c.end})
		if err != nil || (g.ExpiresAt == nil) != (c.want == nil) || c.want != nil && !g.ExpiresAt.Equal(*c.want) {
			t.Errorf("%s: ends %v (%v), want %v", name, g.ExpiresAt, err, c.want)
		}
	}
}

// A view means its declared fields, a profile its streams, and resources of a stream with a resource field are values
// of it: as declared when the grant is made.
func TestGrantOfAView(t *testing.T) {
	service, kept := newService(t)
	declares := `{"protocol_version":"0.1.0","connector_id":"journal","version":"2.0.0","display_name":"Journal",
		"profiles":[{"id":"brief","streams":[{"name":"notes","view":"headings"}]}],"streams":[
		{"name":"notes","semantics":"mutable_state","primary_key":"id","selection":{"resources":true,` +
		`"resource_field":"folder"},
		 "views":[{"id":"headings","fields":["title"]}],
		 "schema":{"type":"object","properties":{"id":{"type":"string"},"folder":{"type":"string"},` +
		`"title":{"type":"string"},"text":{"type":"string"}}}}]}`
	if _, err := kept.PutManifest(t.Context(), "journal", []byte(declares), noon); err != nil {
		t.Fatal(err)
	}
	grant := func(s grants.Stream) (grants.Grant, error) {
		s.ConnectionID, s.Stream = "c1", "notes"
		g, _, err := service.Create(t.Context(), grants.New{ClientName: "Reader", Scope: grants.GrantedStreams{s}})
		return g, err
	}
	g, err := grant(grants.Stream{Fields: []string{"view:headings", "text"}})
	if err != nil || !slices.Equal(g.Scope[0].Fields, []string{"id", "text", "title"}) {
		t.Errorf("granted %+v, %v", g.Scope, err)
	}
	if _, err := grant(grants.Stream{Fields: []string{"view:margins"}}); !errors.Is(err,
		&usererr.Error{Code: grants.CodeUnknownField}) {
		t.Errorf("a view that there is not: %v", err)
	}
	g, err = grant(grants.Stream{Resources: []string{"diary"}, ResourceField: "title"})
	if err != nil || g.Scope[0].ResourceField != "folder" {
		t.Errorf("granted %+v, %v", g.Scope, err)
	}
	if g, err = grant(grants.Stream{ResourceField: "title"}); err != nil || g.Scope[0].ResourceField != "" {
		t.Errorf("without resources: granted %+v, %v", g.Scope, err)
	}
	byProfile := func(connection, profile string, scope ...grants.Stream) (grants.Grant, error) {
		g, _, err := service.Create(t.Context(),
			grants.New{ClientName: "Reader", Scope: scope,
				Profiles: []grants.ProfileOf{{ConnectionID: connection, Profile: profile}}})
		return g, err
	}
	if g, err = byProfile("c1", "brief"); err != nil || len(g.Scope) != 1 ||
		!slices.Equal(g.Scope[0].Fields, []string{"id", "title"}) {
		t.Errorf("by profile: granted %+v, %v", g.Scope, err)
	}
	for name, err := range map[string]error{
		"no such profile":    second(byProfile("c1", "long")),
		"no such connection": second(byProfile("c9", "brief")),
		"named twice":        second(byProfile("c1", "brief", grants.Stream{ConnectionID: "c1", Stream: "notes"})),
	} {
		if !errors.Is(err, &usererr.Error{Code: grants.CodeInvalidRequest}) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func second(_ grants.Grant, err error) error { return err }
