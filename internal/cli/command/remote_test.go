package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/cli/failure"
)

// The flag takes precedence over the variables, and these over a saved login.
func TestServerPrecedence(t *testing.T) {
	kept := t.TempDir()
	if err := os.WriteFile(filepath.Join(kept, loginFileName),
		[]byte(`{"url":"https://kept.example","token":"pdpp_ot_kept"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name      string
		home      string
		flag      string
		vars      map[string]string
		url, with string
		code      string
	}{
		{name: "nothing", home: t.TempDir()},
		{name: "a login", home: kept, url: "https://kept.example", with: "pdpp_ot_kept"},
		{name: "left aside", home: kept, flag: "local"},
		{name: "left aside by a variable", home: kept, vars: map[string]string{envServer: "local"}},
		{name: "variables", home: kept, vars: map[string]string{envServer: "https://other.example/", EnvToken: "t"},
			url: "https://other.example", with: "t"},
		{name: "a flag", home: kept, flag: "http://127.0.0.1:9", vars: map[string]string{envServer: "https://other.example",
			EnvToken: "t"}, url: "http://127.0.0.1:9", with: "t"},
		{name: "the kept token is for its own server", home: kept, flag: "https://other.example", code: "configuration"},
		{name: "the kept server by name", home: kept, flag: "https://kept.example", url: "https://kept.example",
			with: "pdpp_ot_kept"},
		{name: "no address", home: kept, flag: "ftp://x", code: "usage"},
		{name: "a password in it", home: kept, flag: "https://ada:pear@x.example", code: "usage"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			env := testEnvironment(t, tt.vars)
			inv := &Invocation{Env: env, HomeFlag: tt.home, ServerURL: tt.flag}
			r, err := inv.RemoteServer()
			if tt.code != "" {
				if e := failure.Describe(err); e.Code != tt.code || e.Next == "" || strings.Contains(e.Message, "pear") {
					t.Errorf("error %+v, want %s", e, tt.code)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := RemoteServer{}
			if r != nil {
				got = *r
			}
			if got.URL != tt.url || got.Token != tt.with {
				t.Errorf("server %+v, want %s with %s", got, tt.url, tt.with)
			}
		})
	}
}

func TestReadableOnTheWay(t *testing.T) {
	for address, want := range map[string]bool{
		"https://pdpp.example": false, "http://127.0.0.1:7377": false, "http://[::1]:7377": false,
		"http://localhost:7377": false,
		"http://pdpp.example":   true, "http://192.168.1.7:7377": true,
	} {
		if got := ReadableInTransit(address); got != want {
			t.Errorf("%s: %t, want %t", address, got, want)
		}
	}
}
