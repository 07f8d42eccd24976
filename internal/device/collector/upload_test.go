package collector

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/device/outbox"
	"github.com/pdpp-go/pdpp/internal/slice"

	"github.com/go-json-experiment/json/jsontext"
)

// badly answers uploads of records with a fault, so many times.
func (s *server) badly(times int, how func(w http.ResponseWriter)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.intercept = func(_ int, name string, done bool, w http.ResponseWriter) bool {
		if name != "POST ingest-batches" || done || times == 0 {
			return false
		}
		times--
		how(w)
		return true
	}
}

func answer(status int, body string, headers ...string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		for n := 0; n < len(headers); n += 2 {
			w.Header().Set(headers[n], headers[n+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func refusal(status int, code string) func(http.ResponseWriter) {
	_, body := refuse(status, code)
	return answer(status, body)
}

// TestNobodyElseJudgesAnUpload goes through hotels, proxies and servers that do not know
// the device, or cannot take anything: nothing is put aside, and everything arrives once
// the server is there.
//
//pdpp:tier unraced
func TestNobodyElseJudgesAnUpload(t *testing.T) {
	const forever = 1000
	for name, step := range map[string]struct {
		how   func(http.ResponseWriter)
		times int
		cause Cause // empty: the pass itself brings it home
	}{
		"portal":          {answer(302, "", "Location", "https://portal.example/"), forever, CauseUnreachable},
		"portal's page":   {answer(200, "<html>Welcome to the hotel</html>"), forever, CauseUnreachable},
		"other program":   {answer(404, "404 page not found"), forever, CauseUnreachable},
		"foreign 400":     {answer(400, "<html>"), forever, CauseUnreachable},
		"unknown device":  {refusal(401, "authentication_error"), forever, CauseDeviceUnknown},
		"forbidden":       {refusal(403, "permission_error"), forever, CauseDeviceUnknown},
		"unknown source":  {refusal(404, "not_found"), forever, CauseSourceUnknown},
		"old program":     {refusal(409, "collector_protocol_mismatch"), forever, CauseUpgradeNeeded},
		"other manifest":  {refusal(409, "connector_manifest_mismatch"), forever, CauseUpgradeNeeded},
		"busy for long":   {answer(503, "", "Retry-After", "1"), 27, ""},
		"too many":        {answer(429, "", "Retry-After", "3"), 20, ""},
		"slow proxy":      {answer(408, ""), 3, ""},
		"broken":          {answer(500, ""), forever, CausePending},
		"longer than we":  {answer(503, "", "Retry-After", "3600"), forever, CausePending},
		"breaks off":      {func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, 2, ""},
		"breaks off long": {func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, forever, CausePending},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			b.write(t, days(1, 250)...)
			b.badly(step.times, step.how)
			r := b.run(t)
			if r.Cause != step.cause || r.Outbox.DeadLetter != 0 || r.Uploaded.PutAside != 0 || r.OK() != (step.cause == "") {
				t.Fatalf("%+v", r)
			}
			if step.cause != "" && b.lastBeat().Status != "retrying" {
				t.Errorf("heartbeat %+v", b.lastBeat())
			}
			if b.waited > 2*time.Minute {
				t.Errorf("the pass waited %s", b.waited)
			}
			b.behave()
			b.mustRun(t)
			b.mustHave(t, "notes", days(1, 250)...)
			b.mustHaveState(t, "notes", `{"n":250}`)
		})
	}
}

func TestUnreachableServerStopsThePass(t *testing.T) {
	b := newBed(t)
	b.write(t, days(1, 3)...)
	b.intercept = func(int, string, bool, http.ResponseWriter) bool { panic(http.ErrAbortHandler) }
	for range 3 {
		if r := b.run(t); r.OK() || r.Cause != CauseUnreachable || r.HeartbeatDelivered || r.Run != nil || b.waited != 0 {
			t.Fatalf("without any answer: %+v", r)
		}
	}
	b.behave()
	b.mustRun(t)
	b.mustHave(t, "notes", days(1, 3)...)
}

// TestRefusalPutsAsideAtOnceAndTheRestGoesOn lets the server judge one of three batches.
func TestRefusalPutsAsideAtOnceAndTheRestGoesOn(t *testing.T) {
	for _, capable := range []bool{false, true} {
		b := newBed(t)
		b.capable = capable
		b.write(t, days(1, 250)...)
		batches := 0
		b.intercept = func(_ int, name string, done bool, w http.ResponseWriter) bool {
			if name != "POST ingest-batches" || done {
				return false
			}
			if batches++; batches == 2 {
				refusal(400, "device_batch_refused")(w)
			}
			return batches == 2
		}
		r := b.run(t)
		if r.Outbox.DeadLetter != 1 || r.Outbox.Pending != 1 || r.Uploaded.Records != 150 || r.Status != "blocked" ||
			r.Cause != CauseDeadLetters {
			t.Errorf("%+v", r)
		}
		b.mustHaveState(t, "notes", "")
		second := b.run(t)
		if second.Run != nil || second.Cause != CauseDeadLetters {
			t.Errorf("a run beside what was put aside: %+v", second)
		}
		if _, err := b.collector(t).Beat(t.Context()); err != nil {
			t.Error(err)
		}
		if got := b.lastBeat(); got.Status != "blocked" || *got.Pending != 1 || got.LastError == nil ||
			got.LastError.Kind != "dead_letter_backlog" {
			t.Errorf("a heartbeat without a pass: %+v", got)
		}
		if !capable {
			b.mustHold(t, r, second)
		}
		b.behave()
		if r, err := b.collector(t).Recover(t.Context()); err != nil || !r.OK() {
			t.Fatalf("%v, %+v", err, r)
		}
		b.mustHave(t, "notes", days(1, 250)...)
		b.mustHaveState(t, "notes", `{"n":250}`)
	}
}

// TestTransientDeadLettersComeBackByThemselves verifies that a pass requeues uploads that an earlier
// version put aside without a rejection by the server.
func TestTransientDeadLettersComeBackByThemselves(t *testing.T) {
	b := newBed(t)
	failUploads(t, b)
	box := b.box(t)
	requeue := func(code string) {
		t.Helper()
		if _, err := box.RequeueDeadLetters(t.Context(), source, b.now); err != nil {
			t.Fatal(err)
		}
		items, err := box.Claim(t.Context(), "old", 1, time.Hour, b.now)
		if err == nil {
			err = box.DeadLetter(t.Context(), code, b.now, items[0])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	requeue("device_batch_conflict")
	if r := b.run(t); r.Outbox.DeadLetter != 1 {
		t.Errorf("what was judged came back: %+v", r)
	}
	requeue("http_503")
	b.mustRun(t)
	b.mustHave(t, "notes", days(1, 260)...)
}

// TestTooLargeBatchIsCut sends what a proxy or the server finds too large in parts, down to
// the one record that no part can carry.
func TestTooLargeBatchIsCut(t *testing.T) {
	for _, capable := range []bool{false, true} {
		b := newBed(t)
		b.capable = capable
		b.write(t, days(1, 60)...)
		b.refuseOver(9, "")
		r := b.mustRun(t)
		b.mustHave(t, "notes", days(1, 60)...)
		b.mustHaveState(t, "notes", `{"n":60}`)
		if r.Uploaded.Rejected != 0 {
			t.Errorf("%+v", r.Uploaded)
		}
		b.write(t, days(1, 61)...)
		b.refuseOver(0, "payload_too_large")
		b.unseen = 1
		r = b.mustRun(t)
		b.mustHave(t, "notes", days(1, 60)...)
		b.mustHaveState(t, "notes", `{"n":61}`)
		reported := b.missing["notes/day0061"] == "record_too_large"
		if !capable {
			reported = len(b.gaps) == 1 && b.gaps[0].Details.Missing["record_too_large"] == 1
		}
		if !reported || r.Uploaded.Rejected != 1 {
			t.Errorf("told %+v, %+v; %+v", b.missing, b.gaps, r.Uploaded)
		}
	}
}

// refuseOver finds batches of more records too large.
func (b *bed) refuseOver(records int, code string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tooMany = func(n int) (int, string, bool) {
		status, body := 413, "<html>"
		if code != "" {
			_, body = refuse(413, code)
		}
		return status, body, n > records
	}
}

// TestFullQueueMakesTheConnectorWait bounds what waits by bytes. The server takes nothing
// for a while; the run is not failed for it.
func TestFullQueueMakesTheConnectorWait(t *testing.T) {
	b := newBed(t)
	b.write(t, days(1, 3000)...)
	b.badly(12, answer(503, "", "Retry-After", "5"))
	c := b.collector(t)
	c.Policy.QueueBytes, c.Options.BatchRecords = 5_000, 1
	var most int64
	wait := c.Wait
	c.Wait = func(ctx context.Context, d time.Duration) error {
		box, err := outbox.OpenToRead(ctx, b.profile.Queue)
		if err != nil {
			return err
		}
		n, err := box.Size(ctx)
		most = max(most, n)
		return errors.Join(err, box.Close(), wait(ctx, d))
	}
	r, err := c.Run(t.Context())
	if err != nil || !r.OK() {
		t.Fatalf("%v, %+v, %+v", err, r, r.Run)
	}
	b.mustHave(t, "notes", days(1, 3000)...)
	if most < 5_000 || most > 15_000 { // a slice over the bound: it ends with its cursor
		t.Errorf("%d bytes waited at most", most)
	}
}

func TestFullDiskEndsThePassBeforeItWrites(t *testing.T) {
	b := newBed(t)
	b.write(t, days(1, 300)...)
	c := b.collector(t)
	c.Free = func(string) (int64, error) { return 1 << 20, nil }
	r, err := c.Run(t.Context())
	if err != nil || r.OK() || r.Cause != CauseDiskFull || r.Outbox.Total != 0 || len(b.gaps) != 0 ||
		b.lastBeat().Status != "stopped" {
		t.Fatalf("%v, %+v", err, r)
	}
	c.Free = func(string) (int64, error) { return 64 << 20, nil } // the least that is not full
	if r, err := c.Run(t.Context()); err != nil || !r.OK() {
		t.Fatalf("%v, %+v", err, r)
	}
	b.mustHave(t, "notes", days(1, 300)...)
}

func TestHeartbeatsWhileWorking(t *testing.T) {
	b := newBed(t)
	b.write(t, days(1, 900)...)
	c := b.collector(t)
	c.Policy.BeatEvery = 1
	if r, err := c.Run(t.Context()); err != nil || !r.OK() {
		t.Fatalf("%v, %+v", err, r)
	}
	if len(b.beats) < 4 || b.lastBeat().Status != "healthy" {
		t.Errorf("heartbeats %+v", b.beats)
	}
	for _, beat := range b.beats[1 : len(b.beats)-1] {
		if beat.Status != "retrying" && beat.Status != "starting" {
			t.Errorf("while working: %+v", beat)
		}
	}
}

// TestNumbersGrowWhateverTheClockSays verifies that batch numbers grow even if the clock goes back.
// The server orders batches by number.
func TestNumbersGrowWhateverTheClockSays(t *testing.T) {
	b := newBed(t)
	b.inOrder = true
	for n := range 3 {
		b.write(t, days(1, 10*(n+1))...)
		b.mustRun(t)
		b.now = b.now.AddDate(-1, 0, 0)
	}
	if b.lastSeq == 0 {
		t.Error("no number arrived") // the server holds each against the one before
	}
}

// TestRejectedRecordIsDeclared: a record that the server does not take is missing.
func TestRejectedRecordIsDeclared(t *testing.T) {
	for _, capable := range []bool{false, true} { // a capable server has declared it
		b := newBed(t)
		b.capable = capable
		b.write(t, days(1, 5)...)
		b.unseen = 5
		b.badly(1, answer(201, `{"object":"device_ingest_batch_result","status":"accepted","accepted_record_count":3,`+
			`"rejected_record_count":2}`))
		r := b.mustRun(t)
		announced := len(b.gaps) == 1 && b.gaps[0].Stream == "notes" && b.gaps[0].Details.Missing["record_rejected"] == 2
		if announced == capable || capable && len(b.gaps) > 0 || r.Uploaded.Rejected != 2 || r.Uploaded.Records != 3 {
			t.Errorf("capable %t: %+v, %+v", capable, b.gaps, r.Uploaded)
		}
	}
}

func TestDamagedQueueIsSetAside(t *testing.T) {
	b := newBed(t)
	b.capable = true
	b.write(t, days(1, 120)...)
	b.answerWith("POST ingest-batches", 503, "device_ingest_retryable", "")
	b.run(t)
	b.behave()
	if err := os.WriteFile(b.profile.Queue, bytes.Repeat([]byte("torn "), 4000), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(b.profile.Queue+ledgerExt, []byte("torn\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := b.mustRun(t)
	b.mustHave(t, "notes", days(1, 120)...)
	if aside, err := os.ReadFile(r.SetAside); err != nil || !strings.HasPrefix(string(aside), "torn") {
		t.Errorf("%q: %v", r.SetAside, err)
	}
	if left, _ := filepath.Glob(b.profile.Queue + "*.damaged-*"); len(left) < 2 {
		t.Errorf("set aside: %v", left)
	}
}

// TestTogether commits cursors and gaps with their records, in one request per slice.
func TestTogether(t *testing.T) {
	b := newBed(t)
	b.capable = true
	b.write(t, slices.Concat(days(1, 250), []string{"!day0251"})...)
	if err := os.WriteFile(b.file+".busy", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b.mustRun(t)
	if got := slices.Compact(slices.Clone(b.requests)); !slices.Equal(got,
		[]string{"POST heartbeat", "GET state", "GET gaps", "POST ingest-batches", "POST heartbeat"}) {
		t.Errorf("requests %q", b.requests)
	}
	b.mustHaveState(t, "notes", `{"n":251}`)
	if b.missing["details/day0251"] != "rate_limited" || len(b.gaps) != 0 {
		t.Errorf("missing %v, told %v", b.missing, b.gaps)
	}
	// After the loss of the disk, the ledger is rebuilt from the server's gaps.
	if err := os.RemoveAll(b.dirs.State); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(b.file + ".busy"); err != nil {
		t.Fatal(err)
	}
	b.mustRun(t)
	b.mustHave(t, "details", "day0251")
	if len(b.missing) != 0 {
		t.Errorf("still missing %v", b.missing)
	}
}

// TestGapOfAKilledPassIsDeclared verifies that the next pass reports a gap if a killed pass wrote it
// to the ledger but queued nothing.
func TestGapOfAKilledPassIsDeclared(t *testing.T) {
	b := newBed(t)
	b.capable = true
	b.write(t, slices.Concat(days(1, 3), []string{"!day0004"})...)
	if err := os.WriteFile(b.file+".busy", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(b.dirs.State, 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := openLedger(b.profile.Queue)
	if err == nil {
		err = errors.Join(l.open([]slice.Gap{{Stream: "details", ParentStream: "notes", RecordKey: "day0004",
			Reason: "rate_limited", Retryable: true, Locator: []byte(`{"key":"day0004"}`)}}), l.close())
	}
	if err != nil {
		t.Fatal(err)
	}
	b.mustRun(t)
	if b.missing["details/day0004"] != "rate_limited" {
		t.Errorf("declared missing: %v", b.missing)
	}
}

// TestServerThatForgotIsReadAgain: a restored backup has neither the batches before it nor
// their cursors; the device sends no cursor past them.
func TestServerThatForgotIsReadAgain(t *testing.T) {
	b := newBed(t)
	b.capable = true
	b.write(t, days(1, 250)...)
	n := 0
	b.intercept = func(_ int, name string, done bool, w http.ResponseWriter) bool {
		if name != "POST ingest-batches" || done {
			return false
		}
		if n++; n == 3 { // the one with the cursor
			clear(b.accepted)
			clear(b.batches)
			refusal(409, "device_checkpoint_ahead")(w)
			return true
		}
		return false
	}
	b.mustRun(t)
	b.mustHaveState(t, "notes", "")
	b.behave()
	b.mu.Lock()
	clear(b.accepted)
	b.mu.Unlock()
	b.mustRun(t)
	b.mustHave(t, "notes", days(1, 250)...)
	b.mustHaveState(t, "notes", `{"n":250}`)
}

func TestTarget(t *testing.T) {
	goal := newTarget(Policy{}.withDefaults())
	for range 5 {
		bytes, _ := goal.now()
		goal.took(bytes, 0)
	}
	if bytes, _ := goal.now(); bytes != 2<<20 {
		t.Errorf("quick uploads make %d", bytes)
	}
	goal.took(2<<20, time.Minute)
	goal.shrink(2 << 20)
	if bytes, _ := goal.now(); bytes != 1<<20 {
		t.Errorf("a timeout makes %d", bytes)
	}
	goal.took(100, 0)
	if bytes, _ := goal.now(); bytes != 1<<20 {
		t.Errorf("a small upload makes %d", bytes)
	}
	for range 20 {
		goal.shrink(1)
	}
	if bytes, _ := goal.now(); bytes != smallestGoal {
		t.Errorf("at least %d", bytes)
	}
}

// TestOutboxOfAnEarlierVersion sends a gap report in the format of an earlier version. Heartbeats report it while it is
// the only upload that waits.
func TestOutboxOfAnEarlierVersion(t *testing.T) {
	b := newBed(t)
	item, err := newItem(outbox.Gap, b.profile.SourceInstanceID, "run_1/1",
		jsontext.Value(`{"run_id":"run_1","at":"2026-03-01T08:00:00Z","mended":true}`))
	if err != nil {
		t.Fatal(err)
	}
	box, err := outbox.Open(t.Context(), b.profile.Queue)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(box.Enqueue(t.Context(), []outbox.QueuedItem{item}, b.now), box.Close()); err != nil {
		t.Fatal(err)
	}
	b.answerWith("POST recovered", 503, "", "3600")
	if r := b.run(t); r.Outbox.Pending != 1 || r.Cause != CausePending || b.lastBeat().Status != "retrying" {
		t.Errorf("while one upload waits: %+v, %+v", r, b.lastBeat())
	}
	beat := func(want string) {
		t.Helper()
		if _, err := b.collector(t).Beat(t.Context()); err != nil || b.lastBeat().Status != want {
			t.Errorf("a heartbeat without a pass is %s, want %s (%v)", b.lastBeat().Status, want, err)
		}
	}
	beat("retrying")
	b.behave()
	b.mustRun(t)
	beat("healthy")
	if len(b.recovered) != 1 || !strings.Contains(b.recovered[0], "connector_child_failure") {
		t.Errorf("recovered: %q", b.recovered)
	}
}

// TestComplete checks which claimed items go out: groups that end within the claim, and a group that fills it.
func TestComplete(t *testing.T) {
	kinds := map[rune]outbox.ItemKind{'r': outbox.RecordBatch, 'g': outbox.Gap, 'c': outbox.Checkpoint}
	for _, c := range []struct {
		items       string
		limit, want int
	}{
		{"r", 4, 1}, {"rgc", 4, 3}, {"rrgc", 4, 4}, {"rgcr", 4, 3}, {"rgrg", 4, 2}, {"rgr", 4, 3}, {"rggg", 4, 4},
		{"gcgg", 4, 2},
		{"ccrg", 4, 2}, {"rcrc", 4, 4},
	} {
		var items []outbox.QueuedItem
		for _, kind := range c.items {
			items = append(items, outbox.QueuedItem{Kind: kinds[kind]})
		}
		if got := complete(items, c.limit); got != c.want {
			t.Errorf("%s: %d go out, want %d", c.items, got, c.want)
		}
	}
}

// TestRecordLargerThanAnUpload checks that a single record is sent whole, however large it is.
func TestRecordLargerThanAnUpload(t *testing.T) {
	b := newBed(t)
	b.write(t, days(1, 3)...)
	c := b.collector(t)
	c.Policy.BatchBytes, c.Policy.LargestBatch = 1, 1
	if r, err := c.Run(t.Context()); err != nil || !r.OK() || r.Uploaded.Batches != 3 {
		t.Fatalf("%v, %+v", err, r)
	}
	b.mustHave(t, "notes", days(1, 3)...)
}
