package routes_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
	"github.com/pdpp-go/pdpp/internal/web/auth"
)

const orchardManifest = `{"protocol_version":"0.1.0","connector_id":"orchard","version":"1.0.0",` +
	`"display_name":"Orchard",
"runtime_requirements":{"bindings":{"network":{"required":true}},` +
	`"environment_variables":[{"name":"PDPP_ORCHARD_MAX_DETAIL_FETCHES_PER_RUN"}]},
"setup":{"modality":"static_secret","credential_capture":{"kind":"access_token","label":"Orchard account",` +
	`"fields":[{"name":"token","label":"Token","type":"password","required":true,"secret":true,"env":["ORCHARD_TOKEN"]}]}},
"capabilities":{"refresh_policy":{"recommended_mode":"automatic","rationale":"It is cheap.",` +
	`"recommended_interval_seconds":7200,"minimum_interval_seconds":3600,"maximum_staleness_seconds":86400}},
"streams":[{"name":"trees","semantics":"mutable_state","primary_key":"id","required":true,` +
	`"query":{"search":["name"],"filter":["kind"]},
"schema":{"type":"object","properties":{"id":{"type":"string"},"name":{"type":"string"},"kind":{"type":"string"}}}}]}`

// orchardConnector is a real process that knows one good token.
const orchardConnector = `#!/bin/sh
read -r start
if [ "$ORCHARD_TOKEN" = "ladder" ]; then
	printf '%s\n' '{"type":"PROGRESS","stream":"trees","message":"trees: 2 of 2","count":2,"total":2}'
	printf '%s\n' '{"type":"RECORD","stream":"trees","key":"/","data":{"id":"/","name":"Old <pear> & plum","kind":"pear"},"emitted_at":"2026-01-02T03:04:05Z"}'
	printf '%s\n' '{"type":"RECORD","stream":"trees","key":"t/2","data":{"id":"t/2","name":"Young plum","kind":"plum"},'\
'"emitted_at":"2026-01-02T03:04:05Z"}'
	printf '%s\n' '{"type":"STATE","stream":"trees","cursor":{"n":1}}'
	printf '%s\n' '{"type":"DONE","status":"succeeded","records_emitted":2}'
	exit 0
fi
printf '%s\n' '{"type":"DONE","status":"failed","records_emitted":0,'\
'"error":{"code":"auth_failure","message":"the token was refused","retryable":false}}'
exit 1
`

// house is the real service over a real database, called directly and through the routes. Its clock does not advance.
type house struct {
	t      *testing.T
	direct *service.Service
	client *api.Client
	key    credential.Key
	at     time.Time
}

func newHouse(t *testing.T) *house {
	t.Helper()
	h := &house{t: t, key: credential.NewKey(), at: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)}
	home := t.TempDir()
	dir := filepath.Join(home, "connectors", "orchard")
	h.must(os.MkdirAll(dir, 0o700))
	h.must(os.WriteFile(filepath.Join(dir, "manifest.json"), []byte(orchardManifest), 0o600))
	h.must(os.WriteFile(filepath.Join(dir, "connector"), []byte(orchardConnector), 0o700))
	st, err := sqlite.Open(t.Context(), sqlitetest.NewDatabase(t, filepath.Join(home, "pdpp.db")), sqlite.Options{})
	h.must(err)
	t.Cleanup(func() { h.must(st.Close()) })
	h.must(st.PutWorker(t.Context(), store.Worker{ID: "w1", Host: "lantern", Slots: 2, StartedAt: h.at, SeenAt: h.at}))
	h.direct = service.New(service.Config{
		Store: st, Connectors: catalog.Catalog{Dir: filepath.Join(home, "connectors")},
		Key:    func() (credential.Key, error) { return h.key, nil },
		Access: auth.New(auth.Config{Store: st, Now: h.now}), Base: "https://pdpp.lantern.example",
		Version: "1.0.0", Home: home, Database: "sqlite", Now: h.now,
	})
	h.client = clientOf(t, h.direct)
	return h
}

func (h *house) now() time.Time { return h.at }

func (h *house) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// run makes a run of the connection as a worker would.
func (h *house) run(id string) runner.Status {
	h.t.Helper()
	l := &launch.Launcher{
		Store: h.direct.Store, Connectors: h.direct.Config.Connectors, Holder: "w1",
		Secrets:  launch.StoredSecrets(h.direct.Store, h.key),
		Bindings: map[string]jsontext.Value{"network": jsontext.Value("{}")}, Now: h.now,
	}
	result, err := l.Run(h.t.Context(), launch.RunRequest{ConnectionID: id, Trigger: store.TriggerManual})
	h.must(err)
	return result.Status
}
