package oauth

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/internal/web/tokenqueue"
)

// Any client may register an app and push a request, and both are stored. Allowances limit how much strangers can
// store. Each address has its own allowance, and the total of all strangers is limited as well. An app that the owner
// has approved before has an allowance that no stranger can use up.
const (
	allowed      = 60  // of one address, or of one approved app
	allowedToAll = 600 // of strangers together, of what is really kept
	allowFor     = time.Hour
	// maxAllowances bounds how many addresses are remembered.
	maxAllowances = 10_000
)

// allowances counts within hours that each begin with the first request.
type allowances struct {
	now func() time.Time
	mu  sync.Mutex
	by  map[string]*hour // by address, and by approved app
	all hour
}

// hour is one allowance.
type hour struct {
	till time.Time
	used int
}

func newAllowances(now func() time.Time) *allowances {
	return &allowances{now: now, by: map[string]*hour{}}
}

// admitRequest reports whether who may make one more request, and otherwise when.
func (a *allowances) admitRequest(who string) (ok bool, wait time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	h := a.by[who]
	if h == nil {
		if len(a.by) >= maxAllowances {
			a.forget(now)
		}
		if len(a.by) >= maxAllowances {
			return false, allowFor
		}
		h = &hour{}
		a.by[who] = h
	}
	return h.take(now, allowed)
}

// admitStorage reports whether something may be stored for a stranger.
func (a *allowances) admitStorage() (ok bool, wait time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.all.take(a.now(), allowedToAll)
}

// giveBack takes back a keep that came to nothing.
func (a *allowances) giveBack() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all.used = max(0, a.all.used-1)
}

func (a *allowances) forget(now time.Time) {
	for who, h := range a.by {
		if !now.Before(h.till) {
			delete(a.by, who)
		}
	}
}

func (h *hour) take(now time.Time, most int) (ok bool, wait time.Duration) {
	if !now.Before(h.till) {
		h.till, h.used = now.Add(allowFor), 0
	}
	if h.used >= most {
		return false, h.till.Sub(now)
	}
	h.used++
	return true, 0
}

// tooMany answers what is beyond an allowance.
func tooMany(w http.ResponseWriter, wait time.Duration) {
	w.Header().Set("Retry-After", strconv.Itoa(int(wait/time.Second)+1))
	writeOAuthError(w, http.StatusTooManyRequests, "temporarily_unavailable",
		"Too many requests of apps have arrived. Try again later.")
}

// admitStranger admits a stranger's request. It returns a function that releases the allowance if nothing was stored.
// If it does not admit the request it answers and returns nil.
func (a *allowances) admitStranger(w http.ResponseWriter, r *http.Request) (giveBack func()) {
	if ok, wait := a.admitRequest("address " + tokenqueue.Address(r)); !ok {
		tooMany(w, wait)
		return nil
	}
	if ok, wait := a.admitStorage(); !ok {
		tooMany(w, wait)
		return nil
	}
	return a.giveBack
}

// approved lets an app ask that the owner has approved before.
func (a *allowances) approved(w http.ResponseWriter, client string) (giveBack func()) {
	if ok, wait := a.admitRequest("app " + client); !ok {
		tooMany(w, wait)
		return nil
	}
	return func() {}
}
