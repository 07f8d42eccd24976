package notify

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// died makes every save after the claim fail, as for a process that dies
// between the sending and the saving.
func died(m *memory, is bool) {
	m.failSave = nil
	if is {
		m.failSave = func(r attention.AttentionRecord) error {
			if progressOf(&r).phase != phaseSending {
				return errPower
			}
			return nil
		}
	}
}

func TestCrashAfterSendingRepeatsOnce(t *testing.T) {
	h := newHook(t, nil)
	m := &memory{records: []attention.AttentionRecord{pending("att_1")}, targets: []store.PushTarget{h.target("pt_1")}}
	s := &Sender{Store: m}
	died(m, true)
	if err := s.Deliver(t.Context(), noon); !errors.Is(err, errPower) {
		t.Fatalf("Deliver = %v", err)
	}
	died(m, false)
	mustDeliver(t, s, noon.Add(claimTime-time.Second))
	if n := len(h.got()); n != 1 {
		t.Fatalf("sent %d times while the claim lasts", n)
	}
	for i := range 4 {
		mustDeliver(t, s, noon.Add(claimTime+time.Duration(i)*24*time.Hour))
	}
	got := h.got()
	if len(got) != 2 || got[0].header.Get(IdempotencyHeader) != got[1].header.Get(IdempotencyHeader) ||
		got[0].body != got[1].body {
		t.Errorf("received %+v, want the same twice", got)
	}
	if r := m.record(t, "att_1"); r.Notice != attention.NoticeSent {
		t.Errorf("record = %+v", r)
	}
}

func TestLostTwiceIsGivenUp(t *testing.T) {
	h := newHook(t, nil)
	m := &memory{records: []attention.AttentionRecord{pending("att_1")}, targets: []store.PushTarget{h.target("pt_1")}}
	s := &Sender{Store: m}
	died(m, true)
	for i := range 2 {
		if err := s.Deliver(t.Context(), noon.Add(time.Duration(i)*claimTime)); !errors.Is(err, errPower) {
			t.Fatalf("Deliver = %v", err)
		}
	}
	died(m, false)
	for i := range 3 {
		mustDeliver(t, s, noon.Add(time.Duration(i+2)*claimTime))
	}
	if r := m.record(t, "att_1"); len(h.got()) != 2 || r.Notice != attention.NoticeFailed || r.NoticeWhy != "unconfirmed" {
		t.Errorf("sent %d times, record = %+v", len(h.got()), r)
	}
}

func TestFailuresAreRetriedWithGrowingWaits(t *testing.T) {
	h := newHook(t, always(503))
	m := &memory{records: []attention.AttentionRecord{pending("att_1")}, targets: []store.PushTarget{h.target("pt_1")}}
	s := &Sender{Store: m}
	at := noon
	for attempt, wait := range retryWaits {
		mustDeliver(t, s, at)
		mustDeliver(t, s, at.Add(wait-time.Second))
		if r := m.record(t, "att_1"); len(h.got()) != attempt+1 || r.Notice != attention.NoticePending {
			t.Fatalf("after attempt %d: sent %d times, record = %+v", attempt+1, len(h.got()), r)
		}
		at = at.Add(wait)
	}
	mustDeliver(t, s, at)
	if r := m.record(t, "att_1"); r.Notice != attention.NoticeFailed || r.NoticeWhy != "http_503" ||
		!r.NoticeAt.Equal(at) {
		t.Errorf("in the end: %+v", r)
	}
	mustDeliver(t, s, at.Add(1000*time.Hour))
	if n := len(h.got()); n != len(retryWaits)+1 {
		t.Errorf("sent %d times", n)
	}
}

func TestRetryThatSucceeds(t *testing.T) {
	h := newHook(t, func(n int) int { return map[bool]int{true: 500, false: 200}[n < 3] })
	m := &memory{records: []attention.AttentionRecord{pending("att_1")}, targets: []store.PushTarget{h.target("pt_1")}}
	s := &Sender{Store: m}
	for i := range 200 {
		mustDeliver(t, s, noon.Add(time.Duration(i)*time.Minute))
	}
	if r := m.record(t, "att_1"); len(h.got()) != 3 || r.Notice != attention.NoticeSent {
		t.Errorf("sent %d times, record = %+v", len(h.got()), r)
	}
	if tg := m.targets[0]; tg.Failures != 0 || tg.LastFailureAt == nil || tg.LastSuccessAt == nil {
		t.Errorf("target = %+v", tg)
	}
}

