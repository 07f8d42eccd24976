package webhooks

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres/postgrestest"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
	"github.com/pdpp-go/pdpp/protocol"
)

var noon = time.Date(2026, 4, 1, 12, 0, 0, 0, time.UTC)

const journal = `{"protocol_version":"0.1.0","connector_id":"journal","version":"1.0.0","display_name":"Journal",
 "capabilities":{"refresh_policy":{"recommended_mode":"automatic","rationale":"Reads what is new.",
  "recommended_interval_seconds":3600,"minimum_interval_seconds":300,"maximum_staleness_seconds":86400,
  "interaction_posture":"none","background_safe":true}},
 "streams":[{"name":"notes","semantics":"mutable_state","primary_key":"id","consent_time_field":"written_at",
   "cursor_field":"written_at","schema":{"type":"object","required":["id"],"properties":{"id":{"type":"string"},
    "title":{"type":"string"},"private":{"type":"string"},"written_at":{"type":"string"}}},
   "query":{"filter":["private"]}},
  {"name":"letters","semantics":"mutable_state","primary_key":"id","schema":{"type":"object","required":["id"],
   "properties":{"id":{"type":"string"},"text":{"type":"string"}}}}]}`

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// onBoth runs a test over each database.
func onBoth(t *testing.T, test func(t *testing.T, st store.Store)) {
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		st, err := sqlite.Open(t.Context(), sqlitetest.NewDatabase(t, filepath.Join(t.TempDir(), "pdpp.db")),
			sqlite.Options{})
		check(t, err)
		t.Cleanup(func() { st.Close() })
		test(t, st)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		st, err := postgres.Open(t.Context(), postgrestest.NewDatabase(t), postgres.Options{})
		check(t, err)
		t.Cleanup(func() { st.Close() })
		test(t, st)
	})
}

// world is a store with a connection, a deliverer, and a receiver.
type world struct {
	t      *testing.T
	store  store.Store
	grants *grants.Service
	d      *Deliverer
	lease  store.Lease
	now    time.Time
	to     string

	mu       sync.Mutex
	received []delivery
	answer   func(delivery) int // nil accepts everything
}

// delivery is a message as the receiver got it.
type delivery struct {
	header http.Header
	body   string
	message
	Data struct {
		Data []struct {
			ID      string
			Deleted bool
			Data    map[string]any
		}
		Since string `json:"next_changes_since"`
	} `json:"data"`
}

func (m delivery) ids() string {
	var ids []string
	for _, r := range m.Data.Data {
		id := r.ID
		if r.Deleted {
			id = "-" + id
		}
		ids = append(ids, id)
	}
	return strings.Join(ids, " ")
}

func newWorld(t *testing.T, st store.Store) *world {
	w := &world{t: t, store: st, now: noon}
	clock := func() time.Time { return w.now }
	w.grants = grants.NewService(st, "https://home.example", clock)
	w.d = newDeliverer(t.Context(), t, st, w.grants, clock)
	receiver := httptest.NewServer(http.HandlerFunc(w.receive))
	t.Cleanup(receiver.Close)
	w.to = receiver.URL
	w.lease = connect(t, st)
	return w
}

func newDeliverer(ctx context.Context, t testing.TB, st store.Store, g *grants.Service,
	now func() time.Time) *Deliverer {
	read, err := NewReader(ctx, st, g, nil, nil, now)
	check(t, err)
	return &Deliverer{Store: st, Read: read, Grants: g, Key: credential.NewKey(), Holder: "here", Now: now,
		Log: slog.New(slog.DiscardHandler), busy: map[string]bool{}, seen: map[string]string{}}
}

func connect(t testing.TB, st store.Store) store.Lease {
	ctx := t.Context()
	_, err := st.PutManifest(ctx, "journal", []byte(journal), noon)
	check(t, err)
	check(t, st.CreateConnection(ctx, store.Connection{ID: "mine", ConnectorID: "journal", DisplayName: "Journal",
		Status: store.ConnectionActive, SourceKind: store.SourceAccount, ManifestGeneration: 1, CreatedAt: noon,
		UpdatedAt: noon}))
	l, err := st.StartRun(ctx, store.RunStart{RunID: "run_1", ConnectionID: "mine", ConnectorID: "journal",
		Trigger: store.TriggerManual, Holder: "test", TTL: 24 * time.Hour,
		Streams: []store.StreamSpec{{Name: "notes", TimeField: "written_at"}, {Name: "letters"}}}, noon)
	check(t, err)
	return l
}

func (w *world) receive(rw http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	m := delivery{header: r.Header, body: string(body)}
	if err := json.Unmarshal(body, &m); err != nil {
		w.t.Error(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.received = append(w.received, m)
	if w.answer == nil {
		return
	}
	if status := w.answer(m); status != 0 {
		rw.Header().Set("Location", "/elsewhere")
		rw.WriteHeader(status)
	}
}

// took returns what arrived since it was called last.
func (w *world) took() (ids []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range w.received {
		ids = append(ids, m.Stream+": "+m.ids())
	}
	w.received = nil
	return ids
}

// pass delivers once.
func (w *world) pass() {
	w.t.Helper()
	var all sync.WaitGroup
	check(w.t, w.d.pass(w.t.Context(), &all))
	all.Wait()
}

func (w *world) put(records ...slice.Record) {
	w.t.Helper()
	_, err := w.store.CommitSlice(w.t.Context(), w.lease, slice.Slice{Records: records}, w.now)
	check(w.t, err)
}

// add adds a webhook that begins at the beginning.
func (w *world) add(hook store.Webhook) string {
	w.t.Helper()
	hook.ID, hook.CreatedAt = fmt.Sprintf("wh_%d", len(w.all())), noon
	if hook.Address == "" {
		hook.Address, hook.Local = w.to, true
	}
	hook.Batch = max(hook.Batch, 1)
	hook.Sealed = Seal(w.d.Key, hook.ID, secretPrefix+"c2VjcmV0IG9mIGEgdGVzdA==")
	check(w.t, w.store.AddWebhook(w.t.Context(), hook))
	return hook.ID
}

func (w *world) all() []store.Webhook {
	w.t.Helper()
	all, err := w.store.Webhooks(w.t.Context())
	check(w.t, err)
	return all
}

func note(key string, month time.Month, title, private string) slice.Record {
	at := time.Date(2026, month, 10, 9, 0, 0, 0, time.UTC)
	data, _ := json.Marshal(map[string]string{"id": key, "title": title, "private": private,
		"written_at": at.Format(time.RFC3339)})
	return slice.Record{Stream: "notes", Key: key, Data: data, EmittedAt: "2026-04-01T12:00:00Z",
		SemanticTime: at.Format("2006-01-02T15:04:05.000000Z")}
}

func letter(key, text string) slice.Record {
	return slice.Record{Stream: "letters", Key: key, Data: fmt.Appendf(nil, `{"id":%q,"text":%q}`, key, text),
		EmittedAt: "2026-04-01T12:00:00Z"}
}

func gone(stream, key string) slice.Record {
	return slice.Record{Stream: stream, Key: key, Op: protocol.OpDelete, EmittedAt: "2026-04-01T12:30:00Z"}
}
