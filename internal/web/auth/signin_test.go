package auth_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/web/auth"
)

func TestGuessingIsSlowedDown(t *testing.T) {
	b := newBed(t)
	owner := b.signedIn() // earlier, from the same address
	guess := func(word string) answer { return b.signIn(browser(), word) }
	for _, want := range []string{"4 tries left", "3 tries left", "2 tries left", "1 try left", "There is a short pause"} {
		if a := guess("a wrong password"); a.StatusCode != http.StatusUnauthorized || !strings.Contains(a.body, want) ||
			cookie(a) != nil {
			t.Fatalf("%d %s", a.StatusCode, a.body)
		}
	}
	for name, word := range map[string]string{"wrong": "a wrong password", "right": password} {
		if a := guess(word); a.StatusCode != http.StatusTooManyRequests || a.Header.Get("Retry-After") != "10" ||
			cookie(a) != nil {
			t.Errorf("%s: %d, %q", name, a.StatusCode, a.Header.Get("Retry-After"))
		}
	}
	if !b.inside(owner) {
		t.Error("the owner's session is locked out")
	}
	b.later(10*time.Second - 1)
	if a := guess(password); a.StatusCode != http.StatusTooManyRequests || a.Header.Get("Retry-After") != "1" {
		t.Errorf("before the end: %d, %q", a.StatusCode, a.Header.Get("Retry-After"))
	}
	b.later(1)
	if a := guess("a wrong password"); a.StatusCode != http.StatusUnauthorized {
		t.Errorf("after the wait: %d", a.StatusCode)
	}
	b.later(15 * time.Second)
	if a := guess(password); a.StatusCode != http.StatusTooManyRequests || a.Header.Get("Retry-After") != "5" {
		t.Errorf("the second wait: %d, %q", a.StatusCode, a.Header.Get("Retry-After"))
	}
	b.later(5 * time.Second)
	if a := guess(password); a.StatusCode != http.StatusSeeOther {
		t.Errorf("the right password: %d %s", a.StatusCode, a.body)
	}
	if a := guess("a wrong password"); !strings.Contains(a.body, "4 tries left") {
		t.Errorf("failures before a success count: %s", a.body)
	}
}

// from signs in from an address.
func (b *bed) from(address, word string) *usererr.Error {
	r := httptest.NewRequest("POST", "/login", nil)
	r.RemoteAddr = address
	var refusal *usererr.Error
	if err := b.auth.SignIn(httptest.NewRecorder(), r, word); err != nil && !errors.As(err, &refusal) {
		b.Fatal(err)
	}
	return refusal
}

// Guessing from many addresses is slowed down too, and keeps the owner's own out no more
// than any.
func TestGuessingFromManyAddresses(t *testing.T) {
	b := newBed(t)
	if refusal := b.from("198.51.100.9:1", password); refusal != nil {
		t.Fatal(refusal)
	}
	for i := range 30 {
		if refusal := b.from("203.0.113."+string(rune('0'+i%10))+string(rune('0'+i/10))+":1",
			"a wrong password"); refusal == nil || refusal.Code != auth.CodeWrongPassword {
			t.Fatalf("try %d: %+v", i, refusal)
		}
	}
	if refusal := b.from("192.0.2.1:1", password); refusal == nil || refusal.Code != auth.CodeTooManyTries ||
		refusal.RetryAfter != 20*time.Second {
		t.Errorf("a stranger: %+v", refusal)
	}
	if refusal := b.from("198.51.100.9:2", password); refusal != nil {
		t.Errorf("the owner's address: %+v", refusal)
	}
	b.later(20 * time.Second)
	if refusal := b.from("192.0.2.1:1", password); refusal != nil {
		t.Errorf("after the wait: %+v", refusal)
	}
}

// The addresses of one IPv6 network are one; those of IPv4 are each their own.
func TestNetworkCountsAsOneAddress(t *testing.T) {
	for name, c := range map[string]struct {
		addresses [6]string
		refused   bool
	}{
		"one network": {[6]string{"[2001:db8::1]:1", "[2001:db8::2]:1", "[2001:db8::3]:1", "[2001:db8::4]:1",
			"[2001:db8::5]:1", "[2001:db8::ffff:6]:1"}, true},
		"different network": {[6]string{"[2001:db8::1]:1", "[2001:db8::2]:1", "[2001:db8::3]:1", "[2001:db8::4]:1",
			"[2001:db8::5]:1", "[2001:db8:0:1::6]:1"}, false},
		"mapped": {[6]string{"192.0.2.1:1", "192.0.2.1:2", "192.0.2.1:3", "192.0.2.1:4", "192.0.2.1:5",
			"[::ffff:192.0.2.1]:6"}, true},
		"neighbours": {[6]string{"192.0.2.1:1", "192.0.2.1:2", "192.0.2.1:3", "192.0.2.1:4", "192.0.2.1:5",
			"192.0.2.2:6"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t)
			for _, address := range c.addresses[:5] {
				b.from(address, "a wrong password")
			}
			if refusal := b.from(c.addresses[5], password); (refusal != nil) != c.refused {
				t.Errorf("%+v", refusal)
			}
		})
	}
}

// Tries that arrive together count each; none slips through before the first is judged.
func TestManyTriesAtOnce(t *testing.T) {
	b := newBed(t)
	var judged, refused atomic.Int32
	var all sync.WaitGroup
	for range 15 {
		all.Go(func() {
			switch refusal := b.from("192.0.2.1:1", "a wrong password"); refusal.Code {
			case auth.CodeWrongPassword:
				judged.Add(1)
			case auth.CodeTooManyTries:
				refused.Add(1)
			}
		})
	}
	all.Wait()
	if judged.Load() != 5 || refused.Load() != 10 {
		t.Errorf("judged %d, refused %d", judged.Load(), refused.Load())
	}
}

// An attempt is not evaluated and not counted if its client has disconnected.
func TestGivenUpTryIsNoTry(t *testing.T) {
	b := newBed(t)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 {
		r := httptest.NewRequestWithContext(gone, "POST", "/login", nil)
		if err := b.auth.SignIn(httptest.NewRecorder(), r, password); !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v", err)
		}
	}
	if refusal := b.from("192.0.2.1:1", password); refusal != nil {
		t.Errorf("%+v", refusal)
	}
}

func TestGuessingAtConfirmationIsSlowedDown(t *testing.T) {
	b := newBed(t)
	c := b.signedIn()
	var last answer
	for range 6 {
		last = b.request("POST", "/confirm").sending("password", "a wrong password").by(c)
	}
	if !strings.Contains(last.body, "Too many wrong passwords") {
		t.Errorf("%s", last.body)
	}
	if !b.inside(c) {
		t.Error("the session is locked out")
	}
}
