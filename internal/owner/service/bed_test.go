package service

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/ownertest"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
	"github.com/pdpp-go/pdpp/internal/web/auth"
)

// gardenConnector is a real process that accepts one token and reports how it was started.
const gardenConnector = `#!/bin/sh
read -r start
if [ "$GARDEN_TOKEN" = "trowel" ]; then
	printf '%s\n' '{"type":"PROGRESS","stream":"beds","message":"beds: 2 of 2","count":2,"total":2}'
	printf '{"type":"RECORD","stream":"beds","key":"b1","data":{"id":"b1","name":"Rose bed","kind":"flower","size":-3.5,"pace":"%s","details":"%s","wall":"%s"},"emitted_at":"2026-01-02T03:04:05Z"}\n' "$PDPP_GARDEN_PACING_MIN_INTERVAL_MS" "$PDPP_GARDEN_MAX_DETAIL_FETCHES_PER_RUN" "$PDPP_GARDEN_MAX_RUN_WALL_CLOCK_MS"
	printf '%s\n' '{"type":"RECORD","stream":"beds","key":"=b2","data":{"id":"=b2","name":"=1+1 Herb bed","kind":"herb"},"emitted_at":"2026-01-02T03:04:05Z"}'
	printf '%s\n' '{"type":"STATE","stream":"beds","cursor":{"n":1}}'
	printf '%s\n' '{"type":"DONE","status":"succeeded","records_emitted":2}'
	exit 0
fi
printf '%s\n' '{"type":"DONE","status":"failed","records_emitted":0,'\
'"error":{"code":"auth_failure","message":"the token was refused","retryable":false}}'
exit 1
`

const lettersManifest = `{"protocol_version":"0.1.0","connector_id":"letters","version":"0.1.0",` +
	`"display_name":"Letters",
"runtime_requirements":{"bindings":{"filesystem":{"required":true}}},
"capabilities":{"refresh_policy":{"recommended_mode":"manual","rationale":"A person has to open the box."}},
"streams":[{"name":"letters","semantics":"append_only","primary_key":"id","schema":{"type":"object",` +
	`"properties":{"id":{"type":"string"}}}}]}`

const atticManifest = `{"protocol_version":"0.1.0","connector_id":"attic","version":"0.1.0","display_name":"Attic",
"runtime_requirements":{"bindings":{"local_device":{"required":true}}},
"streams":[{"name":"boxes","semantics":"append_only","primary_key":"id","schema":{"type":"object",` +
	`"properties":{"id":{"type":"string"}}}}]}`

var wantError = ownertest.WantError

// serviceHarness is the service over a real database and real connectors, with a manual clock.
type serviceHarness struct {
	*Service
	t    *testing.T
	home string
	at   time.Time
}

func newServiceHarness(t *testing.T, change ...func(*Config)) *serviceHarness {
	t.Helper()
	b := &serviceHarness{t: t, home: t.TempDir(), at: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)}
	st, err := sqlite.Open(t.Context(), sqlitetest.NewDatabase(t, filepath.Join(b.home, "pdpp.db")), sqlite.Options{})
	b.requireNoError(err)
	t.Cleanup(func() { b.requireNoError(st.Close()) })
	for name, files := range map[string][2]string{
		"garden": {ownertest.GardenManifest, gardenConnector}, "letters": {lettersManifest, gardenConnector},
		"attic": {atticManifest, gardenConnector},
	} {
		dir := filepath.Join(b.home, "connectors", name)
		b.requireNoError(os.MkdirAll(dir, 0o700))
		b.requireNoError(os.WriteFile(filepath.Join(dir, "manifest.json"), []byte(files[0]), 0o600))
		b.requireNoError(os.WriteFile(filepath.Join(dir, "connector"), []byte(files[1]), 0o700))
	}
	key := credential.NewKey()
	c := Config{
		Store: st, Connectors: catalog.Catalog{Dir: filepath.Join(b.home, "connectors")},
		Key:    func() (credential.Key, error) { return key, nil },
		Access: auth.New(auth.Config{Store: st, Now: b.now}), Base: "https://pdpp.lantern.example",
		Version: "1.0.0", Home: b.home, Database: "sqlite", Now: b.now,
	}
	for _, f := range change {
		f(&c)
	}
	b.Service = New(c)
	return b
}

func (b *serviceHarness) now() time.Time { return b.at }

func (b *serviceHarness) requireNoError(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// ctx is the context of the test.
func (b *serviceHarness) ctx() context.Context { return b.t.Context() }

// connect adds a garden with the token.
func (b *serviceHarness) connect(token string) api.Detail {
	b.t.Helper()
	d, err := b.Connect(b.ctx(), api.Connect{ConnectorID: "garden", Fields: map[string]string{"token": token}})
	b.requireNoError(err)
	return d
}

// worker registers a live worker that starts no runs.
func (b *serviceHarness) worker() {
	b.t.Helper()
	b.requireNoError(b.Store.PutWorker(b.ctx(), store.Worker{ID: "w1", Host: "lantern", Slots: 2, StartedAt: b.at,
		SeenAt: b.at}))
}

// run makes a run of the connection as a worker would.
func (b *serviceHarness) makeRun(id string, change ...func(*launch.Launcher, *launch.RunRequest)) launch.RunResult {
	b.t.Helper()
	key, err := b.Key()
	b.requireNoError(err)
	l := &launch.Launcher{
		Store: b.Store, Connectors: b.find.Connectors, Holder: "w1", Secrets: launch.StoredSecrets(b.Store, key),
		Limits:   LimitVariables(b.Store),
		Bindings: map[string]jsontext.Value{"network": jsontext.Value("{}")}, Now: b.now,
	}
	req := launch.RunRequest{ConnectionID: id, Trigger: store.TriggerManual}
	for _, f := range change {
		f(l, &req)
	}
	result, err := l.Run(b.ctx(), req)
	b.requireNoError(err)
	return result
}

func (b *serviceHarness) succeed(id string) launch.RunResult {
	b.t.Helper()
	r := b.makeRun(id)
	if r.Status != runner.Succeeded {
		b.t.Fatalf("the run ended as %s: %v", r.Status, r.Failure)
	}
	return r
}

// requested reports whether a run of the connection waits for a worker.
func (b *serviceHarness) requested(id string) bool {
	b.t.Helper()
	_, err := b.Store.RunRequest(b.ctx(), id)
	if errors.Is(err, store.ErrNotFound) {
		return false
	}
	b.requireNoError(err)
	return true
}
