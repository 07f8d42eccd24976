package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
	"github.com/pdpp-go/pdpp/protocol"
)

// dueShop is a home with the scheduled connection cin_nursery_1, a scripted connector, and a clock that the test moves.
type dueShop struct {
	statusShop
	clock time.Time
}

const nursery = "cin_nursery_1"

func newDueShop(t *testing.T) *dueShop {
	t.Helper()
	home := t.TempDir()
	st, err := sqlite.Open(t.Context(), sqlitetest.NewDatabase(t, filepath.Join(home, "pdpp.db")), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	env, _, _ := testEnvironment(t, nil)
	s := &dueShop{statusShop{Store: st, t: t, home: home, now: env.Now()}, env.Now()}
	dir := filepath.Join(home, "connectors", "nursery")
	s.must(os.MkdirAll(dir, 0o755))
	s.must(os.WriteFile(filepath.Join(dir, "manifest.json"), []byte(nurseryManifest), 0o600))
	s.connector(`{"type":"DONE","status":"succeeded","records_emitted":0}`, 0)
	_, err = st.PutManifest(t.Context(), "nursery", []byte(nurseryManifest), s.now)
	s.must(err)
	s.add(nursery, "Nursery", store.SourceAccount)
	s.every(time.Hour)
	return s
}

// connector sets what the connector sends at the end of each run.
func (s *dueShop) connector(done string, exit int) {
	s.t.Helper()
	path := filepath.Join(s.home, "connectors", "nursery", "connector")
	script := "#!/bin/sh\nread -r start\nprintf '%s\\n' '" + done + "'\nexit " + string(rune('0'+exit)) + "\n"
	s.must(os.WriteFile(path, []byte(script), 0o755))
	found, err := catalog.Catalog{Dir: filepath.Join(s.home, "connectors")}.Find(s.t.Context(), "nursery")
	s.must(err)
	s.must(launch.Confirm(s.t.Context(), s, found, s.now))
}

func (s *dueShop) every(d time.Duration) {
	s.t.Helper()
	s.must(s.PutSchedule(s.t.Context(), store.Schedule{
		ConnectionID: nursery, IntervalSeconds: int64(d / time.Second), Enabled: true, CreatedAt: s.clock, UpdatedAt: s.clock,
	}))
}

// command runs a command at the shop's time.
func (s *dueShop) command(args ...string) (code int, out string) {
	s.t.Helper()
	env, stdout, stderr := testEnvironment(s.t, nil, append(args, "--home", s.home)...)
	env.Now = func() time.Time { return s.clock }
	code = Main(env)
	return code, stdout.String() + stderr.String()
}

func (s *dueShop) evidence() evidence.Evidence {
	s.t.Helper()
	found, err := s.Evidence(s.t.Context(), evidence.Query{ConnectionIDs: []string{nursery}})
	s.must(err)
	return found[0]
}

const stuck = `{"type":"DONE","status":"failed","records_emitted":0,"error":{"code":"gate_stuck",` +
	`"message":"the gate is stuck"}}`

// Passes over a connection that fails wait longer and longer and then end. A run
// by hand that fails changes nothing; one that succeeds ends the wait.
func TestDueWaitsLongerAfterFailures(t *testing.T) {
	t.Attr("spec", "CH-04.1")
	s := newDueShop(t)
	s.connector(stuck, 1)
	waits := []time.Duration{0, 0, time.Hour, 2 * time.Hour, 4 * time.Hour, 8 * time.Hour, 0}
	for i, wait := range waits {
		if code, out := s.command("run", "--due"); code != failure.ExitFailed ||
			!strings.Contains(out, "pdpp: "+nursery+": the gate is stuck\n") {
			t.Fatalf("failure %d: code %d, %s", i+1, code, out)
		}
		b := s.evidence().Backoff
		if b == nil || b.Failures != i+1 || b.Class != "connector:gate_stuck" || (b.NextAttemptAt == nil) != (wait == 0) {
			t.Fatalf("failure %d: %+v", i+1, b)
		}
		if wait == 0 {
			wait = time.Hour // the turn itself
		} else if !b.NextAttemptAt.Equal(s.clock.Add(wait)) {
			t.Fatalf("failure %d: next attempt at %v", i+1, b.NextAttemptAt)
		}
		s.clock = s.clock.Add(wait - time.Second)
		if code, out := s.command("run", "--due", "--verbose"); code != failure.ExitOK ||
			!strings.Contains(out, nursery+": skipped, ") {
			t.Fatalf("%v after failure %d: code %d, %s", wait-time.Second, i+1, code, out)
		}
		s.clock = s.clock.Add(time.Second)
	}
	s.clock = s.clock.Add(1000 * time.Hour)
	if code, out := s.command("run", "--due", "--verbose"); code != failure.ExitOK ||
		!strings.Contains(out, "the same failure came 7 times in a row; fix it, then: pdpp run "+nursery) {
		t.Errorf("given up: code %d, %s", code, out)
	}
	if code, _ := s.command("run", nursery); code != failure.ExitFailed || s.evidence().Backoff.Failures != 7 {
		t.Errorf("by hand: code %d, %+v", code, s.evidence().Backoff)
	}
	s.connector(`{"type":"DONE","status":"succeeded","records_emitted":0}`, 0)
	if code, out := s.command("run", nursery); code != failure.ExitOK || s.evidence().Backoff != nil {
		t.Errorf("fixed: code %d, %+v, %s", code, s.evidence().Backoff, out)
	}
	s.clock = s.clock.Add(time.Hour)
	if code, out := s.command("run", "--due"); code != failure.ExitOK ||
		!strings.Contains(out, "Nursery ("+nursery+"): succeeded") {
		t.Errorf("in its turn: code %d, %s", code, out)
	}
}

// A scheduled success ends the count, and another failure starts a new one.
func TestDueCountsFailuresOfOneKindInARow(t *testing.T) {
	s := newDueShop(t)
	pass := func(done string, exit int) *evidence.Backoff {
		s.connector(done, exit)
		s.command("run", "--due")
		s.clock = s.clock.Add(time.Hour)
		return s.evidence().Backoff
	}
	wasps := strings.ReplaceAll(stuck, "gate_stuck", "wasps")
	pass(stuck, 1)
	if b := pass(stuck, 1); b.Failures != 2 {
		t.Errorf("twice: %+v", b)
	}
	if b := pass(wasps, 1); b.Failures != 1 || b.Class != "connector:wasps" {
		t.Errorf("another failure: %+v", b)
	}
	if b := pass(`{"type":"DONE","status":"succeeded","records_emitted":0}`, 0); b != nil {
		t.Errorf("a success: %+v", b)
	}
	if e := s.evidence(); e.LastRun.Trigger != string(store.TriggerScheduled) || e.LastRun.RecoveryOnly {
		t.Errorf("run %+v", e.LastRun)
	}
}

// While the source is under pressure a pass only retries what else is missing.
func TestDuePassesRecoveryOnlyThrough(t *testing.T) {
	s := newDueShop(t)
	ctx := t.Context()
	l, err := s.StartRun(ctx, store.RunStart{RunID: "run_1", ConnectionID: nursery, ConnectorID: "nursery",
		Trigger: store.TriggerScheduled,
		Holder:  "test", TTL: time.Minute, Streams: []store.StreamSpec{{Name: "trees"}}}, s.clock)
	s.must(err)
	missing := func(key string, reason protocol.Reason) slice.Gap {
		return slice.Gap{Stream: "trees", RecordKey: key, Reason: reason, Retryable: true,
			Locator: jsontext.Value(`{"key":"` + key + `"}`)}
	}
	_, err = s.CommitSlice(ctx, l, slice.Slice{Gaps: []slice.Gap{missing("t1", protocol.ReasonRateLimited)}}, s.clock)
	s.must(err)
	_, err = s.CommitSlice(ctx, l, slice.Slice{Gaps: []slice.Gap{missing("t2", protocol.ReasonRetryExhausted)}}, s.clock)
	s.must(err)
	ended := s.clock.Add(10 * time.Minute)
	s.must(s.FinishRun(ctx, l, store.RunOutcome{Status: store.RunSucceeded, Event: slice.Event{Type: "run.completed"}},
		ended))
	s.clock = s.clock.Add(time.Hour)
	if code, out := s.command("run", "--due"); code != failure.ExitOK {
		t.Fatalf("code %d, %s", code, out)
	}
	if e := s.evidence(); e.LastRun.ID == "run_1" || !e.LastRun.RecoveryOnly {
		t.Errorf("run %+v", e.LastRun)
	}
}

// A run with a dead process blocks its schedule no longer than its lease. Its question is closed.
func TestDueTakesADeadRunForOver(t *testing.T) {
	s := newDueShop(t)
	ctx := t.Context()
	l, err := s.StartRun(ctx, store.RunStart{RunID: "run_dead", ConnectionID: nursery, ConnectorID: "nursery",
		Trigger: store.TriggerScheduled,
		Holder:  "test", TTL: time.Minute, Streams: []store.StreamSpec{{Name: "trees"}}}, s.clock)
	s.must(err)
	s.must(s.OpenInteraction(ctx, l, store.Interaction{RequestID: "q1", RunID: "run_dead", ConnectionID: nursery,
		Kind: protocol.AskOTP, Message: "?", OpenedAt: s.clock}, s.clock))
	for _, step := range []struct {
		after time.Duration
		want  string
	}{
		{59 * time.Second, "a run is under way"},
		{time.Minute, "due now"},
	} {
		s.clock = s.now.Add(step.after)
		if _, out := s.command("schedule", "list"); !strings.Contains(out, step.want) {
			t.Errorf("after %v:\n%s", step.after, out)
		}
	}
	if code, out := s.command("run", "--due"); code != failure.ExitOK || !strings.Contains(out, "succeeded") {
		t.Errorf("code %d, %s", code, out)
	}
}

// What a connector declares today counts, not what was recorded at its last run.
func TestDueAsksTheInstalledConnector(t *testing.T) {
	s := newDueShop(t)
	manual := strings.Replace(nurseryManifest, `"recommended_mode":"automatic"`, `"recommended_mode":"manual"`, 1)
	s.must(os.WriteFile(filepath.Join(s.home, "connectors", "nursery", "manifest.json"), []byte(manual), 0o600))
	code, out := s.command("run", "--due", "--verbose")
	if code != failure.ExitOK || !strings.Contains(out, nursery+
		": skipped, its connector has to be started by you: pdpp run "+nursery) {
		t.Errorf("code %d, %s", code, out)
	}
	if e := s.evidence(); e.LastRun != nil {
		t.Errorf("it ran: %+v", e.LastRun)
	}
}

// A connection that another process runs is left to it.
func TestDueLeavesARunningConnectionAlone(t *testing.T) {
	s := newDueShop(t)
	_, err := s.StartRun(t.Context(), store.RunStart{RunID: "run_other", ConnectionID: nursery, ConnectorID: "nursery",
		Trigger: store.TriggerManual,
		Holder:  "test", TTL: time.Minute}, s.clock)
	s.must(err)
	code, out := s.command("run", "--due", "--json")
	if code != failure.ExitOK || !strings.Contains(out, `"runs":[],"errors":[],"skipped":[`) ||
		!strings.Contains(out, `"why":"running","next_attempt_at":null`) {
		t.Errorf("code %d, %s", code, out)
	}
}

// A connection that cannot start is reported with its exit code, and the others still run.
func TestDueGoesOnPastOneThatCannotStart(t *testing.T) {
	s := newDueShop(t)
	const orchard = `{"protocol_version":"0.1.0","connector_id":"orchard","version":"1.0.0","display_name":"Orchard",
"setup":{"modality":"static_secret","credential_capture":{"kind":"access_token","fields":[{"name":"token",
 "label":"Token","type":"password","required":true,"secret":true,"env":["ORCHARD_TOKEN"]}]}},
"capabilities":{"refresh_policy":{"recommended_mode":"automatic","rationale":"It is cheap.",
 "maximum_staleness_seconds":86400}},
"streams":[{"name":"trees","semantics":"mutable_state","primary_key":"id","schema":{"type":"object",
 "properties":{"id":{"type":"string"}}}}]}`
	dir := filepath.Join(s.home, "connectors", "orchard")
	s.must(os.MkdirAll(dir, 0o755))
	s.must(os.WriteFile(filepath.Join(dir, "manifest.json"), []byte(orchard), 0o600))
	s.must(os.WriteFile(filepath.Join(dir, "connector"), []byte("#!/bin/sh\nexit 1\n"), 0o755))
	generation, err := s.PutManifest(t.Context(), "orchard", []byte(orchard), s.now)
	s.must(err)
	s.must(s.CreateConnection(t.Context(), store.Connection{ID: "cin_first", ConnectorID: "orchard",
		DisplayName: "Orchard", Status: store.ConnectionActive,
		SourceKind: store.SourceAccount, ManifestGeneration: generation, CreatedAt: s.now, UpdatedAt: s.now}))
	s.must(s.PutSchedule(t.Context(), store.Schedule{ConnectionID: "cin_first", IntervalSeconds: 3600, Enabled: true,
		CreatedAt: s.now, UpdatedAt: s.now}))
	for _, form := range []string{"--verbose", "--json"} {
		env, stdout, stderr := testEnvironment(t, map[string]string{"ORCHARD_TOKEN_FILE": filepath.Join(s.home, "none")},
			"run", "--due", form, "--home", s.home)
		env.Now = func() time.Time { return s.clock }
		code := Main(env)
		out := stdout.String() + stderr.String()
		if code != failure.ExitUsage || !strings.Contains(out, "ORCHARD_TOKEN_FILE") || !strings.Contains(out, "cin_first") ||
			!strings.Contains(out, nursery) || !strings.Contains(out, "succeeded") {
			t.Errorf("%s: code %d, %s", form, code, out)
		}
		if form == "--json" && !strings.Contains(out, `"errors":[{"connection_id":"cin_first"`) {
			t.Errorf("its error is not among the errors: %s", out)
		}
		s.clock = s.clock.Add(time.Hour)
	}
}
