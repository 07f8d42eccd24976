package triggers_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/share/triggers"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres/postgrestest"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
)

var noon = time.Date(2026, 4, 1, 12, 0, 0, 0, time.UTC)

// world is a server with one connection in use and one that is paused, and triggers of each kind.
type world struct {
	t     *testing.T
	store store.Store
	url   string
	asked atomic.Int64
}

const secret = "pear-secret"

func onBoth(t *testing.T, test func(w *world)) {
	for name, open := range map[string]func(t *testing.T) (store.Store, error){
		"sqlite": func(t *testing.T) (store.Store, error) {
			return sqlite.Open(t.Context(), sqlitetest.NewDatabase(t, filepath.Join(t.TempDir(), "pdpp.db")), sqlite.Options{})
		},
		"postgres": func(t *testing.T) (store.Store, error) {
			return postgres.Open(t.Context(), postgrestest.NewDatabase(t), postgres.Options{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st, err := open(t)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { st.Close() })
			w := &world{t: t, store: st}
			w.furnish()
			test(w)
		})
	}
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) furnish() {
	ctx := w.t.Context()
	key := credential.NewKey()
	for id, status := range map[string]store.ConnectionStatus{"mine": store.ConnectionActive,
		"paused": store.ConnectionPaused} {
		w.must(w.store.CreateConnection(ctx, store.Connection{ID: id, ConnectorID: "journal", Status: status,
			SourceKind: store.SourceAccount, CreatedAt: noon, UpdatedAt: noon}))
	}
	for id, t := range map[string]store.RunTrigger{
		"tr_any":    {ConnectionID: "mine", Kind: triggers.Generic},
		"tr_github": {ConnectionID: "mine", Kind: triggers.GitHub},
		"tr_strava": {ConnectionID: "mine", Kind: triggers.Strava},
		"tr_paused": {ConnectionID: "paused", Kind: triggers.Generic},
	} {
		t.ID, t.Sealed, t.CreatedAt = id, triggers.Seal(key, id, secret), noon
		w.must(w.store.AddTrigger(ctx, t))
	}
	mux := http.NewServeMux()
	for _, route := range triggers.Routes(triggers.Config{Store: w.store,
		Key: key, Asked: func() { w.asked.Add(1) }, Now: func() time.Time { return noon },
		Log: slog.New(slog.NewTextHandler(w.t.Output(), nil))}) {
		mux.HandleFunc(route.Pattern, route.Handle)
	}
	server := httptest.NewServer(mux)
	w.t.Cleanup(server.Close)
	w.url = server.URL
}

// call answers with the status and the body.
func (w *world) call(method, path, body string, headers ...string) (int, string) {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), method, w.url+path, strings.NewReader(body))
	w.must(err)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	w.must(err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	w.must(err)
	return resp.StatusCode, string(b)
}

// waiting returns how many runs are requested.
func (w *world) waiting() int {
	w.t.Helper()
	all, err := w.store.ListRunRequests(w.t.Context(), "")
	w.must(err)
	return len(all)
}

