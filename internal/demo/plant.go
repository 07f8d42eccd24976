package demo

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/blob"
	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// Ground is where a world's connections are planted.
type Ground struct {
	Home  string // the throw-away home
	Store store.Store
	Owner api.Owner
	Blobs blob.Storage // where the files of records are kept
	// Connectors finds connectors in the home.
	Connectors catalog.Catalog
	Lookup     func(name string) (string, bool) // the values of variables that connectors declare
	Now        func() time.Time
}

// staleFor is how long ago the connection that is refreshed by hand was refreshed.
const staleFor = 9 * 24 * time.Hour

// Plant adds the connections. Five of them collect like any other. The device would be another machine; it is added
// with a heartbeat. Eight more have a year of history, as if they had collected it day by day.
func (w *World) Plant(ctx context.Context, g Ground) error {
	if err := install(filepath.Join(g.Home, "connectors")); err != nil {
		return fmt.Errorf("install the demonstration's connectors: %w", err)
	}
	planted := make(chan error, 1)
	go func() { planted <- g.year(ctx) }() // which waits for the disk, as the others wait for their programs
	return errors.Join(w.addConnections(ctx, g), <-planted)
}

// addConnections adds the connections that collect, the letters and the device.
func (w *World) addConnections(ctx context.Context, g Ground) error {
	connections := []api.Connect{
		{ConnectorID: "example", DisplayName: "Ada's notebook", Fields: map[string]string{"token": w.notebookToken}},
		{ConnectorID: "example", DisplayName: "Family archive", Fields: map[string]string{"token": w.archiveToken}},
		{ConnectorID: "github", DisplayName: "GitHub", Fields: map[string]string{"token": "ghp_the_one_that_ran_out"}},
		{ConnectorID: harbour, DisplayName: "Harbour forum"},
	}
	for _, c := range connections {
		if _, err := g.Owner.Connect(ctx, c); err != nil {
			return fmt.Errorf("connect %s: %w", c.DisplayName, err)
		}
	}
	if err := g.addLetters(ctx); err != nil {
		return fmt.Errorf("collect the letters: %w", err)
	}
	return g.addDevice(ctx)
}

// askAgainAfter is how long the owner waits before asking the archive again.
const askAgainAfter = 15 * time.Second

// Hurry plays an owner who does not wait for the schedule: whenever the archive has more, it requests a run a little
// later. During a wait of the archive it starts nothing and returns when that is over. It ends with ctx.
func Hurry(ctx context.Context, o api.Owner) {
	again := time.NewTimer(askAgainAfter)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-again.C:
		}
		again.Reset(askAgainAfter)
		// Trouble shows on the connection's own page; the next turn tries again.
		d, err := o.Connection(ctx, "cin_example_2")
		if err != nil || d.ActiveRun != nil || d.CatchUp == nil {
			continue
		}
		var problem *api.Error
		if err := o.Run(ctx, d.ID); errors.As(err, &problem) && problem.Until != nil {
			again.Reset(max(askAgainAfter, time.Until(*problem.Until)))
		}
	}
}

// firstPage is how long the owner looks around before the diary is added: its browser is not
// to slow their first page down.
const firstPage = 2 * time.Second

// OpenDiary plays an owner who adds the diary. Its run then waits for a sign-in. It does nothing without a diary.
func (w *World) OpenDiary(ctx context.Context, o api.Owner) error {
	if w.Diary == nil {
		return nil
	}
	select {
	case <-ctx.Done():
		return nil
	case <-time.After(firstPage):
	}
	if _, err := o.Connect(ctx, api.Connect{ConnectorID: "example_browser", DisplayName: "Fern diary"}); err != nil &&
		ctx.Err() == nil {
		return fmt.Errorf("connect the diary: %w", err)
	}
	return nil
}

// addLetters adds the connection that is refreshed by hand, and collects it as it was
// done nine days ago.
func (g Ground) addLetters(ctx context.Context) error {
	began := g.Now()
	past := func() time.Time { return g.Now().Add(-staleFor) }
	found, err := g.Connectors.Find(ctx, paperbox)
	if err != nil {
		return err
	}
	body, err := found.Manifest.JSON()
	if err != nil {
		return err
	}
	generation, err := g.Store.PutManifest(ctx, paperbox, body, began)
	if err != nil {
		return err
	}
	if err := launch.Confirm(ctx, g.Store, found, began); err != nil {
		return err
	}
	const id = "cin_paperbox_1"
	err = g.Store.CreateConnection(ctx, store.Connection{
		ID: id, ConnectorID: paperbox, DisplayName: "Letters", Status: store.ConnectionActive,
		SourceKind:         store.SourceAccount,
		ManifestGeneration: generation, CreatedAt: past(), UpdatedAt: past(),
	})
	if err != nil {
		return err
	}
	l := launch.Launcher{Store: g.Store, Connectors: g.Connectors, Holder: "demo", Lookup: g.Lookup, Now: past,
		Bindings: map[string]jsontext.Value{"network": jsontext.Value("{}")}}
	result, err := l.Run(ctx, launch.RunRequest{ConnectionID: id, Trigger: store.TriggerManual})
	if err == nil && result.Written == 0 {
		err = fmt.Errorf("nothing was collected: %s", result.Outcome.Status)
	}
	return err
}

// addDevice adds a laptop with stuck uploads.
func (g Ground) addDevice(ctx context.Context) error {
	now := g.Now()
	heard, since := now.Add(-3*time.Minute), now.Add(-50*time.Hour)
	pending := int64(37)
	body, err := manifests.ReadFile("sources/shelf.json")
	if err != nil {
		return err
	}
	generation, err := g.Store.PutManifest(ctx, "shelf", body, now)
	if err != nil {
		return err
	}
	const id = "cin_shelf_1"
	err = g.Store.CreateConnection(ctx, store.Connection{
		ID: id, ConnectorID: "shelf", DisplayName: "Reading list on Maple", Status: store.ConnectionActive,
		SourceKind:         store.SourceLocalDevice,
		ManifestGeneration: generation, CreatedAt: since, UpdatedAt: since,
	})
	if err != nil {
		return err
	}
	err = g.Store.PutDevice(ctx, store.Device{
		ID: "dexp_maple", DisplayName: "Maple", Status: evidence.StatusActive, AgentVersion: "1.0.0", ProtocolVersion: "1",
		LastHeartbeatAt: &heard, CreatedAt: since, UpdatedAt: heard,
	})
	if err != nil {
		return err
	}
	return g.Store.PutDeviceSource(ctx, store.DeviceSource{
		ID: "src_maple_shelf", DeviceID: "dexp_maple", ConnectorID: "shelf", ConnectionID: id, LocalBinding: "default",
		SourceKind: store.SourceLocalDevice, DisplayName: "Maple", Status: evidence.StatusActive, LastHeartbeatAt: &heard,
		LastHeartbeatStatus: string(evidence.HeartbeatBlocked), RecordsPending: &pending, ManifestGeneration: generation,
		CreatedAt: since, UpdatedAt: heard,
		OutboxDiagnostics: jsontext.Value(`{"pending":37,"retrying":0,"stale_leases":0,"dead_letter":12,"backlog_open":0,` +
			`"leased":0,"succeeded":0,"total":49}`),
	})
}
