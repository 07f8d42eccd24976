package connectortest

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/quality/programs"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/sample"
)

// BuiltInConnector builds the host of the built-in connectors, as users run it, and
// returns the named one.
func BuiltInConnector(t *testing.T, name string) Connector {
	t.Helper()
	dir := t.TempDir()
	if err := programs.Build(dir, "cmd/pdpp-connectors"); err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Catalog{Host: filepath.Join(dir, "pdpp-connectors")}.Find(t.Context(), name)
	if err != nil {
		t.Fatalf("find connector %s: %v", name, err)
	}
	return c
}

// LumenTarget is a built-in connector against the Lumen simulator: the example,
// or a fresh copy of it. Other packages use it too, whenever they need a real
// connector at work.
func LumenTarget(t *testing.T, name string) Target {
	t.Helper()
	c := BuiltInConnector(t, name)
	prefix := c.Manifest.EnvPrefix()
	return Target{
		Connector: c,
		Start: func(t *testing.T) *Sim {
			return startLumenSimulator(t, prefix, sample.Config{Seed: 7, Events: 450, Notes: 90, Threads: 70})
		},
		Credential: prefix + "_TOKEN",
		Changes: []providersim.Mutation{
			{Op: "append_events", N: 30}, {Op: "edit_notes", N: 4}, {Op: "add_notes", N: 3},
			{Op: "touch_threads", N: 3}, {Op: "add_threads", N: 5},
		},
		Deletion:      providersim.Mutation{Op: "delete_notes", N: 3},
		DeletedStream: sample.StreamNotes,
		Lane: &ListDetailParts{
			List: sample.StreamThreads, Detail: sample.StreamThreadMessages,
			DetailPath: "/v1/threads/", TimeField: "updated_at", Item: threadOfMessage, AtOnce: 4,
		},
		Scoped: sample.StreamNotes, OptionalField: "tags",
		Stored: storedLumenRecord,
	}
}

// startLumenSimulator starts a simulated Lumen Notebook on loopback, and names the
// variables that lead a connector of this prefix to it.
func startLumenSimulator(t *testing.T, prefix string, cfg sample.Config) *Sim {
	t.Helper()
	cfg.Token = "tok-under-test"
	s, err := sample.Start(cfg)
	if err != nil {
		t.Fatalf("start provider: %v", err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return &Sim{Provider: s.Sim, Gate: s.Sim.Gate(), Env: map[string]string{
		prefix + "_TOKEN": cfg.Token, prefix + "_BASE_URL": s.BaseURL,
	}}
}

// threadOfMessage returns the thread of a message.
func threadOfMessage(data json.RawMessage) string {
	var m struct {
		ThreadID string `json:"thread_id"`
	}
	_ = json.Unmarshal(data, &m) // a message without a thread belongs to none
	return m.ThreadID
}

// storedLumenRecord is the connector's mapping: a note's deletion flag becomes a
// tombstone and is not part of the record.
func storedLumenRecord(stream, _ string, data json.RawMessage) (json.RawMessage, error) {
	if stream != sample.StreamNotes {
		return data, nil
	}
	var m map[string]json.RawMessage
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, err
	}
	delete(m, "deleted")
	return json.Marshal(m)
}
