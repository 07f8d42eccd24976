package collector

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/device/outbox"
	"github.com/pdpp-go/pdpp/internal/device/wire"
	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/slice"
)

// content reads every file of a folder.
func content(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		body, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(body)
	}
	return out
}

func sameContent(t *testing.T, before, after map[string]string) {
	t.Helper()
	for name := range after {
		if _, had := before[name]; !had {
			t.Errorf("%s is new", name)
		}
	}
	for name, body := range before {
		if after[name] != body {
			t.Errorf("%s is not as it was", name)
		}
	}
}

// failUploads lets one run end with its uploads put aside.
func failUploads(t *testing.T, b *bed) {
	t.Helper()
	b.write(t, days(1, 260)...)
	b.answerWith("POST ingest-batches", 400, "device_batch_refused", "")
	if r := b.run(t); r.Status != "blocked" || r.Outbox.DeadLetter < 3 {
		t.Fatalf("%+v", r)
	}
	b.behave()
}

func TestPreviewChangesNothing(t *testing.T) {
	b := newBed(t)
	failUploads(t, b)
	// A queue that a killed collector left has a write-ahead log, and opening it
	// for writing would fold that into the file.
	box := b.box(t)
	if _, err := box.Claim(t.Context(), "dead", 1, time.Minute, b.now); err != nil {
		t.Fatal(err)
	}
	requests, before := b.seen(), content(t, b.dirs.State)
	v, err := b.collector(t).Preview(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !v.QueueExists || !v.Run || v.Requeue < 3 || int(v.Outbox.DeadLetter) != v.Requeue ||
		v.RequeueKinds[outbox.RecordBatch] != v.Requeue || v.OldestFailed == nil || !v.OldestFailed.Equal(b.now) ||
		len(v.Failures) != 1 || v.Failures[0].ErrorClass != "device_batch_refused" {
		t.Errorf("preview %+v", v)
	}
	sameContent(t, before, content(t, b.dirs.State))
	if b.seen() != requests {
		t.Error("a preview spoke to the server")
	}
}

func TestRecoverSendsAgainAndRunsOnce(t *testing.T) {
	b := newBed(t)
	failUploads(t, b)
	b.write(t, days(1, 263)...)
	r, err := b.collector(t).Recover(t.Context())
	if err != nil || !r.OK() || r.Requeued < 3 || r.Outbox.DeadLetter != 0 {
		t.Fatalf("%v, %+v", err, r)
	}
	b.mustHave(t, "notes", days(1, 263)...)
	b.mustHaveState(t, "notes", `{"n":263}`)
	if got := b.starts(t); len(got) != 2 || got[1] != `{"notes":{"n":260}} 0` {
		t.Errorf("the connector was started with %q", got)
	}
}

func TestRecoverWithoutFailuresIsARun(t *testing.T) {
	b := newBed(t)
	b.write(t, days(1, 3)...)
	v, err := b.collector(t).Preview(t.Context())
	if err != nil || v.QueueExists || v.Requeue != 0 || !v.Run {
		t.Errorf("%v, %+v", err, v)
	}
	if _, err := os.Stat(b.dirs.State); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a preview made the state folder: %v", err)
	}
	r, err := b.collector(t).Recover(t.Context())
	if err != nil || !r.OK() || r.Requeued != 0 || len(b.starts(t)) != 1 {
		t.Errorf("%v, %+v", err, r)
	}
}

func TestQueueOfAnotherSourceIsRefused(t *testing.T) {
	b := newBed(t)
	b.write(t, days(1, 3)...)
	box, err := outbox.Open(t.Context(), b.profile.Queue)
	if err != nil {
		t.Fatal(err)
	}
	item, err := newItem(outbox.Checkpoint, "dsrc_other", "x", checkpointPayload{})
	if err == nil {
		err = box.Enqueue(t.Context(), []outbox.QueuedItem{item}, b.now)
	}
	if err = errors.Join(err, box.Close()); err != nil {
		t.Fatal(err)
	}
	c := b.collector(t)
	_, runErr := c.Run(t.Context())
	_, previewErr := c.Preview(t.Context())
	_, inspectErr := c.Inspect(t.Context())
	for _, err := range []error{runErr, previewErr, inspectErr} {
		var mistake *usererr.Error
		if !errors.As(err, &mistake) || mistake.Code != "queue_of_another_source" {
			t.Errorf("error %v", err)
		}
	}
	if b.seen() != 0 {
		t.Error("the server was spoken to")
	}
}

