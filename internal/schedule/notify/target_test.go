package notify

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

func TestTargetIsRetiredAfterDaysOfFailure(t *testing.T) {
	h := newHook(t, always(500))
	m := &memory{targets: []store.PushTarget{h.target("pt_1")}}
	var log bytes.Buffer
	s := &Sender{Store: m, Log: slog.New(slog.NewTextHandler(&log, nil))}
	for day := range retireAfter {
		if m.targets[0].RetiredAt != nil {
			t.Fatalf("retired on day %d: %+v", day, m.targets[0])
		}
		for i := range 3 { // several failures on one day count once
			r := pending("att_" + string(rune('a'+3*day+i)))
			m.records = append(m.records, r)
			mustDeliver(t, s, noon.Add(time.Duration(day)*24*time.Hour+time.Duration(i)*time.Minute))
		}
		if m.targets[0].Failures != day+1 {
			t.Errorf("failures on day %d: %d", day, m.targets[0].Failures)
		}
	}
	if tg := m.targets[0]; tg.RetiredAt == nil || tg.LastFailure != "http_500" {
		t.Errorf("target = %+v", tg)
	}
	if text := log.String(); !strings.Contains(text, "pt_1") || strings.Contains(text, "secret-path") ||
		strings.Contains(text, h.URL) {
		t.Errorf("log = %q", text)
	}
	before := len(h.got())
	m.records = append(m.records, pending("att_z"))
	mustDeliver(t, s, noon.Add(1000*time.Hour))
	if len(h.got()) != before || m.record(t, "att_z").NoticeWhy != "no_targets" {
		t.Error("a retired target is still told")
	}
}

func TestSuccessEndsTheRowOfFailures(t *testing.T) {
	tg := store.PushTarget{}
	bad, good := []result{{word: "timeout"}}, []result{{word: "timeout"}, {ok: true}}
	for day := range 20 {
		at := noon.Add(time.Duration(day) * 24 * time.Hour)
		applyResults(&tg, bad, at)
		if day%(retireAfter-1) == 0 {
			applyResults(&tg, good, at)
		}
	}
	if tg.RetiredAt != nil {
		t.Errorf("target = %+v", tg)
	}
	applyResults(&tg, []result{{word: "secret_unreadable", ours: true}}, noon)
	if tg.LastFailure != "secret_unreadable" || tg.RetiredAt != nil {
		t.Errorf("our own fault: %+v", tg)
	}
}

func TestTargetThatIsRemovedMeanwhileStaysRemoved(t *testing.T) {
	m := &memory{records: []attention.AttentionRecord{pending("att_1")}}
	h := newHook(t, func(int) int {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.targets = nil
		return 200
	})
	m.targets = []store.PushTarget{h.target("pt_1")}
	mustDeliver(t, &Sender{Store: m}, noon)
	if len(m.targets) > 0 || m.record(t, "att_1").Notice != attention.NoticeSent {
		t.Errorf("targets = %+v", m.targets)
	}
}

// A target may send us to another place on its host, and nowhere else.
func TestRedirects(t *testing.T) {
	elsewhere := newHook(t, nil)
	var arrived, round atomic.Int32
	mux := http.NewServeMux()
	for path, to := range map[string]string{"/same": "/there", "/away": elsewhere.URL + "/", "/round": "/round"} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			if path == "/round" {
				round.Add(1)
			}
			http.Redirect(w, r, to, http.StatusTemporaryRedirect)
		})
	}
	mux.HandleFunc("/get", func(w http.ResponseWriter,
		r *http.Request) {
		http.Redirect(w, r, "/there", http.StatusFound)
	})
	mux.HandleFunc("POST /there", func(w http.ResponseWriter, r *http.Request) { arrived.Add(1) })
	srv := httptest.NewServer(mux)
	defer srv.Close()
	for path, want := range map[string]result{
		"/same": {ok: true}, "/away": {word: "redirected"}, "/round": {word: "redirected"}, "/get": {word: "redirected"},
	} {
		tg := store.PushTarget{ID: "pt_1", Kind: store.TargetWebhook, Endpoint: srv.URL + path}
		if got := (&Sender{}).send(t.Context(), tg, PushMessage{AttentionID: "att_1"}, noon); got != want {
			t.Errorf("%s: %+v, want %+v", path, got, want)
		}
	}
	if len(elsewhere.got()) > 0 || arrived.Load() != 1 || round.Load() > maxRedirects+1 {
		t.Errorf("another host got %d, the same host %d, the circle %d", len(elsewhere.got()), arrived.Load(), round.Load())
	}
}

func TestUnreachableTarget(t *testing.T) {
	h := newHook(t, nil)
	h.Close()
	m := &memory{records: []attention.AttentionRecord{pending("att_1"), pending("att_2")},
		targets: []store.PushTarget{h.target("pt_1")}}
	mustDeliver(t, &Sender{Store: m}, noon)
	if r := m.record(t, "att_2"); r.Notice != attention.NoticePending || m.targets[0].LastFailure != "unreachable" ||
		m.targets[0].Failures != 1 {
		t.Errorf("record = %+v, target = %+v", r, m.targets[0])
	}
}
