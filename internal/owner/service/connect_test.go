package service

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

func TestConnectors(t *testing.T) {
	t.Parallel()
	b := newServiceHarness(t)
	// a broken connector is listed last, with the reason
	b.requireNoError(os.WriteFile(filepath.Join(b.home, "connectors", "letters", "manifest.json"), []byte("{"), 0o600))
	found, err := b.Connectors(b.ctx())
	b.requireNoError(err)
	if len(found) != 3 || !strings.HasPrefix(found[2].Problem, "connector letters cannot be used: manifest.json: ") ||
		found[0].ID != "attic" || !found[0].Device || found[0].Form != nil || found[1].ID != "garden" {
		t.Fatalf("connectors %+v", found)
	}
	g := found[1]
	if g.Form.Label != "Garden account" || g.Form.Submit != "Connect" || len(g.Form.Fields) != 2 ||
		g.Form.Fields[0].Type != "password" || g.Form.Fields[1].Type != "text" {
		t.Errorf("form %+v", g.Form)
	}
	if g.Refresh.Mode != "automatic" || g.Refresh.MinimumSeconds != 3600 || g.Refresh.RecommendedSeconds != 7200 {
		t.Errorf("policy %+v", g.Refresh)
	}
	if s := g.Streams[0]; s.Label != "Flower beds" || s.Description != "Every bed." || s.TimeField != "dug_at" ||
		len(s.Fields) != 5 || s.Fields[1] != "name" {
		t.Errorf("stream %+v", s)
	}
}

// The owner sees what a foreign connector gets before connecting it. Connecting confirms its current program; a
// replaced program is not confirmed.
func TestForeignConnectorIsConfirmedByConnecting(t *testing.T) {
	t.Parallel()
	b := newServiceHarness(t)
	garden := func() api.Foreign {
		t.Helper()
		found, err := b.Connectors(b.ctx())
		b.requireNoError(err)
		for _, c := range found {
			if c.ID == "garden" && c.Foreign != nil {
				return *c.Foreign
			}
		}
		t.Fatal("the connector does not say what it gets")
		return api.Foreign{}
	}
	before := garden()
	if before.Confirmed || before.Changed || len(before.Executable) != 64 || len(before.Variables) == 0 {
		t.Errorf("before it is connected: %+v", before)
	}
	b.connect("trowel")
	if f := garden(); !f.Confirmed || f.Changed || f.Executable != before.Executable {
		t.Errorf("connected: %+v", f)
	}
	b.requireNoError(os.WriteFile(filepath.Join(b.home, "connectors", "garden", "connector"), []byte("#!/bin/sh\n"),
		0o700))
	if f := garden(); f.Confirmed || !f.Changed {
		t.Errorf("replaced: %+v", f)
	}
	b.connect("spade")
	if f := garden(); f.Confirmed {
		t.Error("a second connection confirms another program silently")
	}
}

func TestConnectKeepsEverythingAndAsksForARun(t *testing.T) {
	t.Parallel()
	b := newServiceHarness(t)
	d, err := b.Connect(b.ctx(), api.Connect{ConnectorID: "garden", DisplayName: "  My\n garden ",
		Fields: map[string]string{"token": "trowel", "plot": "7"}})
	b.requireNoError(err)
	if d.ID != "cin_garden_1" || d.DisplayName != "My garden" || d.Status != "active" || d.Connector == nil ||
		d.Credential == nil || d.Credential.Status != "active" {
		t.Errorf("connection %+v", d)
	}
	if d.Plan == nil || d.Plan.IntervalSeconds != 7200 || !d.Plan.Enabled || d.Plan.NextAt == nil {
		t.Errorf("plan %+v", d.Plan)
	}
	if !b.requested(d.ID) {
		t.Error("no first run was asked for")
	}
	b.succeed(d.ID)
	for _, name := range []string{"pdpp.db", "pdpp.db-wal"} {
		content, err := os.ReadFile(filepath.Join(b.home, name))
		b.requireNoError(err)
		if bytes.Contains(content, []byte("trowel")) {
			t.Errorf("the token stands in %s", name)
		}
	}
	if again := b.connect("trowel"); again.ID != "cin_garden_2" || again.DisplayName != "Garden" {
		t.Errorf("the second is %s, called %q", again.ID, again.DisplayName)
	}
}