func signed(body, with string) string {
	mac := hmac.New(sha256.New, []byte(with))
	mac.Write([]byte(body))
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// A caller that shows the secret in the way of the kind starts a run; many calls make one.
func TestCallStartsRun(t *testing.T) {
	t.Parallel()
	onBoth(t, func(w *world) {
		const body = `{"ref":"refs/heads/main"}`
		for name, call := range map[string][]string{
			"bearer":         {"/hooks/tr_any", body, "Authorization", "Bearer " + secret},
			"in the address": {"/hooks/tr_any/" + secret, ""},
			"signed":         {"/hooks/tr_github", body, "X-Hub-Signature-256", signed(body, secret), "X-GitHub-Event", "push"},
			"strava":         {"/hooks/tr_strava/" + secret, `{"object_type":"activity"}`},
		} {
			if status, answer := w.call("POST", call[0], call[1], call[2:]...); status != 202 ||
				answer != `{"status":"accepted"}`+"\n" && answer != `{"status":"accepted"}` {
				w.t.Errorf("%s: %d %s", name, status, answer)
			}
		}
		if n := w.waiting(); n != 1 {
			w.t.Errorf("%d runs are requested, want 1", n)
		}
		all, err := w.store.Triggers(w.t.Context())
		w.must(err)
		calls := map[string]int64{}
		for _, one := range all {
			calls[one.ID] = one.Calls
		}
		if calls["tr_any"] != 2 || calls["tr_github"] != 1 || calls["tr_strava"] != 1 || w.asked.Load() != 4 {
			w.t.Errorf("calls %v, asked %d times", calls, w.asked.Load())
		}
	})
}

// A ping and a paused connection are accepted, and start nothing.
func TestCallStartsNothing(t *testing.T) {
	t.Parallel()
	onBoth(t, func(w *world) {
		for name, call := range map[string][]string{
			"ping":   {"/hooks/tr_github", "{}", "X-Hub-Signature-256", signed("{}", secret), "X-GitHub-Event", "ping"},
			"paused": {"/hooks/tr_paused/" + secret, ""},
		} {
			if status, answer := w.call("POST", call[0], call[1], call[2:]...); status != 202 ||
				!strings.Contains(answer, "ignored") {
				w.t.Errorf("%s: %d %s", name, status, answer)
			}
		}
		if n := w.waiting(); n != 0 {
			w.t.Errorf("%d runs are requested", n)
		}
	})
}

// Strava confirms a subscription with the secret as its token.
func TestSubscriptionIsConfirmed(t *testing.T) {
	t.Parallel()
	onBoth(t, func(w *world) {
		const question = "?hub.mode=subscribe&hub.challenge=c15f&hub.verify_token="
		if status, answer := w.call("GET", "/hooks/tr_strava/"+secret+question+secret, ""); status != 200 ||
			strings.TrimSpace(answer) != `{"hub.challenge":"c15f"}` {
			w.t.Errorf("answered %d %s", status, answer)
		}
		for _, path := range []string{"/hooks/tr_strava/" + secret + question + "x", "/hooks/tr_any/" + secret + question +
			secret, "/hooks/tr_strava/x" + question + secret, "/hooks/tr_strava/" + secret + "?hub.verify_token=" + secret} {
			if status, answer := w.call("GET", path, ""); status != 404 {
				w.t.Errorf("%s: answered %d %s", path, status, answer)
			}
		}
	})
}

// A caller without the secret starts nothing, and cannot tell a trigger from none.
func TestStrangersLearnNothing(t *testing.T) {
	t.Parallel()
	onBoth(t, func(w *world) {
		const body = "{}"
		_, none := w.call("POST", "/hooks/tr_none/x", body)
		for name, call := range map[string][]string{
			"none":                      {"/hooks/tr_none", body, "Authorization", "Bearer " + secret},
			"no secret":                 {"/hooks/tr_any", body},
			"empty bearer":              {"/hooks/tr_any", body, "Authorization", "Bearer "},
			"wrong bearer":              {"/hooks/tr_any", body, "Authorization", "Bearer x"},
			"wrong address":             {"/hooks/tr_any/x", body},
			"strava without address":    {"/hooks/tr_strava", body, "Authorization", "Bearer " + secret},
			"github by bearer":          {"/hooks/tr_github", body, "Authorization", "Bearer " + secret},
			"github by address":         {"/hooks/tr_github/" + secret, body},
			"signed with another":       {"/hooks/tr_github", body, "X-Hub-Signature-256", signed(body, "x")},
			"signature of another body": {"/hooks/tr_github", body, "X-Hub-Signature-256", signed("", secret)},
			"paused":                    {"/hooks/tr_paused/x", body},
			"ping":                      {"/hooks/tr_github", body, "X-GitHub-Event", "ping"},
		} {
			if status, answer := w.call("POST", call[0], call[1], call[2:]...); status != 404 || answer != none {
				w.t.Errorf("%s: %d %s", name, status, answer)
			}
		}
		if n := w.waiting(); n != 0 || w.asked.Load() != 0 {
			w.t.Errorf("%d runs are requested", n)
		}
		if status, _ := w.call("POST", "/hooks/tr_any/"+secret, strings.Repeat("x", 1<<20+1)); status != 413 {
			w.t.Errorf("a long body: %d", status)
		}
	})
}
