package providersim

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv.URL
}

func say(word string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, word) })
}

func TestServe(t *testing.T) {
	t.Parallel()
	s, err := Serve("", say("api"), "localhost:0", say("control"))
	if err != nil {
		t.Fatal(err)
	}
	for url, want := range map[string]string{s.BaseURL: "api", s.Control().URL: "control"} {
		if !strings.HasPrefix(url, "http://127.0.0.1:") {
			t.Errorf("%s is not on 127.0.0.1", url)
		}
		if _, body, err := (bundle{t: t, url: url}).get("/"); err != nil || body != want {
			t.Errorf("%s answers %q, %v; want %q", url, body, err, want)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := http.Get(s.BaseURL); err == nil {
		t.Error("still answers after Close")
	}
}

func TestServeRefusesOtherAddresses(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{":0", "0.0.0.0:0", "[::]:0", "192.0.2.7:0", "example.invalid:0"} {
		if _, err := Serve(addr, say(""), "", say("")); !errors.Is(err, ErrNotLoopback) {
			t.Errorf("api on %s: %v", addr, err)
		}
		if _, err := Serve("", say(""), addr, say("")); !errors.Is(err, ErrNotLoopback) {
			t.Errorf("control on %s: %v", addr, err)
		}
	}
}

func TestSignerRefusesWhatItDidNotSeal(t *testing.T) {
	t.Parallel()
	s := NewSigner("one")
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.MapOf(rapid.String(), rapid.Int()).Draw(t, "value")
		token := s.Seal(in)
		var out map[string]int
		if !s.Open(token, &out) {
			t.Fatal("refuses its own token")
		}
		if token != s.Seal(out) {
			t.Fatal("a token changed on the way")
		}
		i := rapid.IntRange(0, len(token)-1).Draw(t, "position")
		c := rapid.SampledFrom([]byte("ABCXYZabcxyz0189-_=.")).Draw(t, "byte")
		if altered := token[:i] + string(c) + token[i+1:]; altered != token && s.Open(altered, &out) {
			t.Fatalf("accepts %q altered at %d", token, i)
		}
		if s.Open(token[:i], &out) {
			t.Fatal("accepts a shortened token")
		}
		if NewSigner("two").Open(token, &out) {
			t.Fatal("another secret accepts the token")
		}
	})
}
