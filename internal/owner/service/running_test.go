package service

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/interaction"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// begin starts a run that stays under way.
func (b *serviceHarness) begin(connection, run string) store.Lease {
	b.t.Helper()
	l, err := b.Store.StartRun(b.ctx(), store.RunStart{RunID: run, ConnectionID: connection, ConnectorID: "garden",
		Trigger: store.TriggerManual,
		Holder:  "w1", TTL: time.Hour, Streams: []store.StreamSpec{{Name: "beds"}}}, b.at)
	b.requireNoError(err)
	return l
}

func TestRunNow(t *testing.T) {
	t.Parallel()
	b := newServiceHarness(t)
	id := b.connect("trowel").ID
	b.succeed(id) // takes the first request up
	wantError(t, b.Run(b.ctx(), id), "no_worker", "")
	b.worker()
	b.requireNoError(b.Run(b.ctx(), id))
	b.requireNoError(b.Run(b.ctx(), id)) // one request waits, however often it is asked for
	if !b.requested(id) {
		t.Error("no run was asked for")
	}
	b.begin(id, "run_a")
	err := b.Run(b.ctx(), id)
	wantError(t, err, api.CodeRunActive, "")
	if e := err.(*api.Error); e.RunID != "run_a" {
		t.Errorf("the active run is %q", e.RunID)
	}
	wantError(t, b.Run(b.ctx(), "cin_none"), api.CodeNotFound, "")
}

