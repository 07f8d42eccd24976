package ui

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

func assetServer(t *testing.T) string {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /assets/{name}", ServeAsset)
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}

func get(t *testing.T, address string, header ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	// A bare transport sends the path unchanged and decompresses nothing.
	res, err := (&http.Transport{DisableCompression: true, DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(body)
}

func TestAssetsAreKeptForGood(t *testing.T) {
	base := assetServer(t)
	for name := range assets() {
		res, body := get(t, base+Asset(name))
		if res.StatusCode != http.StatusOK || len(body) == 0 ||
			!strings.Contains(res.Header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s gives %d, %d bytes, %q", name, res.StatusCode, len(body), res.Header.Get("Cache-Control"))
		}
		packed, raw := get(t, base+Asset(name), "Accept-Encoding", "gzip")
		if packed.Header.Get("Content-Encoding") == "gzip" {
			z, err := gzip.NewReader(strings.NewReader(raw))
			if err != nil {
				t.Fatal(err)
			}
			plain, err := io.ReadAll(z)
			if err != nil || string(plain) != body {
				t.Errorf("%s is another file when packed: %v", name, err)
			}
		}
		if old, _ := get(t, base+"/assets/"+name+"?v=older"); strings.Contains(old.Header.Get("Cache-Control"), "immutable") {
			t.Errorf("an old address of %s is kept for good", name)
		}
		if same, _ := get(t, base+Asset(name), "If-None-Match",
			res.Header.Get("ETag")); same.StatusCode != http.StatusNotModified {
			t.Errorf("%s is sent again: %d", name, same.StatusCode)
		}
	}
}

// Only the files that pages link to exist, whatever the path looks like.
func TestNoPathLeadsOutOfTheAssets(t *testing.T) {
	base := assetServer(t)
	for _, path := range []string{
		"/assets/", "/assets/../assets.go", "/assets/..%2f..%2fconsole.go", "/assets/%2e%2e/%2e%2e/go.mod",
		"/assets/..%5cgo.mod",
		"/assets/vendor/htmx-LICENSE.txt", "/assets/vendor%2fhtmx-LICENSE.txt", "/assets/css%2f1-tokens.css",
		"/assets//etc/passwd", "/assets/%2fetc%2fpasswd",
		"/assets/console.css%00.js", "/assets/console.css/", "/assets/none.js",
	} {
		res, body := get(t, base+path)
		if res.StatusCode == http.StatusOK {
			t.Errorf("%s gives %q", path, body[:min(len(body), 60)])
		}
	}
}

// The style sheet uses tokens: a colour is written once.
func TestColoursAreTokens(t *testing.T) {
	_, rules, _ := strings.Cut(string(sheet()), `:root[data-theme="dark"]`)
	if found := regexp.MustCompile(`#[0-9a-fA-F]{3,8}\b(?:[;, )])`).FindAllString(rules, -1); len(found) != 0 {
		t.Errorf("raw colours: %v", found)
	}
}

// A theme is nothing but colours: no rule but the two that choose one knows of it, so that
// whatever is shown in one is shown in the other.
func TestThemeIsNothingButColours(t *testing.T) {
	text := string(sheet())
	for _, choice := range []string{`:root[data-theme="light"] { color-scheme: light; }`,
		`:root[data-theme="dark"] { color-scheme: dark; }`} {
		if !strings.Contains(text, choice) {
			t.Errorf("the style sheet has no %s", choice)
		}
		text = strings.Replace(text, choice, "", 1)
	}
	if found := regexp.MustCompile(`.*(?:prefers-color-scheme|\[data-theme[\]=]).*`).FindAllString(text,
		-1); len(found) != 0 {
		t.Errorf("rules of one theme: %q", found)
	}
}
