package serve

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/schedule/scheduler"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
	"github.com/pdpp-go/pdpp/internal/view"
	"github.com/pdpp-go/pdpp/manifest"
)

const gardenManifest = `{"protocol_version":"0.1.0","connector_id":"garden","version":"1.0.0","display_name":"Garden",
"runtime_requirements":{"bindings":{"network":{"required":true}}},
"setup":{"modality":"static_secret","credential_capture":{"kind":"access_token","fields":[{"name":"token",` +
	`"label":"Token","type":"password","required":true,"secret":true,"env":["GARDEN_TOKEN"]}]}},
"capabilities":{"refresh_policy":{"recommended_mode":"automatic","rationale":"It is cheap.",` +
	`"maximum_staleness_seconds":86400}},
"streams":[{"name":"beds","semantics":"mutable_state","primary_key":"id","required":true,"schema":{"type":"object",` +
	`"properties":{"id":{"type":"string"}}}}]}`

// gardenConnector is a real process that knows one good token.
const gardenConnector = `#!/bin/sh
read -r start
if [ "$GARDEN_TOKEN" = "trowel" ]; then
	printf '%s\n' '{"type":"RECORD","stream":"beds","key":"b1","data":{"id":"b1"},"emitted_at":"2026-01-02T03:04:05Z"}'
	printf '%s\n' '{"type":"STATE","stream":"beds","cursor":{"n":1}}'
	printf '%s\n' '{"type":"DONE","status":"succeeded","records_emitted":1}'
	exit 0
fi
printf '%s\n' '{"type":"DONE","status":"failed","records_emitted":0,'\
'"error":{"code":"auth_failure","message":"the token was refused","retryable":false}}'
exit 1
`

const garden = "cin_garden"

// plot is a whole server over an embedded database, with a real connector and
// virtual time.
type plot struct {
	t    *testing.T
	home string
	st   store.Store
	key  credential.Key
	view view.View
	stop func()

	mu     sync.Mutex
	pushes []string
	mute   bool // the webhook takes a push and does not answer
	log    strings.Builder

	passing chan struct{} // holds one while the server is at work
}

func newPlot(t *testing.T) *plot {
	t.Helper()
	home := t.TempDir()
	p := &plot{t: t, home: home, key: credential.NewKey(), passing: make(chan struct{}, 1)}
	var err error
	p.st, err = sqlite.Open(t.Context(), sqlitetest.NewDatabase(t, filepath.Join(home, "pdpp.db")), sqlite.Options{})
	p.must(err)
	p.view = view.View{Reader: p.st, Now: time.Now}
	dir := filepath.Join(home, "connectors", "garden")
	p.must(os.MkdirAll(dir, 0o700))
	p.must(os.WriteFile(filepath.Join(dir, "manifest.json"), []byte(gardenManifest), 0o600))
	p.must(os.WriteFile(filepath.Join(dir, "connector"), []byte(gardenConnector), 0o700))
	generation, err := p.st.PutManifest(t.Context(), "garden", []byte(gardenManifest), time.Now())
	p.must(err)
	p.must(p.st.CreateConnection(t.Context(), store.Connection{ID: garden, ConnectorID: "garden", DisplayName: "Garden",
		Status: store.ConnectionActive, SourceKind: store.SourceAccount, ManifestGeneration: generation,
		CreatedAt: time.Now(), UpdatedAt: time.Now()}))
	confirmed(t, p.st, filepath.Join(home, "connectors"), "garden")
	p.must(p.st.PutTarget(t.Context(), store.PushTarget{ID: "hook", Kind: store.TargetWebhook, Label: "Hook",
		Endpoint: "https://hook.lantern.example/pdpp", CreatedAt: time.Now()}))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- Run(ctx, Config{
			Role: All, Store: p.st, Database: scheduler.Database{SQLite: p.st.(interface{ Writer() *sql.DB }).Writer()},
			Worker:     store.Worker{ID: "w1", Host: "plot", Capabilities: []string{"network"}},
			Connectors: catalog.Catalog{Dir: filepath.Join(home, "connectors")},
			Bindings:   map[string]jsontext.Value{"network": jsontext.Value("{}")}, Key: p.key,
			HTTP: &http.Client{Transport: p}, Log: slog.New(slog.NewTextHandler(p, &slog.HandlerOptions{Level: slog.LevelWarn})),
			Now: p.now,
		})
	}()
	p.stop = func() {
		cancel()
		p.must(<-done)
		p.must(p.st.Close())
	}
	return p
}

