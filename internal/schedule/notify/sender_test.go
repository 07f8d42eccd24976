package notify

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

func TestNoticeIsSentOnce(t *testing.T) {
	h := newHook(t, nil)
	m := &memory{records: []attention.AttentionRecord{pending("att_1"), pending("att_2")},
		targets: []store.PushTarget{h.target("pt_1")}}
	s := &Sender{Store: m}
	for i := range 5 {
		mustDeliver(t, s, noon.Add(time.Duration(i)*24*time.Hour))
	}
	if got := h.got(); len(got) != 2 || got[0].header.Get(IdempotencyHeader) != "att_1" ||
		got[1].header.Get(IdempotencyHeader) != "att_2" {
		t.Errorf("received %+v", got)
	}
	if r := m.record(t, "att_1"); r.Notice != attention.NoticeSent || !r.NoticeAt.Equal(noon) || r.NoticeWhy != "" {
		t.Errorf("record = %+v", r)
	}
	if tg := m.targets[0]; tg.LastSuccessAt == nil || !tg.LastSuccessAt.Equal(noon) || tg.Failures != 0 {
		t.Errorf("target = %+v", tg)
	}
}

// The sender asks two things of a record: is it pending, is it open. A sender
// that weighed anything else, such as how urgent it is, of which kind or why,
// would send another set than this.
func TestSenderDecidesNothing(t *testing.T) {
	t.Attr("spec", "CH-29.3")
	h := newHook(t, nil)
	notices := []attention.Notice{attention.NoticePending, attention.NoticeSent, attention.NoticeFailed,
		attention.NoticeSuppressed}
	lives := []evidence.Lifecycle{evidence.AttentionOpen, evidence.AttentionAcknowledged, evidence.AttentionInProgress,
		evidence.AttentionResolved,
		evidence.AttentionExpired, evidence.AttentionCancelled, evidence.AttentionSuperseded}
	rapid.Check(t, func(t *rapid.T) {
		h.mu.Lock()
		h.requests = nil
		h.mu.Unlock()
		m := &memory{targets: []store.PushTarget{h.target("pt_1")}}
		var want []string
		for i := range rapid.IntRange(1, 8).Draw(t, "records") {
			r := pending("att_" + string(rune('a'+i)))
			r.Notice = rapid.SampledFrom(notices).Draw(t, "notice")
			r.Lifecycle = rapid.SampledFrom(lives).Draw(t, "lifecycle")
			r.Urgency = rapid.SampledFrom([]string{"now", "overdue", "soon", "verifying", ""}).Draw(t, "urgency")
			r.Kind = rapid.SampledFrom([]string{"reauth", "answer", "retry_now", "wait", ""}).Draw(t, "kind")
			r.Reason = rapid.SampledFrom([]string{"credential_rejected", "healthy", "source_pressure", ""}).Draw(t, "reason")
			r.Words = rapid.String().Draw(t, "words")
			r.Affects = rapid.SliceOf(rapid.String()).Draw(t, "affects")
			r.Confirmations = rapid.IntRange(0, 9).Draw(t, "confirmations")
			if rapid.Bool().Draw(t, "past its time") {
				past := noon.Add(-time.Hour)
				r.ExpiresAt = &past
			}
			if !r.Open() {
				closed := noon
				r.ClosedAt = &closed
			}
			if r.Open() && r.Notice == attention.NoticePending {
				want = append(want, r.ID)
			}
			m.records = append(m.records, r)
		}
		before := slices.Clone(m.records)
		s := &Sender{Store: m}
		for range rapid.IntRange(1, 3).Draw(t, "passes") {
			if err := s.Deliver(t.Context(), noon); err != nil {
				t.Fatal(err)
			}
		}
		var got []string
		for _, r := range h.got() {
			got = append(got, r.header.Get(IdempotencyHeader))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("sent %v, want %v", got, want)
		}
		for i, r := range m.records {
			if !slices.Contains(want, r.ID) && r.Revision != before[i].Revision {
				t.Fatalf("touched %s: %+v", r.ID, r)
			}
		}
	})
}

