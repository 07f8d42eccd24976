package doctor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// patient is a sound installation, with a real database and a real connector folder.
type patient struct {
	Config
	t  *testing.T
	st store.Store // another handle on the database, to make things happen in it
}

const fern = `{"protocol_version":"0.1.0","connector_id":"fern","version":"1","display_name":"Fern","streams":[
 {"name":"notes","semantics":"append_only","primary_key":"id","schema":{"type":"object",` +
	`"properties":{"id":{"type":"string"}}}}],
 "runtime_requirements":{"bindings":{"browser":{"required":true}},"environment_variables":[{"name":"FERN_SERVER",` +
	`"required":true}]},
 "setup":{"modality":"static_secret","credential_capture":{"kind":"username_password","fields":[
  {"name":"password","label":"Password","required":true,"secret":true,"env":["FERN_PASSWORD","FERN_PASS"]}]}}}`

func admit(t *testing.T) *patient {
	t.Helper()
	home := filepath.Join(t.TempDir(), "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	p := &patient{t: t}
	variables := map[string]string{"FERN_SERVER": "fern.example", "FERN_PASS": "of no use to anybody"}
	p.Config = Config{
		Home: home,
		Open: func(ctx context.Context) (store.Store, error) {
			return sqlite.Open(ctx, filepath.Join(home, "pdpp.db"), sqlite.Options{})
		},
		Connectors:  catalog.Catalog{Dir: filepath.Join(home, "connectors")},
		Lookup:      func(name string) (string, bool) { v, ok := variables[name]; return v, ok },
		WorkerAlive: func(w store.Worker, now time.Time) bool { return now.Sub(w.SeenAt) < time.Minute },
		Now:         func() time.Time { return noon },
		LookPath: func(program string) (string, error) {
			if program == "chromium" {
				return "/usr/bin/chromium", nil
			}
			return "", errors.New("not found")
		},
		FreeSpace: func(string) (uint64, error) { return 7 * gibibyte, nil },
		Confined:  func() (bool, string) { return true, "" },
	}
	p.install("fern", fern)
	st, err := p.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	p.st = st
	p.connect("fern-1", "fern")
	p.must(st.PutSchedule(t.Context(), store.Schedule{ConnectionID: "fern-1", IntervalSeconds: 3600, Enabled: true,
		CreatedAt: noon, UpdatedAt: noon}))
	p.must(st.PutWorker(t.Context(), store.Worker{ID: "w1", Host: "vera", StartedAt: noon, SeenAt: noon}))
	return p
}

func (p *patient) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *patient) install(name, body string) {
	p.t.Helper()
	folder := filepath.Join(p.Home, "connectors", name)
	p.must(os.MkdirAll(folder, 0o700))
	p.must(os.WriteFile(filepath.Join(folder, "manifest.json"), []byte(body), 0o600))
	p.must(os.WriteFile(filepath.Join(folder, "connector"), []byte("#!/bin/sh\n"), 0o700))
}

func (p *patient) connect(id, connector string) {
	p.t.Helper()
	p.must(p.st.CreateConnection(p.t.Context(), store.Connection{ID: id, ConnectorID: connector, DisplayName: "Ada's",
		Status:     store.ConnectionActive,
		SourceKind: store.SourceAccount, CreatedAt: noon, UpdatedAt: noon}))
}

// run starts a run of the first connection.
func (p *patient) run(at time.Time) {
	p.t.Helper()
	_, err := p.st.StartRun(p.t.Context(), store.RunStart{RunID: "run_1", ConnectionID: "fern-1", ConnectorID: "fern",
		Trigger: store.TriggerManual, Holder: "vera 1", TTL: 30 * time.Second}, at)
	p.must(err)
}

// keep stores a credential under the key.
func (p *patient) keep(k credential.Key, status store.CredentialStatus) {
	p.t.Helper()
	values := credential.Values{"FERN_PASSWORD": credential.NewSecret("of no use to anybody")}
	p.must(p.st.PutCredential(p.t.Context(), store.Credential{ConnectionID: "fern-1", Kind: "username_password",
		Sealed: values.SealFor(k, "fern-1"), Status: status, CapturedAt: noon}))
}

// examine returns the findings, after checking what must hold for all of them.
func (p *patient) examine() []Finding {
	p.t.Helper()
	findings := Run(p.t.Context(), p.Config)
	for _, f := range findings {
		if (f.Fix == "") != (f.Status == OK) {
			p.t.Errorf("%+v: a fix belongs to whatever is not in order, and to nothing else", f)
		}
		if strings.Contains(f.Message+f.Fix, "of no use to anybody") {
			p.t.Errorf("%+v tells a secret", f)
		}
	}
	return findings
}

// of returns the findings of one check.
func (p *patient) of(check string) (got []Finding) {
	p.t.Helper()
	for _, f := range p.examine() {
		if f.Check == check {
			got = append(got, f)
		}
	}
	return got
}

// wants compares the findings of one check by status and fix.
func (p *patient) wants(check string, want ...Finding) {
	p.t.Helper()
	got := p.of(check)
	for i := range want {
		want[i].Check = check
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Finding{}, "Message"), cmpopts.EquateEmpty()); diff != "" {
		p.t.Errorf("(-want +got):\n%s\n%+v", diff, got)
	}
}
