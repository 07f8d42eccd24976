package collector

import (
	"net/http"
	"testing"
	"time"
)

func TestServerDownThenUp(t *testing.T) {
	b := newBed(t)
	b.write(t, days(1, 120)...)
	// It goes away after it has told the cursors: nothing of the run gets through.
	b.intercept = func(_ int, name string, done bool, w http.ResponseWriter) bool {
		if name == "POST heartbeat" || name == "GET state" {
			return false
		}
		panic(http.ErrAbortHandler)
	}
	r := b.run(t)
	if r.OK() || r.Cause != CausePending || r.Status != "retrying" || r.Uploaded.Retried != 1 || r.Outbox.Pending != 3 {
		t.Fatalf("with the server gone: %+v", r)
	}
	b.mustHave(t, "notes")
	b.behave()
	b.mustRun(t)
	b.mustHave(t, "notes", days(1, 120)...)
	b.mustHaveState(t, "notes", `{"n":120}`)
}

func TestUnreachableServerCostsNoAttempt(t *testing.T) {
	b := newBed(t)
	b.write(t, days(1, 3)...)
	b.answerWith("POST ingest-batches", 503, "device_ingest_retryable", "")
	b.run(t)
	b.intercept = func(int, string, bool, http.ResponseWriter) bool { panic(http.ErrAbortHandler) }
	for range 10 {
		if r := b.run(t); r.OK() || r.Cause != CauseStateRead || r.HeartbeatDelivered || r.Uploaded.Retried != 0 {
			t.Fatalf("without any answer: %+v", r)
		}
	}
	b.behave()
	b.mustRun(t)
	b.mustHave(t, "notes", days(1, 3)...)
}

func TestBusyServerIsWaitedForAsItAsks(t *testing.T) {
	b := newBed(t)
	b.write(t, days(1, 120)...)
	refusals := 0
	b.intercept = func(_ int, name string, done bool, w http.ResponseWriter) bool {
		if name != "POST ingest-batches" || refusals == 3 || done {
			return false
		}
		refusals++
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	}
	r := b.mustRun(t)
	if b.waited != 3*time.Second || r.Uploaded.Retried != 3 {
		t.Errorf("waited %s over %d refusals", b.waited, r.Uploaded.Retried)
	}
	b.mustHave(t, "notes", days(1, 120)...)
}

func TestLongRetryAfterIsCapped(t *testing.T) {
	b := newBed(t)
	b.write(t, days(1, 3)...)
	b.answerWith("POST ingest-batches", 503, "device_ingest_retryable", "3600")
	r := b.run(t)
	if b.waited > 2*time.Minute || r.OK() {
		t.Errorf("waited %s: %+v", b.waited, r)
	}
}

func TestFifthRefusalPutsAside(t *testing.T) {
	b := newBed(t)
	b.write(t, days(1, 3)...)
	b.answerWith("POST ingest-batches", 500, "internal", "")
	for i := 1; i < 5; i++ {
		if r := b.run(t); r.Status != "retrying" || r.Outbox.DeadLetter != 0 {
			t.Fatalf("attempt %d: %+v", i, r)
		}
	}
	r := b.run(t)
	if r.OK() || r.Status != "blocked" || r.Cause != CauseDeadLetters || r.Outbox.DeadLetter != 1 {
		t.Fatalf("after five attempts: %+v", r)
	}
	last := b.lastBeat()
	if last.LastError == nil || last.LastError.Kind != "dead_letter_backlog" || last.LastError.Classes[0]["error_class"] != "internal" {
		t.Errorf("heartbeat %+v", last)
	}
	if got := len(b.starts(t)); got != 1 {
		t.Errorf("the connector ran %d times beside undelivered work", got)
	}
	b.mustHaveState(t, "notes", "") // the cursor stays behind what was put aside
}

func TestRefusalPutsAsideAtOnceAndTheRestGoesOn(t *testing.T) {
	b := newBed(t)
	b.write(t, days(1, 250)...)
	batches := 0
	b.intercept = func(_ int, name string, done bool, w http.ResponseWriter) bool {
		if name != "POST ingest-batches" || done {
			return false
		}
		batches++
		if batches == 2 {
			w.WriteHeader(http.StatusBadRequest)
		}
		return batches == 2
	}
	r := b.run(t)
	if r.Outbox.DeadLetter != 1 || r.Outbox.Pending != 1 || r.Uploaded.Records != 150 || r.Status != "blocked" {
		t.Errorf("%+v", r)
	}
	b.mustHaveState(t, "notes", "")
}

func TestUnknownDeviceKeepsItsUploads(t *testing.T) {
	b := newBed(t)
	b.write(t, days(1, 3)...)
	b.answerWith("POST ingest-batches", 503, "device_ingest_retryable", "")
	b.run(t)
	b.intercept = func(_ int, _ string, _ bool, w http.ResponseWriter) bool {
		w.WriteHeader(http.StatusUnauthorized)
		return true
	}
	if r := b.run(t); r.OK() || r.Cause != CauseStateRead || r.Outbox.DeadLetter != 0 {
		t.Errorf("%+v", r)
	}
	b.behave()
	b.mustRun(t)
	b.mustHave(t, "notes", days(1, 3)...)
}
