package cli

import (
	"fmt"
	"net/http"
	"testing"
)

// guess floods the server with wrong passwords until strangers wait.
func (s *served) guess(as func(i int) *visitor) {
	s.Helper()
	refused := 0
	for i := range 40 {
		switch a := as(i).post("/login", "password", "a wrong password"); a.StatusCode {
		case http.StatusUnauthorized:
		case http.StatusTooManyRequests:
			refused++
		default:
			s.Fatalf("guess %d: %d %s", i, a.StatusCode, a.body)
		}
	}
	if refused == 0 {
		s.Fatal("guessing is not slowed down")
	}
}

// A flood of guesses from elsewhere, or from the owner's own address, does not keep out
// a browser that has signed in before; a stranger with the right password waits.
func TestFloodDoesNotLockOutAKnownBrowser(t *testing.T) {
	for name, as := range map[string]func(s *served, i int) *visitor{
		"from many addresses": func(s *served,
			i int) *visitor {
			return s.visitor().from(fmt.Sprint("127.0.1.", i+1))
		},
		"from the browser's address": func(s *served, _ int) *visitor { return s.visitor() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serveLocal(t, map[string]string{"PDPP_OWNER_PASSWORD": servedPassword})
			owner := s.visitor().from("127.0.2.1")
			if name == "from the browser's address" {
				owner = s.visitor()
			}
			if a := owner.post("/login", "password", servedPassword); a.StatusCode != http.StatusSeeOther {
				t.Fatal(a.StatusCode)
			}
			if a := owner.post("/logout"); a.StatusCode != http.StatusSeeOther {
				t.Fatal(a.StatusCode)
			}
			// The next start has forgotten who asked from where.
			s.stop()
			s.start()
			s.guess(func(i int) *visitor { return as(s, i) })
			if name == "from many addresses" {
				owner.from("127.0.2.2") // a telephone is elsewhere every day
			}
			if a := owner.post("/login", "password", servedPassword); a.StatusCode != http.StatusSeeOther {
				t.Errorf("the owner's browser: %d %s", a.StatusCode, a.Header.Get("Retry-After"))
			}
			if a := s.visitor().post("/login", "password", servedPassword); a.StatusCode != http.StatusTooManyRequests {
				t.Errorf("a stranger: %d", a.StatusCode)
			}
			if a := s.visitor().with("Cookie", "pdpp_browser=0123456789abcdef").post("/login", "password",
				servedPassword); a.StatusCode != http.StatusTooManyRequests {
				t.Errorf("a stranger who claims to be known: %d", a.StatusCode)
			}
		})
	}
}

// A known browser has five attempts of its own and then waits like every other client.
func TestKnownBrowserIsSlowedDownToo(t *testing.T) {
	s := serveLocal(t, map[string]string{"PDPP_OWNER_PASSWORD": servedPassword})
	thief := s.visitor()
	thief.post("/login", "password", servedPassword)
	thief.post("/logout")
	var got []int
	for range 6 {
		got = append(got, thief.post("/login", "password", "a wrong password").StatusCode)
	}
	if fmt.Sprint(got) != "[401 401 401 401 401 429]" {
		t.Errorf("%v", got)
	}
}

// Behind a trusted proxy, clients are counted by the address that the proxy reports. Without a trusted proxy the header
// is ignored.
func TestGuessersBehindAProxy(t *testing.T) {
	for name, c := range map[string]struct {
		trusted, header string
		value           string // of the guesser
		other           string // of the one who comes after
		want            int
	}{
		"the proxy's word": {"127.0.0.0/8", "X-Forwarded-For", "203.0.113.5", "198.51.100.7", 303},
		"Forwarded": {"127.0.0.1", "Forwarded", `for=203.0.113.5;proto=https`,
			`for="[2001:db8::7]:4711"`, 303},
		"what the client wrote before it": {"127.0.0.0/8", "X-Forwarded-For", "198.51.100.9, 203.0.113.5",
			"198.51.100.8, 203.0.113.5", 429},
		"a second proxy": {"127.0.0.0/8,10.0.0.0/8", "X-Forwarded-For", "203.0.113.5, 10.1.2.3",
			"203.0.113.5, 10.9.9.9", 429},
		"nobody is trusted":  {"", "X-Forwarded-For", "203.0.113.5", "198.51.100.7", 429},
		"another is trusted": {"10.0.0.0/8", "X-Forwarded-For", "203.0.113.5", "198.51.100.7", 429},
		"nonsense":           {"127.0.0.0/8", "X-Forwarded-For", "pear", "apple", 429},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serveLocal(t, map[string]string{"PDPP_OWNER_PASSWORD": servedPassword, "PDPP_TRUSTED_PROXIES": c.trusted})
			for range 5 {
				s.visitor().with(c.header, c.value).post("/login", "password", "a wrong password")
			}
			if a := s.visitor().with(c.header, c.value).post("/login", "password",
				servedPassword); a.StatusCode != http.StatusTooManyRequests {
				t.Errorf("the guesser: %d", a.StatusCode)
			}
			if a := s.visitor().with(c.header, c.other).post("/login", "password", servedPassword); a.StatusCode != c.want {
				t.Errorf("the other: %d", a.StatusCode)
			}
		})
	}
}
