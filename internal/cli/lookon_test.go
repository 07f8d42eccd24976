package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"pdpp/internal/runner"
	"pdpp/internal/store"
	"pdpp/manifest"
	"pdpp/protocol"
)

// What history keeps of a run says the same as the process that made it.
func TestOutcomeOf(t *testing.T) {
	conn := store.Connection{ID: "cin_pear_1"}
	m := &manifest.Manifest{}
	for _, tt := range []struct {
		name string
		run  store.Run
		code string
		exit int
	}{
		{"succeeded", store.Run{Status: store.RunSucceeded}, "", ExitOK},
		{"refused", store.Run{Status: store.RunFailed, FailureReason: string(runner.ReasonConnectorFailed), Error: "no",
			KnownGaps:      jsontext.Value(`[{"kind":"` + string(protocol.KnownRunFailed) + `","recovery_hint":{"action":"refresh_credentials"}}]`),
			ConnectorError: jsontext.Value(`{"code":"credentials_rejected","message":"no"}`)}, "credentials_rejected", ExitOwner},
		{"cancelled", store.Run{Status: store.RunCancelled, FailureReason: "owner_cancelled", Error: "stopped"}, "owner_cancelled", ExitCancelled},
		{"storage", store.Run{Status: store.RunFailed, FailureReason: string(runner.ReasonStorage), TerminalReason: string(runner.OriginStorage), Error: "odd"},
			string(runner.ReasonStorage), ExitStorage},
		{"abandoned", store.Run{Status: store.RunAbandoned}, "abandoned", ExitFailed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := runError(outcomeOf(tt.run), m, conn, "run_1")
			switch {
			case tt.exit == ExitOK && e != nil, tt.exit != ExitOK && (e == nil || e.Code != tt.code || e.Exit != tt.exit || e.Message == "" || e.Next == ""):
				t.Errorf("%+v", e)
			}
		})
	}
}

// Events add up; those that are not understood change nothing.
func TestOnlookerTakesEvents(t *testing.T) {
	o := &onlooker{}
	for _, e := range []store.Event{
		{Type: "run.batch_ingested", Data: jsontext.Value(`{"records":2}`)},
		{Type: "run.batch_ingested", Data: jsontext.Value(`{"records":3}`)},
		{Type: "run.detail_gap_recorded", Data: jsontext.Value(`{"gaps":1}`)},
		{Type: "run.detail_gap_recovered", Data: jsontext.Value(`{"gaps":4}`)},
		{Type: "run.progress_reported", Stream: "trees", Data: jsontext.Value(`{"message":"row 3","count":3,"total":9}`)},
		{Type: "run.batch_ingested", Data: jsontext.Value(`["odd"]`)},
		{Type: "run.started"},
	} {
		o.take(e)
	}
	if o.done.Committed != 5 || o.done.Gaps != 1 || o.recovered != 4 || o.done.Message != "row 3" || o.done.Stream != "trees" || *o.done.Total != 9 {
		t.Errorf("%+v, recovered %d", o.done, o.recovered)
	}
}

// Nobody waits for ever: neither for workers that left, nor for a run whose
// process died with nobody there to clean up.
func TestLookOnGivesUp(t *testing.T) {
	s := newDueShop(t)
	conn, err := s.Connection(t.Context(), nursery)
	s.must(err)
	clock := s.clock
	env, _, _ := testEnv(t, nil)
	env.Now = func() time.Time { return clock }
	a := &app{env: env, json: true}
	_, err = s.RequestRun(t.Context(), store.RunRequest{ConnectionID: nursery, Trigger: store.TriggerManual, RequestedAt: clock})
	s.must(err)
	s.must(s.PutWorker(t.Context(), store.Worker{ID: "w", Host: "h", Capabilities: []string{"network"}, StartedAt: clock, SeenAt: clock}))
	o := &onlooker{app: a, store: s.Store, conn: conn, view: a.newView(conn)}
	if over, err := o.begun(t.Context()); over || err != nil {
		t.Fatalf("with a worker: %t, %v", over, err)
	}
	clock = clock.Add(time.Hour)
	if _, err := o.begun(t.Context()); err == nil || !strings.Contains(err.Error(), "no_worker: no worker is alive any more") {
		t.Errorf("without: %v", err)
	}
	_, err = s.StartRun(t.Context(), store.RunStart{RunID: "run_1", ConnectionID: nursery, ConnectorID: "nursery", Trigger: store.TriggerManual,
		Holder: "test", TTL: time.Minute, Streams: []store.StreamSpec{{Name: "trees"}}}, clock)
	s.must(err)
	if over, err := o.begun(t.Context()); over || err != nil || o.run.ID != "run_1" {
		t.Fatalf("begun: %t, %v, %+v", over, err, o.run)
	}
	clock = clock.Add(2 * time.Minute)
	if over, err := o.look(t.Context()); over || err != nil {
		t.Errorf("just after the lease: %t, %v", over, err)
	}
	clock = clock.Add(time.Second)
	if _, err := o.look(t.Context()); err == nil || !strings.Contains(err.Error(), "run_lost: ") {
		t.Errorf("long after: %v", err)
	}
}
