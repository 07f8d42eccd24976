package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/cli"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
)

// A support file that pdpp writes is judged here as pdpp judged it there.
func TestSupportFileReplays(t *testing.T) {
	home := t.TempDir()
	now := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	fill(t, home, now)
	tell := func(args ...string) []byte {
		var out, errOut bytes.Buffer
		code := cli.Main(cli.Env{
			Args: append(args, "--home", home), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errOut,
			Lookup:   func(string) (string, bool) { return "", false },
			LookPath: func(string) (string, error) { return "", os.ErrNotExist },
			Exit:     func(code int) { t.Errorf("exit %d", code) }, Now: func() time.Time { return now },
		})
		if code != failure.ExitOK {
			t.Fatalf("%v: code %d, %s", args, code, errOut.String())
		}
		return out.Bytes()
	}
	type judgement struct {
		State, Label, Channel string
	}
	for _, id := range []string{"cin_new", "cin_locked", "cin_failed"} {
		var shown struct {
			Connection map[string]any `json:"connection"`
		}
		if err := json.Unmarshal(tell("status", id, "--json"), &shown); err != nil {
			t.Fatal(err)
		}
		text := func(v any, path string) string { s, _ := at(v, path).(string); return s }
		want := judgement{
			text(shown.Connection, "connection_health.state"), text(shown.Connection, "rendered_verdict.pill.label"),
			text(shown.Connection, "rendered_verdict.channel"),
		}
		path := filepath.Join(t.TempDir(), "case.jsonl")
		tell("support", id, "--output", path)
		var out bytes.Buffer
		if ok, err := serve([]string{path}, nil, &out, true); err != nil || !ok {
			t.Fatalf("%s: ok %v, err %v: %s", id, ok, err, out.String())
		}
		var answer map[string]any
		if err := json.Unmarshal(out.Bytes(), &answer); err != nil {
			t.Fatal(err)
		}
		got := judgement{text(answer, "snapshot.state"), text(answer, "verdict.pill.label"), text(answer, "verdict.channel")}
		if got != want || want.State == "" || want.Label == "" || want.Channel == "" {
			t.Errorf("%s is %+v, and %+v by its support file", id, want, got)
		}
	}
}

// fill creates a store with three connections: a new one, one without a valid credential, and one
// with a failed run.
func fill(t *testing.T, home string, now time.Time) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	st, err := sqlite.Open(ctx, filepath.Join(home, "pdpp.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []string{"cin_new", "cin_locked", "cin_failed"} {
		must(st.CreateConnection(ctx, store.Connection{
			ID: id, ConnectorID: "nursery", DisplayName: id, Status: store.ConnectionActive, SourceKind: store.SourceAccount,
			CreatedAt: now, UpdatedAt: now,
		}))
	}
	must(st.PutCredential(ctx, store.Credential{ConnectionID: "cin_locked", Sealed: []byte{1}, Fingerprint: "f",
		Status: store.CredentialActive, CapturedAt: now.Add(-time.Hour)}))
	must(st.RejectCredential(ctx, "cin_locked", "it said: no such password", now.Add(-time.Hour), now))
	_, err = st.PutManifest(ctx, "nursery", []byte(`{"protocol_version":"0.1.0","connector_id":"nursery",`+
		`"version":"1.0.0","display_name":"Nursery",
		"runtime_requirements":{"bindings":{}},"streams":[{"name":"trees","semantics":"mutable_state",`+
		`"primary_key":"id","schema":{"type":"object"}}]}`), now)
	must(err)
	l, err := st.StartRun(ctx, store.RunStart{
		RunID: "run_1", ConnectionID: "cin_failed", ConnectorID: "nursery", Trigger: store.TriggerManual, Holder: "test",
		TTL: time.Minute, Streams: []store.StreamSpec{{Name: "trees"}},
	}, now)
	must(err)
	must(st.FinishRun(ctx, l, store.RunOutcome{Status: store.RunFailed, FailureReason: "connector_reported_failed",
		Error: "It broke.", Event: slice.Event{Type: "run.failed"}}, now))
	must(st.Close())
}
