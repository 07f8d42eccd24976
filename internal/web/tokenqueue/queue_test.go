package tokenqueue

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

func from(t *testing.T, address string) *http.Request {
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	r.RemoteAddr = address
	return r
}

// One stranger at a time is looked up. A caller that was valid before does not wait, and one that becomes invalid
// waits again.
func TestOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewQueue()
		good := true
		known := func() error {
			return l.LookUp(from(t, "192.0.2.1:1"), "known", func(context.Context) (bool, error) { return good, nil })
		}
		if err := known(); err != nil {
			t.Fatal(err)
		}
		var inside, most atomic.Int32
		open := make(chan struct{})
		for i := range 20 {
			go l.LookUp(from(t, fmt.Sprintf("198.51.100.%d:1", i)), fmt.Sprint("unknown ", i),
				func(context.Context) (bool, error) {
					most.Store(max(most.Load(), inside.Add(1)))
					defer inside.Add(-1)
					<-open
					return false, nil
				})
		}
		synctest.Wait()
		good = false
		if err := known(); err != nil { // for the last time
			t.Fatal(err)
		}
		waited := make(chan error)
		go func() { waited <- known() }()
		synctest.Wait()
		select {
		case <-waited:
			t.Error("a secret that is good no more does not wait")
		default:
		}
		close(open)
		if err := <-waited; err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if most.Load() != 1 {
			t.Errorf("%d strangers were looked up at once", most.Load())
		}
	})
}

// One address fills only its own places, and a caller that stops waiting frees one.
func TestPlacesOfOneAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewQueue()
		open := make(chan struct{})
		look := func(address string, ctx context.Context) error {
			return l.InTurn(from(t, address).WithContext(ctx), func(context.Context) error { <-open; return nil })
		}
		patience, leave := context.WithCancel(t.Context())
		left := make(chan error, 1)
		for i := range maxWaiting - 1 {
			go look(fmt.Sprintf("[2001:db8::%x]:1", i), t.Context())
		}
		synctest.Wait()
		go func() { left <- look("[2001:db8::ffff]:1", patience) }()
		synctest.Wait()
		if err := look("[2001:db8::fffe]:1", t.Context()); !errors.Is(err, ErrQueueFull) {
			t.Errorf("one more: %v", err)
		}
		leave()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("who left: %v", err)
		}
		for _, address := range []string{"[2001:db8::fffe]:1", "[2001:db8:0:1::1]:1", "192.0.2.1:1"} {
			answered := make(chan error, 1)
			go func() { answered <- look(address, t.Context()) }()
			synctest.Wait()
			select {
			case err := <-answered:
				t.Errorf("%s finds no place: %v", address, err)
			default:
			}
		}
		close(open)
		synctest.Wait()
		if len(l.waiting) != 0 {
			t.Errorf("places are held by nobody: %v", l.waiting)
		}
	})
}

func TestWhatIsRememberedIsBounded(t *testing.T) {
	l := NewQueue()
	for i := range maxKnown + 10 {
		err := l.LookUp(from(t, "192.0.2.1:1"), fmt.Sprint(i), func(context.Context) (bool, error) { return true, nil })
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(l.known) != maxKnown {
		t.Errorf("%d are remembered", len(l.known))
	}
}

func TestAddress(t *testing.T) {
	for at, want := range map[string]string{
		"192.0.2.7:1": "192.0.2.7", "[::ffff:192.0.2.7]:1": "192.0.2.7", "[2001:db8:1:2:3::4]:1": "2001:db8:1:2::/64",
		"[::1]:1":          "::1",
		"[fe80::1%eth0]:1": "fe80::/64", "nowhere": "somewhere",
	} {
		if got := Address(from(t, at)); got != want {
			t.Errorf("%s: %s", at, got)
		}
	}
}
