package tokenqueue

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Whatever an address does, it gets five tries in a row, then waits for longer and
// longer, and all strangers together get no more than their share.
func TestThrottleProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		th := NewThrottle()
		now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
		began := now
		type model struct {
			failed int
			last   time.Time
			known  bool
		}
		addresses := map[string]*model{}
		others := 0
		for range rapid.IntRange(1, 200).Draw(t, "tries") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(2*time.Minute)).Draw(t, "later")))
			key := fmt.Sprint(rapid.IntRange(0, 9).Draw(t, "address"))
			m := addresses[key]
			if m == nil {
				m = &model{}
				addresses[key] = m
			}
			_, wait := th.Admit(key, false, now)
			free := m.last.Add(waitAfter(m.failed))
			if wait > 0 {
				if m.known && !now.Before(free) {
					t.Fatalf("an address that signed in before waits %v for strangers", wait)
				}
				continue
			}
			if now.Before(free) {
				t.Fatalf("admitted %v early after %d failures", free.Sub(now), m.failed)
			}
			if !m.known {
				others++
			}
			m.failed++
			m.last = now
			if rapid.IntRange(0, 9).Draw(t, "right") == 0 {
				if !m.known {
					others--
				}
				m.failed, m.known = 0, true
				th.Succeeded(key)
			}
			if most := strangerTries + int(now.Sub(began)/strangerPause); others > most {
				t.Fatalf("strangers had %d tries of %d", others, most)
			}
		}
	})
}

func TestWaitsGrowToTheirBound(t *testing.T) {
	th := NewThrottle()
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	var got []string
	for range 14 {
		_, wait := th.Admit("a", false, now)
		if wait > 0 {
			t.Fatalf("waits %v more", wait)
		}
		_, wait = th.Admit("a", false, now)
		if wait > 0 {
			now = now.Add(wait - 1)
			if _, still := th.Admit("a", false, now); still != 1 {
				t.Fatalf("the wait is not exact: %v", still)
			}
			now = now.Add(1)
			got = append(got, wait.String())
		} else {
			th.Unused("a")
		}
	}
	want := "[10s 20s 40s 1m20s 2m40s 5m20s 10m40s 15m0s 15m0s 15m0s]"
	if fmt.Sprint(got) != want {
		t.Errorf("waits %v", got)
	}
	if _, wait := th.Admit("a", false, now.Add(forgetAfter)); wait > 0 {
		t.Errorf("after a day it waits %v", wait)
	}
	if left, wait := th.Admit("a", false, now.Add(forgetAfter)); left != freeTries-2 || wait > 0 {
		t.Errorf("after a day it has %d tries, waits %v", left, wait)
	}
}

func TestMemoryOfAddressesIsBounded(t *testing.T) {
	th := NewThrottle()
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	for i := range maxAddresses + 100 {
		now = now.Add(strangerPause)
		if _, wait := th.Admit(fmt.Sprint(i), false, now); wait > 0 {
			t.Fatalf("address %d waits %v", i, wait)
		}
	}
	if len(th.addresses) != maxAddresses || th.addresses["99"] != nil || th.addresses["100"] == nil {
		t.Errorf("%d addresses are kept", len(th.addresses))
	}
}
