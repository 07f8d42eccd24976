//pdpp:tier programs

package foreigntest

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/health"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
	"github.com/pdpp-go/pdpp/protocol"
	"github.com/pdpp-go/pdpp/providersim"
)

// A connector in another language collects everything, goes on where it stopped, and is
// judged as any other.
func TestForeignConnectorsComplete(t *testing.T) {
	for name, b := range map[string]*connectortest.Harness{"sqlite": connectortest.NewHarness(t, almanac(t)),
		"postgres": onPostgres(t, almanac(t))} {
		t.Run("python over HTTP into "+name, func(t *testing.T) {
			b.Succeed(t)
			b.VerifyComplete(t)
			healthy(t, b)
			for _, m := range []providersim.Mutation{{Op: "append_events", N: 25}, {Op: "edit_notes", N: 4},
				{Op: "delete_notes", N: 3}} {
				b.Sim.MutateData(t, m)
			}
			if again := b.Succeed(t); again.RecordsEmitted != 32 {
				t.Errorf("32 things changed, and %d records were sent", again.RecordsEmitted)
			}
			b.VerifyComplete(t)
			healthy(t, b)
		})
	}
	t.Run("shell over a folder", func(t *testing.T) {
		b := connectortest.NewHarness(t, shelf(t))
		b.Succeed(t)
		b.VerifyComplete(t)
		healthy(t, b)
	})
}

// shelf is the shell connector over a folder of its own.
func shelf(t *testing.T) connectortest.Target {
	t.Helper()
	dir, records := t.TempDir(), map[string]string{}
	for _, name := range []string{"almonds", "boats", "old maps"} {
		if err := os.WriteFile(filepath.Join(dir, name+".txt"), []byte(`"`+name+`", as they were`), 0o644); err != nil {
			t.Fatal(err)
		}
		records[name] = fmt.Sprintf(`{"name":%q,"text":"\"%s\", as they were"}`, name, name)
	}
	return fixed(t, "shelf", items{"pages", records}, map[string]string{"SHELF_DIR": dir})
}

func healthy(t *testing.T, b *connectortest.Harness) {
	t.Helper()
	reads(t, b, verdict.Green, "")
}

// reads expects a verdict with this tone and with a first action of this kind.
func reads(t *testing.T, b *connectortest.Harness, tone verdict.Tone, action verdict.ActionKind) {
	t.Helper()
	v := judged(t, b).Verdict
	var first verdict.ActionKind
	if len(v.RequiredActions) > 0 {
		first = v.RequiredActions[0].Kind
	}
	if v.Pill.Tone != tone || first != action {
		t.Errorf("the owner reads %+v, %q with %q to do; want %s and %q", v.Pill, v.ForwardStatement, first, tone, action)
	}
}

// A line for people in the middle of the protocol ends the run. What was finished before
// it stays, and the owner reads that the connector is at fault.
func TestForeignGarbage(t *testing.T) {
	records := map[string]string{}
	for n := range 20 {
		key := fmt.Sprintf("n%02d", n+1)
		records[key] = fmt.Sprintf(`{"id":%q}`, key)
	}
	b := connectortest.NewHarness(t, fixed(t, "chatty", items{"numbers", records}, nil))
	result := b.Run(t, launch.RunRequest{})
	if f := result.Failure; f == nil || f.Reason != runner.ReasonViolation ||
		f.Violation.Subtype != protocol.MalformedJSON {
		t.Fatalf("ended as %s: %v", result.Status, f)
	}
	b.VerifyNothingInvented(t)
	stored, err := connectortest.StoredRecords(t.Context(), b.Store, "numbers")
	if err != nil || len(stored) < 10 {
		t.Errorf("%d records stayed of the ten that a STATE had finished: %v", len(stored), err)
	}
	reads(t, b, verdict.Amber, verdict.RetryGap)
}

