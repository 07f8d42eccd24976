package server

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/pdpp-go/pdpp/internal/ops/metrics"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
	"github.com/pdpp-go/pdpp/internal/web/reply"
)

// start serves on a real listener until the test ends, and returns its address.
func start(t *testing.T, c Config) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, l, c) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return "http://" + l.Addr().String()
}

type answer struct {
	status int
	header http.Header
	body   string
}

func ask(t *testing.T, method, url string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{res.StatusCode, res.Header, string(body)}
}

func TestReadyWithARealStore(t *testing.T) {
	st, err := sqlite.Open(t.Context(), sqlitetest.NewDatabase(t, filepath.Join(t.TempDir(), "pdpp.db")), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	url := start(t, Config{Checks: []ReadinessCheck{
		Database(st), Scheduler(time.Now, time.Minute),
	}})
	if a := ask(t, "GET", url+"/healthz"); a.status != 200 || a.body != `{"status":"alive"}`+"\n" {
		t.Errorf("healthz: %d %s", a.status, a.body)
	}
	want := `{"status":"ready","checks":[{"name":"database","ok":true},{"name":"scheduler","ok":true}]}`
	if a := ask(t, "GET", url+"/readyz"); a.status != 200 || strings.TrimSpace(a.body) != want {
		t.Errorf("readyz: %d %s", a.status, a.body)
	}
}

func TestNotReadyTellsNoInternals(t *testing.T) {
	st, err := sqlite.Open(t.Context(), sqlitetest.NewDatabase(t, filepath.Join(t.TempDir(), "pdpp.db")), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	st.Close() // the database is gone
	url := start(t, Config{Checks: []ReadinessCheck{Database(st)}})
	a := ask(t, "GET", url+"/readyz")
	if want := `{"status":"not_ready","checks":[{"name":"database","ok":false}]}`; a.status != 503 ||
		strings.TrimSpace(a.body) != want {
		t.Errorf("readyz: %d %s", a.status, a.body)
	}
	if a := ask(t, "GET", url+"/healthz"); a.status != 200 {
		t.Errorf("healthz: %d", a.status)
	}
}

func TestMetricsAreServed(t *testing.T) {
	m := metrics.New(metrics.Config{Connectors: []string{"acme"}})
	m.SliceCommitted("acme", 3)
	a := ask(t, "GET", start(t, Config{Metrics: m.Handler()})+"/metrics")
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(a.body))
	if err != nil || a.status != 200 {
		t.Fatalf("status %d, %v", a.status, err)
	}
	if got := families["pdpp_records_committed_total"].GetMetric(); len(got) != 1 || got[0].GetCounter().GetValue() != 3 {
		t.Errorf("records: %v", got)
	}
	if a := ask(t, "GET", start(t, Config{})+"/metrics"); a.status != 404 {
		t.Errorf("without metrics: %d", a.status)
	}
}

func TestErrorsAreEnvelopes(t *testing.T) {
	url := start(t, Config{Version: "1.2.3", Mount: func(mux *http.ServeMux) {
		mux.HandleFunc("GET /v1/panics", func(http.ResponseWriter, *http.Request) { panic("with ada@example.org") })
		mux.HandleFunc("GET /v1/breaks", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(200)
			http.NewResponseController(w).Flush()
			panic("in the middle")
		})
	}})
	for name, c := range map[string]struct {
		method, path, code string
		status             int
	}{
		"unknown":      {"GET", "/nothing/here", "not_found", 404},
		"root":         {"GET", "/", "not_found", 404},
		"wrong method": {"POST", "/healthz", "method_not_allowed", 405},
		"panic":        {"GET", "/v1/panics", "internal_error", 500},
	} {
		t.Run(name, func(t *testing.T) {
			a := ask(t, c.method, url+c.path)
			var e struct{ Error reply.Problem }
			if err := json.Unmarshal([]byte(a.body), &e); err != nil {
				t.Fatalf("%v: %s", err, a.body)
			}
			if a.status != c.status || e.Error.Code != c.code || e.Error.Type == "" || e.Error.Message == "" {
				t.Errorf("%d %s", a.status, a.body)
			}
			if id := a.header.Get("Request-Id"); len(id) < 20 || id != e.Error.RequestID {
				t.Errorf("request id %q, in the envelope %q", id, e.Error.RequestID)
			}
			if strings.Contains(a.body, "ada") {
				t.Errorf("the answer tells what happened: %s", a.body)
			}
			if c.status == 405 && a.header.Get("Allow") == "" {
				t.Error("the answer does not say what is allowed")
			}
		})
	}
	t.Run("panic in the middle", func(t *testing.T) {
		res, err := http.Get(url + "/v1/breaks")
		if err == nil {
			_, err = io.ReadAll(res.Body)
			res.Body.Close()
		}
		if err == nil {
			t.Error("half an answer looks like a whole one")
		}
	})
}

func TestEveryAnswerIsSafe(t *testing.T) {
	url := start(t, Config{Version: "1.2.3", Mount: func(mux *http.ServeMux) {
		mux.HandleFunc("GET /page", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Security-Policy", "default-src 'self'")
		})
	}})
	for _, path := range []string{"/healthz", "/readyz", "/nothing"} {
		h := ask(t, "GET", url+path).header
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
			"Cache-Control": "no-store", "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
			"PDPP-Version": "1.2.3", "Content-Type": "application/json",
		} {
			if h.Get(name) != want {
				t.Errorf("%s: %s is %q", path, name, h.Get(name))
			}
		}
	}
	if got := ask(t, "GET", url+"/page").header.Get("Content-Security-Policy"); got != "default-src 'self'" {
		t.Errorf("a page's own policy becomes %q", got)
	}
}