func TestWithoutTargetsIsSuppressed(t *testing.T) {
	h := newHook(t, nil)
	quiet, err := ParseQuiet("00:00-24:00 UTC")
	if err != nil {
		t.Fatal(err)
	}
	retired := h.target("pt_0")
	retired.RetiredAt = &noon
	m := &memory{records: []attention.AttentionRecord{pending("att_1")}, targets: []store.PushTarget{retired}}
	mustDeliver(t, &Sender{Store: m, Quiet: quiet}, noon)
	if r := m.record(t, "att_1"); r.Notice != attention.NoticeSuppressed || r.NoticeWhy != "no_targets" {
		t.Errorf("record = %+v", r)
	}
	m.targets = append(m.targets, h.target("pt_1"))
	mustDeliver(t, &Sender{Store: m}, noon.Add(time.Minute))
	if got := h.got(); len(got) > 0 {
		t.Errorf("a target that was added later got %+v", got)
	}
}

func TestQuietHoursKeepItPending(t *testing.T) {
	h := newHook(t, nil)
	quiet, err := ParseQuiet("22:00-07:00 Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	m := &memory{records: []attention.AttentionRecord{pending("att_1")}, targets: []store.PushTarget{h.target("pt_1")}}
	s := &Sender{Store: m, Quiet: quiet}
	night := time.Date(2026, 3, 4, 21, 0, 0, 0, time.UTC) // 22:00 in Berlin
	for at := night; at.Before(night.Add(9 * time.Hour)); at = at.Add(10 * time.Minute) {
		mustDeliver(t, s, at)
	}
	if r := m.record(t, "att_1"); len(h.got()) > 0 || r.Notice != attention.NoticePending || r.Revision != 1 {
		t.Errorf("at night: %+v, sent %d", r, len(h.got()))
	}
	mustDeliver(t, s, night.Add(9*time.Hour))
	if len(h.got()) != 1 || m.record(t, "att_1").Notice != attention.NoticeSent {
		t.Error("it is not sent in the morning")
	}
}

// Several processes pass at the same moment.
func TestSendersShareAStore(t *testing.T) {
	h := newHook(t, nil)
	m := &memory{targets: []store.PushTarget{h.target("pt_1")}}
	for i := range 10 {
		m.records = append(m.records, pending("att_"+string(rune('a'+i))))
	}
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			if err := (&Sender{Store: m}).Deliver(t.Context(), noon); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	seen := map[string]int{}
	for _, r := range h.got() {
		seen[r.header.Get(IdempotencyHeader)]++
	}
	for _, r := range m.records {
		if seen[r.ID] != 1 || r.Notice != attention.NoticeSent {
			t.Errorf("%s was sent %d times and is %s", r.ID, seen[r.ID], r.Notice)
		}
	}
}

// A record that changes while it is sent is sent once and keeps its change.
func TestRecordChangesWhileItIsSent(t *testing.T) {
	m := &memory{records: []attention.AttentionRecord{pending("att_1"), pending("att_2")}}
	h := newHook(t, func(n int) int {
		m.mu.Lock()
		defer m.mu.Unlock()
		r := &m.records[n-1]
		r.Revision++
		if n == 1 {
			r.Move(evidence.AttentionResolved, noon)
		} else {
			r.Notice, r.NoticeWhy = attention.NoticeSuppressed, "runtime_fault"
		}
		return 200
	})
	m.targets = []store.PushTarget{h.target("pt_1")}
	mustDeliver(t, &Sender{Store: m}, noon)
	if r := m.record(t, "att_1"); r.Notice != attention.NoticeSent || r.Lifecycle != evidence.AttentionResolved {
		t.Errorf("resolved meanwhile: %+v", r)
	}
	if r := m.record(t, "att_2"); r.Notice != attention.NoticeSuppressed || r.NoticeWhy != "runtime_fault" {
		t.Errorf("suppressed meanwhile: %+v", r)
	}
}

func TestStoreFailureIsReturned(t *testing.T) {
	h := newHook(t, nil)
	m := &memory{records: []attention.AttentionRecord{pending("att_1"), pending("att_2")},
		targets: []store.PushTarget{h.target("pt_1")}}
	m.failSave = func(r attention.AttentionRecord) error {
		if r.ID == "att_1" {
			return errPower
		}
		return nil
	}
	if err := (&Sender{Store: m}).Deliver(t.Context(), noon); !errors.Is(err, errPower) {
		t.Errorf("Deliver = %v", err)
	}
	if got := h.got(); len(got) != 1 || got[0].header.Get(IdempotencyHeader) != "att_2" {
		t.Errorf("received %+v: what cannot be claimed must not be sent, and the rest must", got)
	}
}