func TestDiagnosis(t *testing.T) {
	b := newBed(t)
	b.write(t, days(1, 3)...)
	diagnose := func(life Lifecycle, status Health, codes ...string) {
		t.Helper()
		d, err := b.collector(t).Diagnose(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range d.Findings {
			got = append(got, f.Code)
		}
		if d.Lifecycle != life || d.Status != status || len(got) != len(codes) {
			t.Errorf("%s, %s, %v; want %s, %s, %v", d.Lifecycle, d.Status, got, life, status, codes)
			return
		}
		for i := range got {
			if got[i] != codes[i] {
				t.Errorf("findings %v, want %v", got, codes)
			}
		}
	}
	diagnose(LifeIdle, HealthOK)
	b.answerWith("POST ingest-batches", 503, "busy", "")
	b.run(t)
	diagnose(LifeRetryable, HealthWarning, "uploads_waiting")
	b.now = b.now.Add(time.Hour)
	diagnose(LifeDraining, HealthWarning, "uploads_waiting")
	b.answerWith("POST ingest-batches", 409, "device_batch_conflict", "")
	b.run(t)
	diagnose(LifeDeadLetter, HealthCritical, "failed_uploads")
	b.answerWith("GET state", http.StatusUnauthorized, "authentication_error", "")
	diagnose(LifeDeadLetter, HealthCritical, "failed_uploads", "device_unknown")
	b.Close()
	diagnose(LifeDeadLetter, HealthCritical, "failed_uploads", "server_unavailable")
}

// TestUploadsOfAnEarlierProgramGoOut: one that was not packed yet arrives as any other does.
func TestUploadsOfAnEarlierProgramGoOut(t *testing.T) {
	b := newBed(t)
	records := []slice.Record{{Stream: "notes", Key: "day0001", Data: jsontext.Value(`{"id":"day0001","text":"of old"}`),
		EmittedAt: "2026-03-01T12:00:00Z"}}
	hash, err := wire.BodyHash(records)
	if err != nil {
		t.Fatal(err)
	}
	payload, err := json.Marshal(map[string]any{"run_id": "run_old", "records": records})
	if err != nil {
		t.Fatal(err)
	}
	box := b.box(t)
	if err := box.Enqueue(
		t.Context(),
		[]outbox.QueuedItem{identified(outbox.RecordBatch, source, "run_old/1", payload, hash)},
		b.now,
	); err != nil {
		t.Fatal(err)
	}
	b.write(t, days(2, 3)...)
	r := b.mustRun(t)
	b.mustHave(t, "notes", days(1, 3)...)
	if r.Uploaded.Records != 3 || r.Uploaded.PutAside != 0 {
		t.Errorf("%+v", r.Uploaded)
	}
}

// TestLifecycle holds which of several facts about a queue names its state.
func TestLifecycle(t *testing.T) {
	for _, c := range []struct {
		counts wire.OutboxCounts
		gaps   int
		want   Lifecycle
	}{
		{wire.OutboxCounts{}, 0, LifeIdle},
		{wire.OutboxCounts{}, 1, LifeCoverageMissing},
		{wire.OutboxCounts{Pending: 1, Retrying: 1}, 1, LifeRetryable},
		{wire.OutboxCounts{Pending: 2, Retrying: 1}, 1, LifeDraining},
		{wire.OutboxCounts{Leased: 1}, 1, LifeDraining},
		{wire.OutboxCounts{Leased: 1, StaleLeases: 1}, 1, LifeStaleLease},
		{wire.OutboxCounts{Leased: 1, StaleLeases: 1, DeadLetter: 1}, 1, LifeDeadLetter},
	} {
		if got := lifecycle(c.counts, c.gaps); got != c.want {
			t.Errorf("%+v, %d gaps: %s, want %s", c.counts, c.gaps, got, c.want)
		}
	}
}
