package foreigntest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"pdpp/connectorkit/connectortest"
	"pdpp/internal/collect/launch"
	"pdpp/internal/collect/runner"
	"pdpp/internal/judge/verdict"
	"pdpp/protocol"
	"pdpp/providersim"
)

// A connector in another language collects everything, goes on where it stopped, and is
// judged as any other.
func TestForeignConnectorsComplete(t *testing.T) {
	t.Run("python over HTTP", func(t *testing.T) {
		b := connectortest.NewBed(t, almanac(t))
		b.Succeed(t)
		b.VerifyComplete(t)
		healthy(t, b)
		for _, m := range []providersim.Mutation{{Op: "append_events", N: 25}, {Op: "edit_notes", N: 4}, {Op: "delete_notes", N: 3}} {
			b.Sim.Mutate(t, m)
		}
		if again := b.Succeed(t); again.RecordsEmitted != 32 {
			t.Errorf("32 things changed, and %d records were sent", again.RecordsEmitted)
		}
		b.VerifyComplete(t)
		healthy(t, b)
	})
	t.Run("shell over a folder", func(t *testing.T) {
		b := connectortest.NewBed(t, shelf(t))
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

func healthy(t *testing.T, b *connectortest.Bed) {
	t.Helper()
	if v := judged(t, b).Verdict; v.Pill.Tone != verdict.Green {
		t.Errorf("after a complete run: %+v, %q", v.Pill, v.ForwardStatement)
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
	b := connectortest.NewBed(t, fixed(t, "chatty", items{"numbers", records}, nil))
	result := b.Run(t, launch.Request{})
	if f := result.Failure; f == nil || f.Reason != runner.ReasonViolation || f.Violation.Subtype != protocol.MalformedJSON {
		t.Fatalf("ended as %s: %v", result.Status, f)
	}
	b.VerifyNothingInvented(t)
	stored, err := connectortest.Stored(t.Context(), b.Store, "numbers")
	if err != nil || len(stored) < 10 {
		t.Errorf("%d records stayed of the ten that a STATE had finished: %v", len(stored), err)
	}
	if v := judged(t, b).Verdict; v.Pill.Tone == verdict.Green {
		t.Errorf("after a broken run: %+v, %q", v.Pill, v.ForwardStatement)
	}
}

// A provider that refuses in the middle of the run leaves a declared gap, and the next
// run brings the rest.
func TestForeignRateLimit(t *testing.T) {
	b := connectortest.NewBed(t, almanac(t))
	b.Sim.Fault(t, providersim.Fault{Kind: providersim.Throttle, Path: "/", Skip: 3})
	result := b.Run(t, launch.Request{})
	if result.Status != runner.Succeeded || len(result.KnownGaps) == 0 {
		t.Fatalf("ended as %s with %d known gaps: %v", result.Status, len(result.KnownGaps), result.Failure)
	}
	for _, g := range result.KnownGaps {
		if g.Reason != "rate_limited" || g.Severity != protocol.SeverityTransient {
			t.Errorf("known gap %+v", g)
		}
	}
	b.VerifyNothingInvented(t)
	if v := judged(t, b).Verdict; v.Pill.Tone == verdict.Green {
		t.Errorf("with two streams cut short: %+v, %q", v.Pill, v.ForwardStatement)
	}
	b.Sim.Gate.Clear()
	b.Succeed(t)
	b.VerifyComplete(t)
	healthy(t, b)
}
