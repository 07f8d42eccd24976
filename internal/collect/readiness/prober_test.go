package readiness

import (
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
)

const lantern = `{"protocol_version":"0.1.0","connector_id":"lantern","version":"1.0.0","display_name":"Lantern",
"runtime_requirements":{"bindings":{"browser":{"required":true}},"external_tools":[{"name":"wick",` +
	`"detect":{"executable":"wick","executable_env_override":"LANTERN_WICK"}}]},
"setup":{"modality":"static_secret","credential_capture":{"kind":"access_token","fields":[{"name":"token",` +
	`"label":"Token","required":true,"secret":true,"env":["LANTERN_TOKEN"]}]}},
"streams":[{"name":"lights","semantics":"mutable_state","primary_key":"id","schema":{"type":"object",` +
	`"properties":{"id":{"type":"string"}}}}]}`

var noon = time.Date(2026, 4, 5, 12, 0, 0, 0, time.UTC)

// room is a store, a machine and an environment.
type room struct {
	wrote     []evidence.Probe
	browser   bool
	env       map[string]string
	programs  map[string]bool
	installed string // the folder of the connector; empty when it is not installed
}

func (r *room) Manifest(context.Context, string) ([]byte, int64, error) {
	return []byte(lantern), 1, nil
}

func (r *room) PutProbe(_ context.Context, p store.Probe) error {
	r.wrote = append(r.wrote, p.Probe)
	return nil
}

func (r *room) prober() *Prober {
	return &Prober{
		Store:   r,
		Offered: func(context.Context, manifest.Binding, time.Time) (bool, error) { return r.browser, nil },
		Lookup:  func(name string) (string, bool) { v, ok := r.env[name]; return v, ok },
		LookPath: func(program string) (string, error) {
			if !r.programs[program] {
				return "", exec.ErrNotFound
			}
			return program, nil
		},
		Connectors: r,
	}
}

func (r *room) Find(ctx context.Context, name string) (catalog.Connector, error) {
	return catalog.Catalog{Dir: r.installed}.Find(ctx, name)
}

// look returns what one check wrote, by dimension, and when the next check is due.
func (r *room) look(t *testing.T, e *evidence.Evidence, now time.Time) (map[evidence.Dimension]evidence.Probe,
	time.Time) {
	t.Helper()
	r.wrote = nil
	again, err := r.prober().Check(t.Context(), []evidence.Evidence{*e}, now)
	if err != nil {
		t.Fatal(err)
	}
	out := map[evidence.Dimension]evidence.Probe{}
	for _, p := range r.wrote {
		out[p.Dimension] = p
	}
	return out, again[e.Connection.ID]
}

func connection() *evidence.Evidence {
	return &evidence.Evidence{Connection: evidence.Connection{ID: "cin_lantern", ConnectorID: "lantern",
		Status: evidence.StatusActive, SourceKind: "account"}}
}

// A connection that has everything costs no write at all.
func TestWhatIsThereIsNotWritten(t *testing.T) {
	r := &room{browser: true, env: map[string]string{"LANTERN_TOKEN": "x", "LANTERN_WICK": "thread"},
		programs: map[string]bool{"thread": true}}
	if wrote, again := r.look(t, connection(), noon); len(wrote) > 0 || !again.IsZero() {
		t.Errorf("wrote %+v, again at %v", wrote, again)
	}
	stored := connection()
	stored.Credential = &evidence.Credential{Status: evidence.CredentialActive}
	delete(r.env, "LANTERN_TOKEN")
	if wrote, _ := r.look(t, stored, noon); len(wrote) > 0 {
		t.Errorf("a stored credential: wrote %+v", wrote)
	}
	for _, not := range []func(*evidence.Evidence){
		func(e *evidence.Evidence) { e.Connection.Status = evidence.StatusRevoked },
		func(e *evidence.Evidence) { e.Connection.Status = evidence.StatusDraft },
		func(e *evidence.Evidence) { e.Connection.SourceKind = evidence.SourceLocalDevice },
	} {
		e := connection()
		not(e)
		if wrote, _ := (&room{}).look(t, e, noon); len(wrote) > 0 {
			t.Errorf("%+v: wrote %+v", e.Connection, wrote)
		}
	}
}

func TestWhatIsMissingIsRenewedUntilItIsThere(t *testing.T) {
	r, e := &room{}, connection()
	wrote, again := r.look(t, e, noon)
	for d, reason := range map[evidence.Dimension]string{
		evidence.ProbeRuntime: "binding_missing", evidence.ProbeTool: "tool_missing",
		evidence.ProbeCredentials: evidence.ReasonCredentialRequired,
	} {
		p := wrote[d]
		if p.Status != evidence.ProbeFailed || p.Reason != reason || !p.At.Equal(noon) || p.ExpiresAt == nil ||
			!p.ExpiresAt.Equal(noon.Add(findingLifetime)) {
			t.Errorf("%s: %+v", d, p)
		}
		e.Probes = append(e.Probes, p)
	}
	if !again.Equal(noon.Add(renewalAge)) {
		t.Errorf("again at %v", again)
	}
	if wrote, again := r.look(t, e, noon.Add(time.Minute)); len(wrote) > 0 || !again.Equal(noon.Add(renewalAge)) {
		t.Errorf("a minute later: wrote %+v, again at %v", wrote, again)
	}
	if wrote, _ := r.look(t, e, noon.Add(renewalAge)); len(wrote) != 3 {
		t.Errorf("when it is about to be forgotten: wrote %+v", wrote)
	}
	r.browser, r.env, r.programs = true, map[string]string{"LANTERN_TOKEN": "x"}, map[string]bool{"wick": true}
	wrote, _ = r.look(t, e, noon.Add(2*time.Minute))
	if wrote[evidence.ProbeRuntime].Status != evidence.ProbeOK || wrote[evidence.ProbeTool].Status != evidence.ProbeOK ||
		wrote[evidence.ProbeCredentials].Status != evidence.ProbeUnknown {
		t.Errorf("when it is there: wrote %+v", wrote)
	}
	e.Probes = nil
	for _, p := range wrote {
		e.Probes = append(e.Probes, p)
	}
	if wrote, _ := r.look(t, e, noon.Add(findingLifetime)); len(wrote) > 0 {
		t.Errorf("later: wrote %+v", wrote)
	}
	// A worker without them believes the one that has them. The browser is known
	// of all workers together.
	r.browser, r.env, r.programs = false, nil, nil
	if wrote, _ := r.look(t, e, noon.Add(time.Hour)); len(wrote) != 1 ||
		wrote[evidence.ProbeRuntime].Status != evidence.ProbeFailed {
		t.Errorf("on another worker: wrote %+v", wrote)
	}
	if wrote, _ := r.look(t, e, noon.Add(25*time.Hour)); len(wrote) != 3 {
		t.Errorf("on another worker, a day later: wrote %+v", wrote)
	}
}