// What was entered wrongly is named, and nothing is left behind.
func TestConnectRefuses(t *testing.T) {
	t.Parallel()
	b := newServiceHarness(t)
	long := string(bytes.Repeat([]byte("x"), api.LongestName+1))
	for _, c := range []struct {
		name, code, param string
		given             api.Connect
	}{
		{"unknown connector", api.CodeNotInstalled, "connector_id", api.Connect{ConnectorID: "orchard"}},
		{"hostile connector", api.CodeNotInstalled, "connector_id", api.Connect{ConnectorID: "../garden"}},
		{"device", api.CodeInvalid, "connector_id", api.Connect{ConnectorID: "attic"}},
		{"missing field", api.CodeCredentialForm, "token",
			api.Connect{ConnectorID: "garden", Fields: map[string]string{"plot": "7"}}},
		{"unknown field", api.CodeCredentialForm, "colour",
			api.Connect{ConnectorID: "garden", Fields: map[string]string{"token": "t", "colour": "red"}}},
		{"not text", api.CodeCredentialForm, "",
			api.Connect{ConnectorID: "garden", Fields: map[string]string{"token": "a\x00b"}}},
		{"long name", api.CodeInvalid, "display_name", api.Connect{ConnectorID: "letters", DisplayName: long}},
		{"too often", api.CodeInvalid, "interval_seconds",
			api.Connect{ConnectorID: "garden", Fields: map[string]string{"token": "t"},
				Schedule: &api.Schedule{IntervalSeconds: 60, Enabled: true}}},
		{"manual only", api.CodeInvalid, "enabled",
			api.Connect{ConnectorID: "letters", Schedule: &api.Schedule{IntervalSeconds: 86400, Enabled: true}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := b.Connect(b.ctx(), c.given)
			wantError(t, err, c.code, c.param)
		})
	}
	if all, err := b.Store.ListConnections(b.ctx()); err != nil || len(all) != 0 {
		t.Errorf("left behind: %+v, %v", all, err)
	}
}

func TestConnectWithoutASchedule(t *testing.T) {
	t.Parallel()
	b := newServiceHarness(t)
	manual, err := b.Connect(b.ctx(), api.Connect{ConnectorID: "letters"})
	b.requireNoError(err)
	chosen, err := b.Connect(b.ctx(), api.Connect{ConnectorID: "garden", Fields: map[string]string{"token": "t"},
		Schedule: &api.Schedule{}})
	b.requireNoError(err)
	if manual.Plan != nil || manual.Credential != nil || chosen.Plan != nil {
		t.Errorf("plans %+v and %+v", manual.Plan, chosen.Plan)
	}
}

// brokenStore fails at one step of completing a connection.
type brokenStore struct {
	store.Store
	schedule, request bool
}

var errDisk = errors.New("the disk is on fire")

func (s brokenStore) PutSchedule(ctx context.Context, v store.Schedule) error {
	if s.schedule {
		return errDisk
	}
	return s.Store.PutSchedule(ctx, v)
}

func (s brokenStore) RequestRun(ctx context.Context, r store.RunRequest) (bool, error) {
	if s.request {
		return false, errDisk
	}
	return s.Store.RequestRun(ctx, r)
}

// A connection that cannot be completed is taken back, with its credential: deleted before it is in use, then ended.
func TestConnectTakesBackWhatItCannotComplete(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]brokenStore{"schedule": {schedule: true}, "request": {request: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newServiceHarness(t, func(c *Config) { fail.Store = c.Store; c.Store = fail })
			_, err := b.Connect(b.ctx(), api.Connect{ConnectorID: "garden", Fields: map[string]string{"token": "trowel"}})
			if !errors.Is(err, errDisk) {
				t.Fatalf("error %v", err)
			}
			conn, err := b.Store.Connection(b.ctx(), "cin_garden_1")
			if fail.schedule != errors.Is(err, store.ErrNotFound) || fail.request && conn.Status != store.ConnectionRevoked {
				t.Errorf("connection %q, %v", conn.Status, err)
			}
			if _, err := b.Store.Credential(b.ctx(), "cin_garden_1"); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("credential %v", err)
			}
			if o, err := b.Overview(b.ctx()); err != nil || len(o.Connections) != 0 {
				t.Errorf("the owner sees %+v, %v", o.Connections, err)
			}
		})
	}
}

