package chaostest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/internal/quality/programs"
	"github.com/pdpp-go/pdpp/manifest"
)

// shipped are the real ones, built as users run them: without the race
// detector, which would make them slow and not what is shipped.
type shipped struct {
	pdpp   string
	target connectortest.Target // of pdpp-connectors
	// manifest is the example's without its shortest interval, so that each
	// connection runs many times in a minute.
	manifest *manifest.Manifest
}

func build(t *testing.T) shipped {
	t.Helper()
	dir := t.TempDir()
	if err := programs.Build(dir, "cmd/pdpp"); err != nil {
		t.Fatal(err)
	}
	p := shipped{target: connectortest.LumenTarget(t, "example"), pdpp: filepath.Join(dir, "pdpp")}
	body, err := p.target.Connector.Manifest.JSON()
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(body, &m); err != nil {
		t.Fatal(err)
	}
	delete(m["capabilities"].(map[string]any)["refresh_policy"].(map[string]any), "minimum_interval_seconds")
	if body, err = json.Marshal(m); err != nil {
		t.Fatal(err)
	}
	if p.manifest, err = manifest.Parse(body); err != nil {
		t.Fatalf("the example's manifest without its shortest interval: %v", err)
	}
	return p
}

// home makes a PDPP_HOME in which the example is a foreign connector: the same
// program, with the manifest above.
func (p shipped) home(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	dir := filepath.Join(home, "connectors", "example")
	body, err := p.manifest.JSON()
	if err != nil {
		t.Fatal(err)
	}
	const script = "#!/bin/sh\nexec \"${0%/*}/program\" run example\n" // in its own folder, which is all that it reaches
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "manifest.json"), body, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "connector"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(p.target.Connector.Path, filepath.Join(dir, "program")); err != nil {
		t.Fatal(err)
	}
	return home
}
