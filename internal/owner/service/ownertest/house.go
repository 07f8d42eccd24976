// Package ownertest is test support for the rooms of the owner: an invented source, and
// a real database with what it collected.
package ownertest

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
)

// GardenManifest is what an invented connector declares.
const GardenManifest = `{"protocol_version":"0.1.0","connector_id":"garden","version":"1.2.0","display_name":"Garden",
"runtime_requirements":{"bindings":{"network":{"required":true},"interactive":{"required":false}},
 "environment_variables":[{"name":"PDPP_GARDEN_MAX_DETAIL_FETCHES_PER_RUN"},` +
	`{"name":"PDPP_GARDEN_MAX_RUN_WALL_CLOCK_MS"}]},
"setup":{"modality":"static_secret","credential_capture":{"kind":"access_token","label":"Garden account","fields":[
 {"name":"token","label":"Token","type":"password","required":true,"secret":true,"env":["GARDEN_TOKEN"]},
 {"name":"plot","label":"Plot","help_text":"Its number.","env":["GARDEN_PLOT"]}]}},
"capabilities":{"refresh_policy":{"recommended_mode":"automatic","rationale":"It is cheap.",` +
	`"recommended_interval_seconds":7200,"minimum_interval_seconds":3600,"maximum_staleness_seconds":86400}},
"profiles":[{"id":"brief","label":"Names of beds","streams":[{"name":"beds","view":"names"}]}],
"streams":[{"name":"beds","semantics":"mutable_state","primary_key":"id","display":{"label":"Flower beds",` +
	`"detail":"Every bed.","kind":"event","roles":{"title":"name","time":"dug_at","thread":"kind","author":"kind"}},` +
	`"consent_time_field":"dug_at",
 "query":{"search":["name"],"filter":["kind"]},"selection":{"fields":true},
 "views":[{"id":"names","label":"Names","fields":["name"]},{"id":"sizes","fields":["name","size"]}],
 "schema":{"type":"object","properties":{"id":{"type":"string"},"name":{"type":"string"},"kind":{"type":"string"},` +
	`"size":{"type":"number"},"dug_at":{"type":"string"}}}}]}`

// Workspace is a database with a manual clock.
type Workspace struct {
	Store store.Store
	At    time.Time

	t           testing.TB
	connections int
}

// NewWorkspace opens an empty one that ends with the test.
func NewWorkspace(t testing.TB) *Workspace {
	t.Helper()
	h := &Workspace{t: t, At: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)}
	st, err := sqlite.Open(t.Context(), sqlitetest.NewDatabase(t, filepath.Join(t.TempDir(), "pdpp.db")), sqlite.Options{})
	h.Must(err)
	t.Cleanup(func() { h.Must(st.Close()) })
	h.Store = st
	return h
}

// Now is the house's clock.
func (h *Workspace) Now() time.Time { return h.At }

// Ctx is the context of the test.
func (h *Workspace) Ctx() context.Context { return h.t.Context() }

// Must ends the test at an error.
func (h *Workspace) Must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// Connect adds a garden connection and returns its id.
func (h *Workspace) Connect() string {
	h.t.Helper()
	generation, err := h.Store.PutManifest(h.Ctx(), "garden", []byte(GardenManifest), h.At)
	h.Must(err)
	h.connections++
	c := store.Connection{ID: fmt.Sprintf("cin_garden_%d", h.connections), ConnectorID: "garden", DisplayName: "Garden",
		Status:     store.ConnectionActive,
		SourceKind: store.SourceAccount, ManifestGeneration: generation, CreatedAt: h.At, UpdatedAt: h.At}
	h.Must(h.Store.CreateConnection(h.Ctx(), c))
	return c.ID
}

// Collect makes a run that stores the slices of beds, one after the other.
func (h *Workspace) Collect(connection string, slices ...[]slice.Record) {
	h.t.Helper()
	l, err := h.Store.StartRun(h.Ctx(), store.RunStart{RunID: "run_" + connection, ConnectionID: connection,
		ConnectorID: "garden", Trigger: store.TriggerManual,
		Holder: "w1", TTL: time.Hour, Streams: []store.StreamSpec{{Name: "beds", SearchFields: []string{"name"}}}}, h.At)
	h.Must(err)
	for _, records := range slices {
		_, err := h.Store.CommitSlice(h.Ctx(), l,
			slice.Slice{Records: records, Present: func(context.Context, []string) ([]string, error) { return nil, nil }}, h.At)
		h.Must(err)
	}
	h.Must(h.Store.FinishRun(h.Ctx(), l,
		store.RunOutcome{Status: store.RunSucceeded, Event: slice.Event{Type: "run.completed"}}, h.At))
}

// TwoStreamManifest returns the usual records of a garden: a bed with a numeric size, and a bed with text that looks
// like a formula.
func TwoStreamManifest() []slice.Record {
	return []slice.Record{
		{Stream: "beds", Key: "b1",
			Data:      []byte(`{"id":"b1","name":"Rose bed","kind":"flower","size":-3.5,"sun":true,"soil":"clay"}`),
			EmittedAt: "2026-01-02T03:04:05Z"},
		{Stream: "beds", Key: "=b2", Data: []byte(`{"id":"=b2","name":"=1+1 Herb bed","kind":"herb"}`),
			EmittedAt: "2026-01-02T03:04:05Z"},
	}
}