// One target that took it is enough.
func TestPartOfTheTargetsFails(t *testing.T) {
	good, bad := newHook(t, nil), newHook(t, always(500))
	m := &memory{records: []attention.AttentionRecord{pending("att_1")},
		targets: []store.PushTarget{bad.target("pt_1"), good.target("pt_2")}}
	s := &Sender{Store: m}
	mustDeliver(t, s, noon)
	mustDeliver(t, s, noon.Add(time.Hour))
	if r := m.record(t, "att_1"); r.Notice != attention.NoticeSent || len(good.got()) != 1 || len(bad.got()) != 1 {
		t.Errorf("record = %+v, sent %d and %d times", r, len(good.got()), len(bad.got()))
	}
	if m.targets[0].Failures != 1 || m.targets[0].LastFailure != "http_500" || m.targets[1].Failures != 0 {
		t.Errorf("targets = %+v", m.targets)
	}
}

// A process that must stop midway does not know what was sent. It leaves the claim, and another process repeats it
// once.
func TestStopInTheMiddle(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		stop()
		<-r.Context().Done() // the answer never comes
	}))
	defer srv.Close()
	m := &memory{records: []attention.AttentionRecord{pending("att_1")},
		targets: []store.PushTarget{{ID: "pt_1", Kind: store.TargetWebhook, Endpoint: srv.URL}}}
	s := &Sender{Store: m}
	if err := s.Deliver(ctx, noon); err != nil {
		t.Fatal(err)
	}
	if r := m.record(t, "att_1"); r.NoticeWhy != "sending.1.0" || m.targets[0].LastFailureAt != nil {
		t.Errorf("record = %+v, target = %+v", r, m.targets[0])
	}
	h := newHook(t, nil)
	m.targets = []store.PushTarget{h.target("pt_1")}
	for i := range 10 {
		mustDeliver(t, s, noon.Add(time.Duration(i)*claimTime/2))
	}
	if r := m.record(t, "att_1"); r.Notice != attention.NoticeSent || len(h.got()) != 1 {
		t.Errorf("record = %+v, sent %d times", r, len(h.got()))
	}
}

// Whatever combination of crashes and failures happens, a record is sent at most twice, never again once its sending
// is known, and its notice ends.
func TestEveryNoticeEnds(t *testing.T) {
	h := newHook(t, nil)
	rapid.Check(t, func(t *rapid.T) {
		ok := true
		h.mu.Lock()
		h.requests, h.answer = nil, func(int) int {
			if ok {
				return 200
			}
			return 500
		}
		h.mu.Unlock()
		m := &memory{records: []attention.AttentionRecord{pending("att_1")}, targets: []store.PushTarget{h.target("pt_1")}}
		s := &Sender{Store: m}
		at, reported := noon, 0
		for range rapid.IntRange(1, 30).Draw(t, "passes") {
			crash := rapid.Bool().Draw(t, "crash")
			ok = rapid.Bool().Draw(t, "ok")
			died(m, crash)
			before, settled := len(h.got()), m.record(t, "att_1").Notice != attention.NoticePending
			if err := s.Deliver(t.Context(), at); err != nil && !crash {
				t.Fatal(err)
			}
			sent := len(h.got()) - before
			if sent > 1 || sent == 1 && settled {
				t.Fatalf("sent %d times in one pass, settled before: %v", sent, settled)
			}
			if ok {
				reported += sent
			}
			at = at.Add(time.Duration(rapid.IntRange(0, 600).Draw(t, "minutes")) * time.Minute)
		}
		if reported > 2 {
			t.Fatalf("the owner was notified %d times", reported)
		}
		died(m, false)
		ok = true
		for range len(retryWaits) + maxLost + 1 {
			at = at.Add(24 * time.Hour)
			if err := s.Deliver(t.Context(), at); err != nil {
				t.Fatal(err)
			}
		}
		if r := m.record(t, "att_1"); r.Notice == attention.NoticePending {
			t.Fatalf("record = %+v", r)
		}
	})
}

func FuzzProgress(f *testing.F) {
	for _, word := range []string{"", "sending.1.0", "retrying.2.1", "sending.-1.0", "sending.1",
		"retrying.99999999999999999999.1", "no_targets"} {
		f.Add(word)
	}
	f.Fuzz(func(t *testing.T, word string) {
		r := pending("att_1")
		r.NoticeWhy, r.NoticeAt = word, &noon
		claimable(&r, noon)
		if p := progressOf(&r); p != (progress{}) {
			r.NoticeWhy = p.String()
			if again := progressOf(&r); again != p {
				t.Fatalf("%q reads as %v, and that as %v", word, p, again)
			}
		}
	})
}