// A run that ended for want of a browser is outweighed for as long as there is one.
func TestFoundAfterAFailedRun(t *testing.T) {
	r, e := &room{browser: true, env: map[string]string{"LANTERN_TOKEN": "x"}, programs: map[string]bool{"wick": true}},
		connection()
	e.LastRun = &evidence.Run{Status: evidence.RunFailed, EndedAt: noon,
		Failure: &evidence.Failure{Reason: "runtime_binding_missing",
			Message: "Runtime cannot satisfy required binding: browser"}}
	for _, at := range []time.Time{noon, noon.Add(renewalAge)} {
		wrote, _ := r.look(t, e, at)
		p := wrote[evidence.ProbeRuntime]
		if len(wrote) != 1 || p.Status != evidence.ProbeOK {
			t.Fatalf("wrote %+v", wrote)
		}
		e.Probes = []evidence.Probe{p}
	}
}

func TestFaultsAreTold(t *testing.T) {
	p := (&room{}).prober()
	broken := errors.New("no list of workers")
	p.Offered = func(context.Context, manifest.Binding, time.Time) (bool, error) { return false, broken }
	if _, err := p.Check(t.Context(), []evidence.Evidence{*connection()}, noon); !errors.Is(err, broken) {
		t.Errorf("the look gives %v", err)
	}
}

// What the owner provides is looked for before a run, each by its name, and found again.
func TestWhatTheOwnerProvides(t *testing.T) {
	r, e := &room{browser: true, installed: t.TempDir(), env: map[string]string{"LANTERN_TOKEN": "x"},
		programs: map[string]bool{"wick": true}}, connection()
	dir, files := filepath.Join(r.installed, "lantern"), filepath.Join(r.installed, "files")
	write := func(path, text string) {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o700)); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(dir, "connector"), "#!/usr/bin/env no-such-lamp\n")
	write(filepath.Join(dir, "manifest.json"), `{"protocol_version":"0.1.0","connector_id":"lantern",`+
		`"version":"1.0.0","display_name":"Lantern",
"runtime_requirements":{"bindings":{"filesystem":{"required":true}},`+
		`"environment_variables":[{"name":"LANTERN_ROOM","required":true},{"name":"LANTERN_TOKEN","required":true,`+
		`"secret":true}]},
"setup":{"modality":"manual_or_upload","manual_or_upload":{"label":"Lantern","import_dir_env_var":"LANTERN_DIR",`+
		`"accepted_file_extensions":[".wax"]}},
"streams":[{"name":"lights","semantics":"mutable_state","primary_key":"id","schema":{"type":"object",`+
		`"properties":{"id":{"type":"string"}}}}]}`)
	type look map[evidence.Dimension]string
	seen := func(want look, now time.Time) {
		t.Helper()
		wrote, _ := r.look(t, e, now)
		e.Probes = nil
		got := look{}
		for d, p := range wrote {
			if e.Probes = append(e.Probes, p); evidence.MissingReason(d) != "" {
				got[d] = p.Name + " " + string(p.Status) + " " + p.Reason
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("at %v: %v, want %v", now, got, want)
		}
	}
	seen(look{evidence.ProbeInterpreter: "no-such-lamp failed interpreter_missing",
		evidence.ProbeVariable: "LANTERN_ROOM failed variable_unset",
		evidence.ProbeFiles:    "LANTERN_DIR failed files_unnamed"}, noon)
	write(filepath.Join(dir, "connector"), "#!/bin/sh\n")
	r.env["LANTERN_ROOM"], r.env["LANTERN_DIR"] = "hall", files
	seen(look{evidence.ProbeInterpreter: "no-such-lamp ok ", evidence.ProbeVariable: "LANTERN_ROOM ok ",
		evidence.ProbeFiles: "LANTERN_DIR failed files_missing"}, noon.Add(renewalAge))
	write(filepath.Join(files, "a.wax"), "light")
	seen(look{evidence.ProbeFiles: "LANTERN_DIR ok "}, noon.Add(2*renewalAge))
	// A run that ended for want of it is outweighed.
	e.Probes, e.LastRun = nil,
		&evidence.Run{Status: evidence.RunFailed, EndedAt: noon,
			Failure: &evidence.Failure{Reason: "files_missing", Message: "LANTERN_DIR names a folder"}}
	seen(look{evidence.ProbeFiles: "LANTERN_DIR ok "}, noon.Add(2*renewalAge))
}
