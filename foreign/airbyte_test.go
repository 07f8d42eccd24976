package foreign_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/foreign"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// sourceBed wraps the source of a habit.
func sourceBed(t *testing.T, habit string, config map[string]any) *bed {
	t.Helper()
	b := newBed(t, "", config, func(o *foreign.Order) {
		o.Kind, o.Command = foreign.Airbyte, []string{os.Args[0], "source", habit}
	})
	b.env["PDPP_LEDGER_CREDENTIALS_TOKEN"] = "tok-hush"
	return b
}

// A source is wrapped, run, interrupted and resumed by the states of its streams.
func TestAirbyteSource(t *testing.T) {
	t.Parallel()
	b := sourceBed(t, "plain", map[string]any{"pages": 10, "stop": 8})
	if result := b.run(launch.RunRequest{}); result.Status != runner.Failed || len(b.keys("pages")) != 8 {
		t.Fatalf("%s: %v, stored %v", result.Status, result.Failure, b.keys("pages"))
	}
	result := b.run(launch.RunRequest{})
	if result.Status != runner.Succeeded || len(b.keys("pages")) != 10 || len(b.keys("app_log")) != 2 {
		t.Fatalf("%s: %v\n%s", result.Status, result.Failure, result.StderrTail)
	}
	if result.RecordsEmitted != 4 { // two pages and the log, which has no state
		t.Errorf("%d records the second time", result.RecordsEmitted)
	}
	if axis, tone := b.coverage(); axis != "complete" || tone != "green" {
		t.Errorf("%s, %s", axis, tone)
	}
}

// The source's own report decides, not its exit code, which is 0 in all rows.
//
//pdpp:tier unraced
func TestSourceVerdicts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		habit, words string
		mark         string
	}{
		{"miscounts", "counted other records than it sent", `"at":1`},
		{"incomplete", "says itself that this stream is incomplete", `"at":1`},
		{"one_stream", "calls its failure passing", ""},
	} {
		t.Run(c.habit, func(t *testing.T) {
			t.Parallel()
			b := sourceBed(t, c.habit, nil)
			result := b.run(launch.RunRequest{})
			if result.Status != runner.Failed || result.DoneError == nil ||
				result.DoneError.Code != protocol.StreamCollectionFailed ||
				!strings.Contains(result.Failure.Message, c.words) ||
				!strings.HasPrefix(result.Failure.Message, "pages: ") {
				t.Errorf("%s: %v %+v", result.Status, result.Failure, result.DoneError)
			}
			if len(b.keys("app_log")) != 2 {
				t.Errorf("the other stream: %v", b.keys("app_log"))
			}
			if mark := b.bookmark("pages"); !strings.Contains(mark, c.mark) || strings.Contains(mark, `"at":5`) {
				t.Errorf("bookmark: %s", mark)
			}
		})
	}
}

// The classes of a source's failure lead to what the owner or the schedule does.
//
//pdpp:tier unraced
func TestSourceFailures(t *testing.T) {
	t.Parallel()
	for habit, action := range map[string]protocol.RecoveryAction{
		"config_error": protocol.RefreshCredentials, "transient_error": protocol.RetryByRuntime,
		"system_error": protocol.RetryOnConnectorUpgrade,
	} {
		t.Run(habit, func(t *testing.T) {
			t.Parallel()
			result := sourceBed(t, habit, nil).run(launch.RunRequest{})
			e := result.DoneError
			if result.Status != runner.Failed || e == nil || e.RecoveryHint == nil || e.RecoveryHint.Action != action ||
				*e.Retryable != (action == protocol.RetryByRuntime) {
				t.Errorf("%s: %+v", result.Status, e)
			}
		})
	}
}

// A state of the whole source is the cursor of every stream, in the form in which it came.
//
//pdpp:tier unraced
func TestWholeSourceStates(t *testing.T) {
	t.Parallel()
	for habit, each := range map[string]int{"global": 3, "legacy": 1} {
		t.Run(habit, func(t *testing.T) {
			t.Parallel()
			b := sourceBed(t, habit, nil)
			for run := 1; run <= 3; run++ {
				if result := b.run(launch.RunRequest{}); result.Status != runner.Succeeded || len(b.keys("pages")) != run*each {
					t.Fatalf("run %d: %s: %v, stored %v\n%s", run, result.Status, result.Failure, b.keys("pages"), result.StderrTail)
				}
			}
			pages := strings.ReplaceAll(b.bookmark("pages"), `,"brought":true`, "") // the other stream may bring nothing
			if log := strings.ReplaceAll(b.bookmark("app_log"), `,"brought":true`, ""); pages != log {
				t.Errorf("bookmarks: %s, %s", pages, log)
			}
		})
	}
}

// A source that waits for its provider keeps later runs away from it too.
func TestSourceWaits(t *testing.T) {
	t.Parallel()
	b := sourceBed(t, "waits", nil)
	if result := b.run(launch.RunRequest{}); result.Status != runner.Succeeded {
		t.Fatalf("%s: %v", result.Status, result.Failure)
	}
	_, err := b.launcher.Run(
		t.Context(),
		launch.RunRequest{ConnectionID: connectortest.Connection, Trigger: store.TriggerManual},
	)
	if !errors.Is(err, store.ErrWaiting) {
		t.Errorf("the next run: %v", err)
	}
}
