package server

import (
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/web/reply"
)

func send(t *testing.T, c *http.Client, req *http.Request) answer {
	t.Helper()
	res, err := c.Do(req)
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

// taking serves a route for forms and one for JSON that answer with the size they received.
func taking(mux *http.ServeMux) {
	mux.HandleFunc("POST /form",
		func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "got "+r.PostForm.Get("a")[:1]) })
	mux.HandleFunc("POST /json", func(w http.ResponseWriter, r *http.Request) {
		var s string
		if reply.Read(w, r, &s) {
			_, _ = io.WriteString(w, "got "+s[:1])
		}
	})
	for _, pattern := range slices.Concat(withoutCookies, []string{"POST /oauth/authorize", "POST /sharing/allow/1"}) {
		mux.HandleFunc(pattern, func(http.ResponseWriter, *http.Request) {})
	}
}

func TestLargeBodiesAreRefused(t *testing.T) {
	url := start(t, Config{Mount: taking})
	const form, multi, js = "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/json"
	part := func(n int) string {
		return "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n" + strings.Repeat("b", n) + "\r\n--x--\r\n"
	}
	for name, c := range map[string]struct {
		path, kind, body string
		status           int
	}{
		"form":            {"/form", form, "a=" + strings.Repeat("b", maxForm-2), 200},
		"large form":      {"/form", form, "a=" + strings.Repeat("b", maxForm-1), 413},
		"multipart":       {"/form", multi, part(1000), 200},
		"large multipart": {"/form", multi, part(maxForm), 413},
		"broken":          {"/form", form, "a=%zz", 400},
		"JSON":            {"/json", js, `"` + strings.Repeat("b", reply.MaxBody-2) + `"`, 200},
		"large JSON":      {"/json", js, `"` + strings.Repeat("b", reply.MaxBody-1) + `"`, 413},
		"broken JSON":     {"/json", js, `{`, 400},
		"text":            {"/json", "text/plain", `""`, 415},
	} {
		for _, how := range []string{"announced", "in chunks"} {
			t.Run(name+" "+how, func(t *testing.T) {
				var body io.Reader = strings.NewReader(c.body)
				if how == "in chunks" {
					body = io.MultiReader(body) // hides its length
				}
				req, err := http.NewRequestWithContext(t.Context(), "POST", url+c.path, body)
				if err != nil {
					t.Fatal(err)
				}
				req.Header.Set("Content-Type", c.kind)
				a := send(t, http.DefaultClient, req)
				if a.status != c.status {
					t.Errorf("%d %.200s", a.status, a.body)
				}
				if c.status == 413 && !strings.Contains(a.body, `"code":"body_too_large"`) {
					t.Errorf("%s", a.body)
				}
			})
		}
	}
}

// Names that are not ours are those of pages that let their name point here.
func TestForeignNamesAreRefused(t *testing.T) {
	url := start(t, Config{Public: "https://pdpp.example:8443/console", Mount: taking})
	for host, want := range map[string]int{
		"127.0.0.1:7377": 200, "localhost:7377": 200, "LOCALHOST": 200, "[::1]:7377": 200, "[::1]": 200, "127.0.0.2": 200,
		"pdpp.example": 200, "PDPP.example:8443": 200,
		"evil.example": 421, "evil.example:7377": 421, "localhost.evil.example": 421, "127.0.0.1.evil.example": 421,
		"192.0.2.1": 421, "pdpp.example.evil.example": 421,
	} {
		req, err := http.NewRequestWithContext(t.Context(), "GET", url+"/healthz", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = host
		if a := send(t, http.DefaultClient, req); a.status != want || want == 421 &&
			!strings.Contains(a.body, `"code":"unknown_host"`) {
			t.Errorf("%s: %d %s", host, a.status, a.body)
		}
	}
}

func TestProgramsMayAskFromOtherSites(t *testing.T) {
	url := start(t, Config{Public: "https://pdpp.example", Mount: taking})
	for path, want := range map[string]int{
		"/oauth/token": 200, "/oauth/par": 200, "/oauth/register": 200, "/oauth/revoke": 200, "/oauth/introspect": 200,
		"/introspect":      200,
		"/oauth/authorize": 403, "/sharing/allow/1": 403, "/form": 403, "/json": 403,
	} {
		req, err := http.NewRequestWithContext(t.Context(), "POST", url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Origin", "https://app.example")
		req.Header.Set("Sec-Fetch-Site", "cross-site")
		if a := send(t, http.DefaultClient, req); a.status != want {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
	// Behind a proxy that speaks with its own name for us.
	req, err := http.NewRequestWithContext(t.Context(), "POST", url+"/oauth/authorize", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Origin", "https://pdpp.example")
	if a := send(t, http.DefaultClient, req); a.status != 200 {
		t.Errorf("our own page behind a proxy: %d %s", a.status, a.body)
	}
}

func TestListenNeedsAPassword(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:0"} {
		l, err := Listen(t.Context(), address, false)
		var refused *usererr.Error
		if !errors.As(err, &refused) || refused.Code != CodeListenUnguarded || refused.Next == "" || l != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
	for address, passwordSet := range map[string]bool{"127.0.0.1:0": false, "localhost:0": false, "0.0.0.0:0": true} {
		l, err := Listen(t.Context(), address, passwordSet)
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		if onLoopback(l) == passwordSet {
			t.Errorf("%s: %v", address, l.Addr())
		}
		l.Close()
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for address, code := range map[string]string{taken.Addr().String(): CodeListenFailed,
		"127.0.0.1": CodeListenBadAddress, "127.0.0.1:none": CodeListenBadAddress} {
		var refused *usererr.Error
		if _, err := Listen(t.Context(), address, true); !errors.As(err, &refused) || refused.Code != code ||
			refused.Next == "" {
			t.Errorf("%s: %v", address, err)
		}
	}
}