// confirmed confirms a connector for the owner, like adding it on the page.
func confirmed(t *testing.T, st store.Store, dir, name string) {
	t.Helper()
	c, err := catalog.Catalog{Dir: dir}.Find(t.Context(), name)
	if err == nil {
		err = launch.Confirm(t.Context(), st, c, time.Now())
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (p *plot) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// RoundTrip is the owner's webhook.
func (p *plot) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	p.pushes = append(p.pushes, string(body))
	mute := p.mute
	p.mu.Unlock()
	if mute {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	return &http.Response{StatusCode: http.StatusNoContent, Body: http.NoBody, Request: r}, nil
}

func (p *plot) pushed() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pushes
}

// Write takes a line of the server's log.
func (p *plot) Write(line []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.Write(line)
}

// warned returns the warnings of the server's log.
func (p *plot) warned() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// credential stores a token, as the owner's command does.
func (p *plot) credential(token string) {
	p.t.Helper()
	m, err := manifest.Parse([]byte(gardenManifest))
	p.must(err)
	values, err := credential.NewValues(m, map[string]string{"GARDEN_TOKEN": token})
	p.must(err)
	p.must(p.st.PutCredential(p.t.Context(), store.Credential{ConnectionID: garden, Kind: "access_token",
		Sealed:      values.SealFor(p.key, garden),
		Fingerprint: p.key.FingerprintOf(values), Status: store.CredentialActive, CapturedAt: time.Now()}))
}

func (p *plot) schedule(every time.Duration, enabled bool) {
	p.t.Helper()
	p.must(p.st.PutSchedule(p.t.Context(),
		store.Schedule{ConnectionID: garden, IntervalSeconds: int64(every / time.Second), Enabled: enabled,
			CreatedAt: time.Now(), UpdatedAt: time.Now()}))
}

func (p *plot) verdict() view.Connection {
	p.t.Helper()
	c, err := p.view.One(p.t.Context(), garden)
	p.must(err)
	return c.Connection
}

// runs returns the triggers and results of all runs, the oldest first.
func (p *plot) runs() string {
	p.t.Helper()
	all, err := p.st.ListRuns(p.t.Context(), store.RunQuery{ConnectionID: garden, Limit: 1000})
	p.must(err)
	var out []string
	for _, r := range all {
		out = append([]string{fmt.Sprintf("%s %s", r.Trigger, r.Status)}, out...)
	}
	return strings.Join(out, ", ")
}

func (p *plot) records() []attention.AttentionRecord {
	p.t.Helper()
	all, err := p.st.Attention(p.t.Context(), store.AttentionQuery{All: true})
	p.must(err)
	return all
}

// inPlot runs a test with a server in virtual time.
func inPlot(t *testing.T, test func(t *testing.T, p *plot)) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlot(t)
		test(t, p)
		p.stop()
	})
}

// soon is enough for a pass, a run and the pass that follows it.
const soon = 10 * time.Second

func (p *plot) evidence() evidence.Evidence {
	p.t.Helper()
	found, err := p.st.Evidence(p.t.Context(), evidence.Query{ConnectionIDs: []string{garden}})
	p.must(err)
	return found[0]
}

// now is the server's clock. Every pass reads it, which shows that the server has advanced.
func (p *plot) now() time.Time {
	select {
	case p.passing <- struct{}{}:
	default:
	}
	return time.Now()
}

// until waits for something to happen, where the clock is real: it looks again
// whenever the server is at work.
func (p *plot) until(what string, happened func() bool) {
	p.t.Helper()
	late := time.After(5 * time.Minute)
	for !happened() {
		select {
		case <-p.passing:
		case <-late:
			p.t.Fatalf("it did not happen within five minutes: %s", what)
		}
	}
}
