package tokenqueue

import (
	"sync"
	"time"
)

const (
	freeTries = 5
	firstWait = 10 * time.Second
	longWait  = 15 * time.Minute
	// forgetAfter is how long failures of an address count.
	forgetAfter = 24 * time.Hour
	// maxAddresses bounds the memory. Strangers cannot fill it within a day: the
	// bound on all of them together lets new addresses in more slowly.
	maxAddresses = 4096

	// All strangers together have this many tries at once, and one more each strangerPause.
	strangerTries = 30
	strangerPause = 20 * time.Second
)

// Throttle slows guessing down, per address and for all addresses together. A try
// counts from the moment that it is admitted, so that many at once are no way around.
type Throttle struct {
	mu        sync.Mutex
	addresses map[string]*tries
	// full is when the tries of all strangers are used up no more. Unshared leaves it out of account.
	full     time.Time
	unshared bool
}

type tries struct {
	failed int
	last   time.Time
	until  time.Time // no try is admitted before
	// known is for addresses and browsers that have signed in before. The bound on all
	// strangers does not concern them, so that strangers cannot keep the owner out.
	known bool
}

// NewThrottle returns a throttle without known addresses.
func NewThrottle() *Throttle { return &Throttle{addresses: map[string]*tries{}} }

// NewAddressThrottle makes one that counts each address separately, for secrets that cannot be guessed: no
// address keeps another one out.
func NewAddressThrottle() *Throttle { return &Throttle{addresses: map[string]*tries{}, unshared: true} }

// Admit counts a try of an address, or of a browser that is known to have signed in.
// A wait above zero refuses it; left is how many more are free.
func (t *Throttle) Admit(key string, known bool, now time.Time) (left int, wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.addresses[key]
	if a == nil {
		a = &tries{known: known}
	}
	if now.Sub(a.last) >= forgetAfter {
		a.failed = 0
	}
	if now.Before(a.until) {
		return 0, a.until.Sub(now)
	}
	if !a.known && !t.unshared {
		if wait := t.admitStranger(now); wait > 0 {
			return 0, wait
		}
	}
	t.rememberAddress(key, a)
	a.failed++
	a.last = now
	a.until = now.Add(waitAfter(a.failed))
	return max(0, freeTries-a.failed), 0
}

// admitStranger takes one of the tries of all strangers.
func (t *Throttle) admitStranger(now time.Time) (wait time.Duration) {
	if t.full.Before(now) {
		t.full = now
	}
	if wait := t.full.Add(strangerPause).Sub(now) - strangerTries*strangerPause; wait > 0 {
		return wait
	}
	t.full = t.full.Add(strangerPause)
	return 0
}

// rememberAddress remembers an address, and forgets the one that was silent for longest.
func (t *Throttle) rememberAddress(key string, a *tries) {
	if t.addresses[key] == nil && len(t.addresses) >= maxAddresses {
		var oldest string
		for k, other := range t.addresses {
			if oldest == "" || other.last.Before(t.addresses[oldest].last) {
				oldest = k
			}
		}
		delete(t.addresses, oldest)
	}
	t.addresses[key] = a
}

// waitAfter is the pause that so many failures in a row earn.
func waitAfter(failed int) time.Duration {
	if failed < freeTries {
		return 0
	}
	return min(longWait, firstWait<<min(failed-freeTries, 10))
}

// Succeeded forgets the failures of an address.
func (t *Throttle) Succeeded(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.releaseTry(key)
	if a := t.addresses[key]; a != nil {
		a.failed, a.until, a.known = 0, time.Time{}, true
	}
}

// Unused takes back a try that could not be judged.
func (t *Throttle) Unused(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.releaseTry(key)
	if a := t.addresses[key]; a != nil && a.failed > 0 {
		a.failed--
		a.until = a.last.Add(waitAfter(a.failed))
	}
}

func (t *Throttle) releaseTry(key string) {
	if a := t.addresses[key]; a != nil && !a.known && !t.unshared {
		t.full = t.full.Add(-strangerPause)
	}
}
