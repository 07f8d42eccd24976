package scheduler

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/tracing"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// A run is in the trace with what it was and how it ended, and one that could not be
// carried out as well.
func TestRunsAreTraced(t *testing.T) {
	var got bytes.Buffer
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(&got, r.Body) // one delivery at a time, all of them before the shutdown returns
	}))
	defer collector.Close()
	stop, err := tracing.Start(t.Context(), collector.URL, "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	o := newOrchard(t)
	defer o.close()
	o.plant("cin_pear", "orchard", 0)
	o.plays("orchard", fails("gate_stuck", false))
	e := o.evidence("cin_pear")
	s := &Scheduler{Config: Config{Store: o.st, Runs: o, Now: time.Now, Log: discardLog}}
	result, err := s.run(t.Context(), &order{Evidence: &e}, store.TriggerManual)
	o.must(err)
	s.Runs = absent{}
	if _, err := s.run(t.Context(), &order{Evidence: &e}, store.TriggerRetry); err == nil {
		t.Error("a missing connector ran")
	}
	o.must(stop(context.WithoutCancel(t.Context())))
	for _, want := range []string{"run", "orchard", result.RunID, string(store.TriggerManual), string(result.Status),
		string(store.TriggerRetry)} {
		if !bytes.Contains(got.Bytes(), []byte(want)) {
			t.Errorf("no %q in the trace:\n%q", want, got.Bytes())
		}
	}
}
