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
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// Ground is where a world's connections are planted.
type Ground struct {
	Home  string // the throw-away home
	Store store.Store
	Owner api.Owner
	Blobs blob.Place // where the files of records are kept
	// Connectors finds connectors in the home.
	Connectors catalog.Catalog
	Lookup     func(name string) (string, bool) // the values of variables that connectors declare
	Now        func() time.Time
}

// staleFor is how long ago the connection that is refreshed by hand was refreshed.
const staleFor = 9 * 24 * time.Hour

// Plant adds the connections. Five of them collect as any other; the device, which
// would be another machine, is told of as its own heartbeat would. Eight more bring a year
// with them, as if they had collected it day by day.
func (w *World) Plant(ctx context.Context, g Ground) error {
	if err := install(filepath.Join(g.Home, "connectors")); err != nil {
		return fmt.Errorf("install the demonstration's connectors: %w", err)
	}
	planted := make(chan error, 1)
	go func() { planted <- g.year(ctx) }() // which waits for the disk, as the others wait for their programs
	return errors.Join(w.plant(ctx, g), <-planted)
}

// plant adds those that collect by themselves, the letters and the device.
func (w *World) plant(ctx context.Context, g Ground) error {
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
	if err := g.letters(ctx); err != nil {
		return fmt.Errorf("collect the letters: %w", err)
	}
	return g.device(ctx)
}

// patience is how long the archive is left alone before its owner asks again.
const patience = 15 * time.Second

// Hurry plays an owner who does not wait for the schedule: whenever the archive has
// something left, a run is asked for a little later. While the archive is to be left
// alone nothing is started, and the owner comes back when that is over. Ends with ctx.
func Hurry(ctx context.Context, o api.Owner) {
	again := time.NewTimer(patience)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-again.C:
		}
		again.Reset(patience)
		// Trouble shows on the connection's own page; the next turn tries again.
		d, err := o.Connection(ctx, "cin_example_2")
		if err != nil || d.ActiveRun != nil || d.CatchUp == nil {
			continue
		}
		var told *api.Error
		if err := o.Run(ctx, d.ID); errors.As(err, &told) && told.Until != nil {
			again.Reset(max(patience, time.Until(*told.Until)))
		}
	}
}

// firstPage is how long the owner looks around before the diary is added: its browser is not
// to slow their first page down.
const firstPage = 2 * time.Second

// OpenDiary plays an owner who adds the diary, whose run then waits for them to sign in. It
// does nothing where there is no diary.
func (w *World) OpenDiary(ctx context.Context, o api.Owner) error {
	if w.Diary == nil {
		return nil
	}
	select {
	case <-ctx.Done():
		return nil
	case <-time.After(firstPage):
	}
	if _, err := o.Connect(ctx, api.Connect{ConnectorID: "example_browser", DisplayName: "Fern diary"}); err != nil && ctx.Err() == nil {
		return fmt.Errorf("connect the diary: %w", err)
	}
	return nil
}

// letters adds the connection that is refreshed by hand, and collects it as it was
// done nine days ago.
func (g Ground) letters(ctx context.Context) error {
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
		ID: id, ConnectorID: paperbox, DisplayName: "Letters", Status: store.ConnectionActive, SourceKind: store.SourceAccount,
		ManifestGeneration: generation, CreatedAt: past(), UpdatedAt: past(),
	})
	if err != nil {
		return err
	}
	l := launch.Launcher{Store: g.Store, Connectors: g.Connectors, Holder: "demo", Lookup: g.Lookup, Now: past,
		Bindings: map[string]jsontext.Value{"network": jsontext.Value("{}")}}
	result, err := l.Run(ctx, launch.Request{ConnectionID: id, Trigger: store.TriggerManual})
	if err == nil && result.Written == 0 {
		err = fmt.Errorf("nothing was collected: %s", result.Outcome.Status)
	}
	return err
}

// device adds a laptop whose uploads are stuck.
func (g Ground) device(ctx context.Context) error {
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
		ID: id, ConnectorID: "shelf", DisplayName: "Reading list on Maple", Status: store.ConnectionActive, SourceKind: store.SourceLocalDevice,
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
		LastHeartbeatStatus: string(evidence.HeartbeatBlocked), RecordsPending: &pending, ManifestGeneration: generation, CreatedAt: since, UpdatedAt: heard,
		OutboxDiagnostics: jsontext.Value(`{"pending":37,"retrying":0,"stale_leases":0,"dead_letter":12,"backlog_open":0,"leased":0,"succeeded":0,"total":49}`),
	})
}