func TestRename(t *testing.T) {
	t.Parallel()
	b := newServiceHarness(t)
	d := b.connect("trowel")
	b.requireNoError(b.Rename(b.ctx(), d.ID, "Allotment"))
	if got, err := b.Connection(b.ctx(), d.ID); err != nil || got.DisplayName != "Allotment" {
		t.Errorf("name %q, %v", got.DisplayName, err)
	}
	wantError(t, b.Rename(b.ctx(), d.ID, " \t"), api.CodeInvalid, "display_name")
	wantError(t, b.Rename(b.ctx(), "cin_none", "x"), api.CodeNotFound, "")
}

func TestConnectionWhoseConnectorIsGone(t *testing.T) {
	t.Parallel()
	b := newServiceHarness(t)
	d := b.connect("trowel")
	b.find.Connectors = catalog.Catalog{Dir: filepath.Join(b.home, "nowhere")}
	got, err := b.Connection(b.ctx(), d.ID)
	b.requireNoError(err)
	if got.Connector != nil || len(got.Limits.Supports) == 0 {
		t.Errorf("connector %+v, limits %+v", got.Connector, got.Limits)
	}
	// by what it declared when it was last seen
	b.requireNoError(b.SetCredential(b.ctx(), d.ID, map[string]string{"token": "spade"}))
}

// A connector that cannot run here names what it lacks and the fix, and no longer once it is
// there: a browser where none of the workers has one, an app at the provider.
func TestConnectorSaysWhatItLacksHere(t *testing.T) {
	t.Parallel()
	b := newServiceHarness(t)
	for name, setup := range map[string]string{
		"porch": `{"modality":"browser_session"}`,
		"quay": `{"modality":"provider_auth","deployment_config":["QUAY_CLIENT_ID"],` +
			`"oauth":{"authorize_url":"https://quay.example/authorize","token_url":"https://quay.example/token",` +
			`"access_token_env":"QUAY_TOKEN",
			"client_id_env":"QUAY_CLIENT_ID","scopes":[{"name":"read","label":"Your boats"}]}}`,
	} {
		dir := filepath.Join(b.home, "connectors", name)
		b.requireNoError(os.MkdirAll(dir, 0o700))
		b.requireNoError(os.WriteFile(filepath.Join(dir, "manifest.json"), []byte(`{"protocol_version":"0.1.0",`+
			`"connector_id":"`+name+`","version":"0.1.0","display_name":"`+name+`","setup":`+setup+`,
			"runtime_requirements":{"bindings":{"network":{"required":true},"browser":{"required":`+
			strconv.FormatBool(name == "porch")+`}}},
			"streams":[{"name":"boats","semantics":"append_only","primary_key":"id","schema":{"type":"object",`+
			`"properties":{"id":{"type":"string"}}}}]}`), 0o600))
		b.requireNoError(os.WriteFile(filepath.Join(dir, "connector"), []byte(gardenConnector), 0o700))
	}
	lacks := func(id string) string {
		t.Helper()
		found, err := b.Connectors(b.ctx())
		b.requireNoError(err)
		for _, c := range found {
			if c.ID == id && c.Problem == "" {
				return c.Lacks
			}
		}
		t.Fatalf("%s is not offered: %+v", id, found)
		return ""
	}
	if got := lacks("porch"); got != "" {
		t.Errorf("before any worker is there: %q", got)
	}
	w := store.Worker{ID: "w1", Host: "attic", Capabilities: []string{"network", "local"}, StartedAt: b.at, SeenAt: b.at}
	b.requireNoError(b.Store.PutWorker(b.ctx(), w))
	if got := lacks("porch"); !strings.Contains(got, "has a browser") || !strings.Contains(got, "apt install chromium") {
		t.Errorf("without a browser: %q", got)
	}
	if got := lacks("garden"); got != "" {
		t.Errorf("one that needs none: %q", got)
	}
	w.ID, w.Capabilities = "w2", []string{"browser"}
	b.requireNoError(b.Store.PutWorker(b.ctx(), w))
	if got := lacks("porch"); got != "" {
		t.Errorf("with a browser: %q", got)
	}
	if got := lacks("quay"); !strings.Contains(got, "This server has no app at quay yet. Register one there") {
		t.Errorf("without an app: %q", got)
	}
	b.requireNoError(b.SetProviderApp(b.ctx(), "quay", api.ProviderApp{ClientID: "boat-7"}))
	if got := lacks("quay"); got != "" {
		t.Errorf("with an app: %q", got)
	}
}
