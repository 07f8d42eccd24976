package notify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// memory implements the store's guarantees that matter here: revisions, and lists that are copies. failSave, if set,
// may reject a save; saved is called after every save.
type memory struct {
	mu       sync.Mutex
	records  []attention.AttentionRecord
	targets  []store.PushTarget
	settings map[string][]byte
	failSave func(attention.AttentionRecord) error
	saved    func(attention.AttentionRecord)
}

func (m *memory) Attention(_ context.Context, q store.AttentionQuery) ([]attention.AttentionRecord, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []attention.AttentionRecord
	for _, r := range m.records {
		closed := q.All || q.ClosedSince != nil && r.ClosedAt != nil && !r.ClosedAt.Before(*q.ClosedSince)
		if (q.ConnectionIDs == nil || slices.Contains(q.ConnectionIDs, r.ConnectionID)) && (r.Open() || closed) &&
			(q.Notice == "" || q.Notice == r.Notice) {
			out = append(out, r)
		}
	}
	return out, nil
}

func (m *memory) SaveAttention(_ context.Context, records []attention.AttentionRecord, _ *store.RunRequest) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range records {
		i := slices.IndexFunc(m.records, func(old attention.AttentionRecord) bool { return old.ID == r.ID })
		if i < 0 || m.records[i].Revision != r.Revision {
			return store.ErrStale
		}
		if m.failSave != nil {
			if err := m.failSave(r); err != nil {
				return err
			}
		}
		r.Revision++
		m.records[i] = r
		if m.saved != nil {
			m.saved(r)
		}
	}
	return nil
}

func (m *memory) Targets(context.Context) ([]store.PushTarget, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.targets), nil
}

func (m *memory) PutTarget(_ context.Context, t store.PushTarget) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.IndexFunc(m.targets, func(old store.PushTarget) bool { return old.ID == t.ID })
	if i < 0 {
		m.targets = append(m.targets, t)
		return nil
	}
	m.targets[i] = t
	return nil
}

func (m *memory) Connection(_ context.Context, id string) (store.Connection, error) {
	if id == "cin_unknown" {
		return store.Connection{}, store.ErrNotFound
	}
	return store.Connection{ID: id, DisplayName: "Ann's Läntern"}, nil
}

func (m *memory) InitSetting(_ context.Context, name string, value []byte, _ time.Time) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.settings == nil {
		m.settings = map[string][]byte{}
	}
	if m.settings[name] == nil {
		m.settings[name] = value
	}
	return m.settings[name], nil
}

// record returns the stored record.
func (m *memory) record(t interface{ Fatalf(string, ...any) }, id string) attention.AttentionRecord {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.records {
		if r.ID == id {
			return r
		}
	}
	t.Fatalf("there is no record %s", id)
	return attention.AttentionRecord{}
}

func pending(id string) attention.AttentionRecord {
	return attention.AttentionRecord{
		ID: id, ConnectionID: "cin_1", Kind: "reauth", Contract: "credential_replaced", Urgency: "now",
		Affects: []string{"letters"},
		Words:   "Sign in again. Läntern refused the password.", Reason: "credential_rejected", Occasion: id,
		Lifecycle: evidence.AttentionOpen, OpenedAt: noon, UpdatedAt: noon, Notice: attention.NoticePending, Revision: 1,
	}
}

// hook is a webhook's receiver: it records requests and answers as configured.
type hook struct {
	*httptest.Server
	mu       sync.Mutex
	requests []received
	answer   func(n int) int // the status of the nth request, from 1; nil means 200
}

type received struct {
	header http.Header
	path   string
	body   string
}

func newHook(t *testing.T, answer func(n int) int) *hook {
	h := &hook{answer: answer}
	h.Server = httptest.NewServer(h)
	t.Cleanup(h.Close)
	return h
}

func (h *hook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	h.mu.Lock()
	h.requests = append(h.requests, received{r.Header, r.URL.Path, string(body)})
	n := len(h.requests)
	h.mu.Unlock()
	if h.answer != nil {
		w.WriteHeader(h.answer(n))
	}
	_, _ = fmt.Fprint(w, "thank you")
}

func (h *hook) got() []received {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.requests)
}

func (h *hook) target(id string) store.PushTarget {
	return store.PushTarget{ID: id, Kind: store.TargetWebhook, Endpoint: h.URL + "/secret-path", CreatedAt: noon}
}

func always(status int) func(int) int { return func(int) int { return status } }

func mustDeliver(t *testing.T, s *Sender, now time.Time) {
	t.Helper()
	if err := s.Deliver(t.Context(), now); err != nil {
		t.Fatal(err)
	}
}

var errPower = errors.New("the power is gone")