// A provider that refuses in the middle of the run leaves a declared gap, and the next
// run brings the rest.
func TestForeignRateLimit(t *testing.T) {
	b := connectortest.NewHarness(t, almanac(t))
	b.Sim.AddFault(t, providersim.Fault{Kind: providersim.Throttle, Path: "/", Skip: 3})
	result := b.Run(t, launch.RunRequest{})
	if result.Status != runner.Succeeded || len(result.KnownGaps) == 0 {
		t.Fatalf("ended as %s with %d known gaps: %v", result.Status, len(result.KnownGaps), result.Failure)
	}
	for _, g := range result.KnownGaps {
		if g.Reason != "rate_limited" || g.Severity != protocol.SeverityTransient {
			t.Errorf("known gap %+v", g)
		}
	}
	b.VerifyNothingInvented(t)
	reads(t, b, verdict.Amber, verdict.RetryGap)
	b.Sim.Gate.Clear()
	b.Succeed(t)
	b.VerifyComplete(t)
	healthy(t, b)
}

// A record that violates its own rules affects no other record. It is declared missing under its
// key, with the rule, and everything else of the run is stored. A key that differs from the
// primary key's value violates no rule. That record is stored under the key that was sent.
func TestForeignWrongKeys(t *testing.T) {
	records := map[string]string{}
	for n := range 60 {
		key := fmt.Sprintf("l%02d", n)
		records[key] = fmt.Sprintf(`{"id":%q,"subject":"Letter %d"}`, key, n)
		if n == 7 || n == 14 || n == 21 {
			records[key] = fmt.Sprintf(`{"id":"L%d","subject":"Letter %[1]d"}`, n)
		}
	}
	b := connectortest.NewHarness(t, fixed(t, "miskeyed", items{"letters", records}, nil))
	result := b.Run(t, launch.RunRequest{})
	if result.Status != runner.Succeeded {
		t.Fatalf("ended as %s: %v", result.Status, result.Failure)
	}
	b.VerifyNothingInvented(t)
	stored, err := connectortest.StoredRecords(t.Context(), b.Store, "letters")
	if err != nil {
		t.Fatal(err)
	}
	missing := map[string]protocol.Reason{}
	for _, g := range b.Gaps(t, protocol.GapPending) {
		missing[g.RecordKey] = g.Reason
	}
	want := map[string]protocol.Reason{"l09": protocol.Reason(protocol.SchemaMismatch)}
	if !maps.Equal(missing, want) {
		t.Errorf("declared missing: %v", missing)
	}
	for key := range records {
		_, have := stored[key]
		if _, declared := missing[key]; have == declared {
			t.Errorf("%s is stored: %v, declared missing: %v", key, have, declared)
		}
	}
	reads(t, b, verdict.Amber, verdict.RetryGap)
}

// A revoked token, reported only in the error text, asks the owner to reconnect. Stored records
// stay, and with a valid token the rest arrives.
func TestForeignRevokedToken(t *testing.T) {
	b := connectortest.NewHarness(t, almanac(t))
	b.Sim.AddFault(t, providersim.Fault{Kind: providersim.ExpiredToken, Path: "/", Skip: 3})
	result := b.Run(t, launch.RunRequest{})
	if result.Status != runner.Failed || result.DoneError == nil || result.DoneError.Code != "x_auth_failed" {
		t.Fatalf("ended as %s: %v", result.Status, result.Failure)
	}
	b.VerifyNothingInvented(t)
	reads(t, b, verdict.Red, verdict.Reauth)
	c := judged(t, b)
	if valid := c.Health.Condition(health.CredentialsValid); valid == nil || valid.Status != health.False {
		t.Errorf("the credential reads %+v", valid)
	}
	b.Sim.Gate.Clear()
	b.Succeed(t)
	b.VerifyComplete(t)
	healthy(t, b)
}

// An interpreter that is not there is named before anything is started.
func TestForeignMissingTool(t *testing.T) {
	b := connectortest.NewHarness(t, fixed(t, "toolless", items{stream: "things"}, nil))
	result := b.Run(t, launch.RunRequest{})
	if result.Status != runner.Failed || result.Failure.Reason != evidence.ReasonInterpreterMissing ||
		!strings.HasPrefix(result.Failure.Message, "deno starts the connector toolless") {
		t.Errorf("ended as %s: %v", result.Status, result.Failure)
	}
	reads(t, b, verdict.Red, verdict.AddInfo)
}
