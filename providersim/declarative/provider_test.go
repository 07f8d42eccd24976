package declarative_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/declarative/describe"
	"github.com/pdpp-go/pdpp/declarative/document"
	"github.com/pdpp-go/pdpp/declarative/expression"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/declarative"
)

var now = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

// newProvider returns the provider of one of our own source files. Its token is "secret".
func newProvider(t *testing.T, file string, seed uint64) *declarative.Provider {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "declarative", "testdata", "manifests", file+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := document.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	d, err := describe.Describe(doc, describe.Options{Key: file})
	if err != nil {
		t.Fatal(err)
	}
	config, err := expression.ParseJSON([]byte(`{"token":"secret","start_date":"2026-03-01"}`))
	if err != nil {
		t.Fatal(err)
	}
	return declarative.New(declarative.Options{Description: d, Config: config, Now: now, Seed: seed})
}

// get asks the provider with a token and returns the status and the body.
func get(t *testing.T, p *declarative.Provider, token, address string) (int, map[string]any) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	r.Header.Set("Authorization", "Bearer "+token)
	w := httptest.NewRecorder()
	p.Handler().ServeHTTP(w, r)
	raw, err := io.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	body := map[string]any{}
	if err := json.Unmarshal(raw, &body); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return w.Code, body
}

func TestPagesByNumber(t *testing.T) {
	t.Parallel()
	p := newProvider(t, "bramble", 1)
	for _, c := range []struct {
		token, query  string
		status, count int
	}{
		{"secret", "page=1&per_page=4", 200, 4},
		{"secret", "page=2&per_page=4", 200, 4},
		{"secret", "page=3&per_page=4", 200, 2},
		{"secret", "page=9&per_page=4", 400, 0}, // nothing led there
		{"secret", "page=1", 404, 0},            // the size of the document is missing
		{"another", "page=1&per_page=4", 401, 0},
	} {
		status, body := get(t, p, c.token, "/v1/books?"+c.query)
		items, _ := body["books"].([]any)
		if status != c.status || len(items) != c.count {
			t.Errorf("%s: status %d with %d items, want %d with %d", c.query, status, len(items), c.status, c.count)
		}
	}
	if n := len(p.Truth()["books"]); n != 10 {
		t.Errorf("%d books", n)
	}
	if len(p.Unknown()) != 1 || strings.Contains(p.Unknown()[0], "secret") {
		t.Errorf("unknown requests %q", p.Unknown())
	}
}

// The answer has what the templates of the document read: a token, and nothing at the end.
func TestTokens(t *testing.T) {
	t.Parallel()
	p := newProvider(t, "carrier", 1)
	count, next := 0, "/parcels"
	for page := 1; next != ""; page++ {
		status, body := get(t, p, "secret", next)
		items, ok := body["items"].([]any)
		if status != 200 || !ok || page > 3 {
			t.Fatalf("page %d: status %d", page, status)
		}
		count += len(items)
		if next = ""; body["next_cursor"] != nil {
			next = "/parcels?cursor=" + body["next_cursor"].(string)
		}
	}
	if count != len(p.Truth()["parcels"]) || count == 0 {
		t.Errorf("%d parcels of %d", count, len(p.Truth()["parcels"]))
	}
}

func TestWindows(t *testing.T) {
	t.Parallel()
	p := newProvider(t, "observatory", 1)
	seen := 0
	for _, period := range [][2]string{{"2026-03-01", "2026-03-04"}, {"2026-03-05", "2026-03-12"}} {
		status, body := get(t, p, "secret", "/sightings?from="+period[0]+"T00:00:00Z&to="+period[1]+"T23:59:59Z")
		items, _ := body["items"].([]any)
		for _, item := range items {
			at := item.(map[string]any)["changed"].(string)
			if status != 200 || at < period[0] || at[:10] > period[1] {
				t.Errorf("%s is not from %s to %s", at, period[0], period[1])
			}
		}
		if seen += len(items); len(items) == 0 {
			t.Errorf("nothing from %s to %s", period[0], period[1])
		}
	}
	if seen != len(p.Truth()["sightings"]) {
		t.Errorf("%d of %d", seen, len(p.Truth()["sightings"]))
	}
}

// Equal seeds make equal accounts, and faults are those of every simulator.
func TestSeedAndFaults(t *testing.T) {
	t.Parallel()
	one, same, other := newProvider(t, "museum", 1), newProvider(t, "museum", 1), newProvider(t, "museum", 2)
	if !reflect.DeepEqual(one.Truth(), same.Truth()) || reflect.DeepEqual(one.Truth(), other.Truth()) {
		t.Error("the seed does not decide")
	}
	if _, err := one.Gate().Add(providersim.Fault{Kind: providersim.Unavailable, Path: "/", Count: 1}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{503, 200} {
		if status, _ := get(t, one, "secret", "/rooms"); status != want {
			t.Errorf("status %d, want %d", status, want)
		}
	}
	before := len(one.Truth()["rooms"])
	for _, m := range []providersim.Mutation{{Op: "add_rooms", N: 3}, {Op: "delete_rooms", N: 1}, {Op: "change_rooms"}} {
		if _, err := one.Mutate(m); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(one.Truth()["rooms"]); n != before+2 {
		t.Errorf("%d rooms after %d", n, before)
	}
	if _, err := one.Mutate(providersim.Mutation{Op: "add_nothing"}); err == nil {
		t.Error("a stream that does not exist was changed")
	}
}
