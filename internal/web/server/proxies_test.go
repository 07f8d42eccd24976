package server

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

// The client address is the one that the last trusted proxy saw, never one that a client wrote.
func TestClientAddress(t *testing.T) {
	for name, c := range map[string]struct {
		trusted, from string
		usual         []string // X-Forwarded-For
		standard      []string // Forwarded
		want          string
	}{
		"no proxies are trusted": {"", "10.0.0.1:5", []string{"203.0.113.5"}, nil, "10.0.0.1:5"},
		"a stranger claims":      {"10.0.0.0/8", "192.0.2.1:5", []string{"203.0.113.5"}, nil, "192.0.2.1:5"},
		"a proxy says":           {"10.0.0.0/8", "10.0.0.1:5", []string{"203.0.113.5"}, nil, "203.0.113.5:0"},
		"with what the client wrote": {"10.0.0.0/8", "10.0.0.1:5", []string{"127.0.0.1, 203.0.113.5"}, nil,
			"203.0.113.5:0"},
		"in a line of its own": {"10.0.0.0/8", "10.0.0.1:5", []string{"127.0.0.1", "203.0.113.5"}, nil,
			"203.0.113.5:0"},
		"two proxies": {"10.0.0.0/8 ::1", "[::1]:5", []string{"203.0.113.5, 10.1.1.1"}, nil,
			"203.0.113.5:0"},
		"an address in between is odd": {"10.0.0.0/8", "10.0.0.1:5", []string{"203.0.113.5, pear, 10.1.1.1"}, nil,
			"10.0.0.1:5"},
		"only proxies": {"10.0.0.0/8", "10.0.0.1:5", []string{"10.1.1.1"}, nil, "10.0.0.1:5"},
		"nothing":      {"10.0.0.0/8", "10.0.0.1:5", nil, nil, "10.0.0.1:5"},
		"a port":       {"10.0.0.0/8", "10.0.0.1:5", []string{"203.0.113.5:4711"}, nil, "203.0.113.5:0"},
		"Forwarded": {"10.0.0.0/8", "10.0.0.1:5", nil,
			[]string{`for=192.0.2.9, For="[2001:db8::7]:4711";proto=https`}, "[2001:db8::7]:0"},
		"Forwarded hides": {"10.0.0.0/8", "10.0.0.1:5", nil, []string{`for=_hidden`}, "10.0.0.1:5"},
		"both agree": {"10.0.0.0/8", "10.0.0.1:5", []string{"203.0.113.5"}, []string{"for=203.0.113.5"},
			"203.0.113.5:0"},
		"they disagree": {"10.0.0.0/8", "10.0.0.1:5", []string{"203.0.113.5"}, []string{"for=198.51.100.1"},
			"10.0.0.1:5"},
		"one is odd": {"10.0.0.0/8", "10.0.0.1:5", []string{"203.0.113.5"}, []string{"for=pear"},
			"10.0.0.1:5"},
		"a mapped proxy": {"10.0.0.0/8", "[::ffff:10.0.0.1]:5", []string{"::ffff:203.0.113.5"}, nil,
			"203.0.113.5:0"},
	} {
		t.Run(name, func(t *testing.T) {
			proxies, wrong := ParseProxies(c.trusted)
			if wrong != "" {
				t.Fatal(wrong)
			}
			r := httptest.NewRequest("GET", "/", nil)
			r.RemoteAddr, r.Header["X-Forwarded-For"], r.Header["Forwarded"] = c.from, c.usual, c.standard
			got := ""
			withClientAddress(proxies,
				http.HandlerFunc(func(_ http.ResponseWriter,
					r *http.Request) {
					got = r.RemoteAddr
				})).ServeHTTP(httptest.NewRecorder(), r)
			if got != c.want {
				t.Errorf("%s", got)
			}
		})
	}
	if all, wrong := ParseProxies(" 10.1.2.3/8, ::1,,192.0.2.1 "); fmt.Sprint(all) != "[10.0.0.0/8 ::1/128 "+
		"192.0.2.1/32]" || wrong != "" {
		t.Errorf("%v %q", all, wrong)
	}
	if _, wrong := ParseProxies("10.0.0.0/8,pear"); wrong != "pear" {
		t.Errorf("%q", wrong)
	}
}