// While the source must not be queried, a requested run is kept and not started. The error reports until when; only
// RunAnyway starts the run earlier.
func TestRunNowDuringAWait(t *testing.T) {
	t.Parallel()
	b := newServiceHarness(t)
	id := b.connect("trowel").ID
	b.worker()
	lease := b.begin(id, "run_a")
	until := b.at.Add(time.Hour)
	b.requireNoError(b.Store.PutWait(b.ctx(), lease,
		evidence.SenderWait{Sender: "api", Until: until, Reason: protocol.WaitRetryAfter,
			At: b.at}, b.at))
	b.requireNoError(b.Store.FinishRun(b.ctx(), lease,
		store.RunOutcome{Status: store.RunSucceeded, Event: slice.Event{Type: "run.completed"}}, b.at))
	err := b.Run(b.ctx(), id)
	wantError(t, err, api.CodeProviderWait, "")
	e := err.(*api.Error)
	if e.Until == nil || !e.Until.Equal(until) || e.ConnectionID != id || e.Status != http.StatusConflict ||
		!strings.Contains(e.Message, until.UTC().Format("15:04:05")) || e.Next == "" {
		t.Errorf("the owner is told %+v", e)
	}
	r, err := b.Store.RunRequest(b.ctx(), id)
	if err != nil || r.AskAnyway {
		t.Errorf("kept as %+v, %v", r, err)
	}
	wantError(t, b.Acknowledge(b.ctx(), id, "refresh_now"), api.CodeProviderWait, "")
	b.requireNoError(b.RunAnyway(b.ctx(), id))
	if r, err = b.Store.RunRequest(b.ctx(), id); err != nil || !r.AskAnyway {
		t.Errorf("asked anyway: %+v, %v", r, err)
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	b := newServiceHarness(t)
	id := b.connect("trowel").ID
	over := b.succeed(id).RunID
	lease := b.begin(id, "run_a")
	b.requireNoError(b.Cancel(b.ctx(), "run_a"))
	if wanted, err := b.Store.RenewLease(b.ctx(), lease, time.Hour, b.at); err != nil || !wanted {
		t.Errorf("the run is told %t, %v", wanted, err)
	}
	wantError(t, b.Cancel(b.ctx(), over), api.CodeNoActiveRun, "")
	wantError(t, b.Cancel(b.ctx(), "run_none"), api.CodeNotFound, "")
}

const gateConnector = `#!/bin/sh
read -r start
printf '%s\n' '{"type":"INTERACTION","request_id":"gate-1","kind":"otp","message":"Which code did the garden send?","schema":{"type":"object","properties":{"code":{"type":"string","title":"Code"},"days":{"type":"integer"},"stay":{"type":"boolean"}},"required":["code"]},"timeout_seconds":600}'
read -r answer
case "$answer" in *'"code":"471100"'*'"days":30'*'"stay":true'*) ;; *)
	printf '%s\n' '{"type":"DONE","status":"failed","records_emitted":0,'\
'"error":{"code":"wrong_code","message":"the code is wrong","retryable":false}}'
	exit 1 ;;
esac
printf '%s\n' '{"type":"DONE","status":"succeeded","records_emitted":0}'
`

// A real run asks; what is typed into the form reaches it as what the form asks for.
func TestQuestionIsAnswered(t *testing.T) {
	t.Parallel()
	b := newServiceHarness(t)
	b.requireNoError(os.WriteFile(filepath.Join(b.home, "connectors", "garden", "connector"), []byte(gateConnector),
		0o700))
	id := b.connect("trowel").ID
	box := &interaction.Mailbox{Store: b.Store, Now: b.now}
	asked, ended := make(chan string, 1), make(chan launch.RunResult, 1)
	go func() {
		ended <- b.makeRun(id, func(_ *launch.Launcher, r *launch.RunRequest) {
			r.Prepare = box.Prepare
			r.Ask = func(ctx context.Context, runID string, q protocol.Interaction) (protocol.InteractionResponse, error) {
				asked <- runID
				return box.Ask(ctx, runID, q)
			}
		})
	}()
	runID := <-asked
	q, err := b.Question(b.ctx(), runID)
	b.requireNoError(err)
	if q.Message != "Which code did the garden send?" || len(q.Fields) != 3 || q.ExpiresAt == nil {
		t.Fatalf("question %+v", q)
	}
	if f := q.Fields[0]; f.Name != "code" || f.Label != "Code" || !f.Required || !f.Secret || f.Type != "string" {
		t.Errorf("field %+v", f)
	}
	if q.Fields[1].Type != "integer" || q.Fields[2].Type != "boolean" || q.Fields[2].Label != "Stay" {
		t.Errorf("fields %+v", q.Fields)
	}
	good := map[string]string{"code": "471100", "days": "30", "stay": "yes"}
	for _, c := range []struct {
		code, param string
		given       api.Answer
	}{
		{api.CodeWrongQuestion, "", api.Answer{RequestID: "gate-2", Status: "success", Data: good}},
		{"invalid_status", "status", api.Answer{RequestID: "gate-1", Status: "perhaps", Data: good}},
		{"invalid_answer", "code", api.Answer{RequestID: "gate-1", Status: "success", Data: map[string]string{"days": "30"}}},
		{"invalid_answer", "days",
			api.Answer{RequestID: "gate-1", Status: "success", Data: map[string]string{"code": "471100", "days": "many"}}},
		{api.CodeInvalid, "data", api.Answer{RequestID: "gate-1", Status: "success",
			Data: map[string]string{"code": "471100", "more": "x"}}},
	} {
		err := b.Answer(b.ctx(), runID, c.given)
		wantError(t, err, c.code, c.param)
		if strings.Contains(err.Error(), "471100") || strings.Contains(err.Error(), "many") {
			t.Errorf("the error repeats the answer: %v", err)
		}
	}
	b.requireNoError(b.Answer(b.ctx(), runID, api.Answer{RequestID: "gate-1", Status: "success", Data: good}))
	box.Deliver(runID, "gate-1")
	if r := <-ended; r.Status != runner.Succeeded {
		t.Errorf("the run ended as %s: %v", r.Status, r.Failure)
	}
	_, err = b.Question(b.ctx(), runID)
	wantError(t, err, api.CodeNoQuestion, "")
	wantError(t, b.Answer(b.ctx(), runID, api.Answer{RequestID: "gate-1", Status: "success", Data: good}),
		api.CodeNoQuestion, "")
}

func TestRunsAreShown(t *testing.T) {
	t.Parallel()
	b := newServiceHarness(t)
	id := b.connect("trowel").ID
	b.succeed(id)
	b.requireNoError(b.SetCredential(b.ctx(), id, map[string]string{"token": "rake"}))
	b.at = b.at.Add(time.Minute)
	failed := b.makeRun(id).RunID
	runs, err := b.Runs(b.ctx(), api.RunQuery{})
	b.requireNoError(err)
	if len(runs) != 2 || runs[0].ID != failed || runs[0].DisplayName != "Garden" ||
		runs[0].Failure != "The token was refused." || runs[0].FailureCode != "auth_failure" {
		t.Fatalf("runs %+v", runs)
	}
	if s := runs[1].Streams; len(s) != 1 || s[0].Label != "Flower beds" || s[0].Records != 2 ||
		runs[1].RecordsEmitted != 2 || runs[1].Failure != "" {
		t.Errorf("the first run %+v", runs[1])
	}
	events, err := b.Timeline(b.ctx(), runs[1].ID, 0)
	b.requireNoError(err)
	var texts []string
	for _, e := range events {
		texts = append(texts, e.Text)
	}
	if got := strings.Join(texts, " "); !strings.HasPrefix(got, "The run began. Flower beds: 2 of 2. Stored 2 records.") ||
		!strings.HasSuffix(got, "The run is complete: it collected 2 records.") {
		t.Errorf("timeline %q", got)
	}
	later, err := b.Timeline(b.ctx(), runs[1].ID, events[0].Seq)
	b.requireNoError(err)
	if len(later) != len(events)-1 {
		t.Errorf("%d events after the first of %d", len(later), len(events))
	}
	_, err = b.RunByID(b.ctx(), "run_none")
	wantError(t, err, api.CodeNotFound, "")
}
