package service

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// Right after the file of a source was edited, its connection is shown as stopped. Right after the owner accepted the
// file, it is not any more. No run and no pass of a worker takes place in between.
func TestEditedFileStopsAtOnce(t *testing.T) {
	t.Parallel()
	b := newServiceHarness(t, func(c *Config) {
		c.Connectors.Host = filepath.Join(t.TempDir(), "host")
		script := []byte("#!/bin/sh\n[ \"$1\" = list ] && echo '[]'\nexit 0\n")
		if err := os.WriteFile(c.Connectors.Host, script, 0o700); err != nil {
			t.Fatal(err)
		}
	})
	dir := filepath.Join(b.home, "connectors", "tides")
	b.requireNoError(os.MkdirAll(dir, 0o700))
	write := func(name, text string) {
		t.Helper()
		b.requireNoError(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	write("manifest.json", `{"protocol_version":"0.1.0","connector_id":"tides","version":"0.1.0","display_name":"Tides",
"runtime_requirements":{"bindings":{"network":{"required":true}}},
"streams":[{"name":"tides","semantics":"append_only","primary_key":"id","schema":{"type":"object",
"properties":{"id":{"type":"string"}}}}]}`)
	write("adapter.json", `{"kind":"declarative","file":"source.yaml","name":"tides","hosts":["tides.example"]}`)
	write("source.yaml", "version: 1.0.0\n")
	accept := func() {
		t.Helper()
		found, err := b.Config.Connectors.Find(b.ctx(), "tides")
		b.requireNoError(err)
		b.requireNoError(launch.Confirm(b.ctx(), b.Store, found, b.at))
	}
	accept()
	made, err := b.Connect(b.ctx(), api.Connect{ConnectorID: "tides"})
	b.requireNoError(err)
	stopped := func() bool {
		t.Helper()
		d, err := b.Connection(b.ctx(), made.Connection.ID)
		b.requireNoError(err)
		o, err := b.Overview(b.ctx())
		b.requireNoError(err)
		if len(o.Connections) != 1 || o.Connections[0].Verdict.Pill != d.Verdict.Pill {
			t.Fatalf("the list shows %+v and the page %+v", o.Connections, d.Verdict.Pill)
		}
		return d.Verdict.Pill.Label == "Can't collect"
	}
	if stopped() {
		t.Fatal("an accepted file is shown as stopped")
	}
	write("source.yaml", "version: 2.0.0\n")
	if !stopped() {
		t.Error("an edited file is not shown as stopped")
	}
	accept()
	if stopped() {
		t.Error("the file was accepted and is still shown as stopped")
	}
}
