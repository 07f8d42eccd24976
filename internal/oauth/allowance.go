package oauth

import (
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Everybody may register an app and push a request, and both are kept. An allowance
// bounds what strangers can make this house keep.
const (
	allowed  = 60
	allowFor = time.Hour
)

// allowance counts what was kept for strangers within the hour that runs.
type allowance struct {
	now  func() time.Time
	mu   sync.Mutex
	till time.Time
	used int
}

// take says whether one more may be kept, and otherwise when.
func (a *allowance) take() (ok bool, wait time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	if !now.Before(a.till) {
		a.till, a.used = now.Add(allowFor), 0
	}
	if a.used >= allowed {
		return false, a.till.Sub(now)
	}
	a.used++
	return true, 0
}

// bounded refuses what is beyond the allowance.
func (a *allowance) bounded(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if ok, wait := a.take(); !ok {
			w.Header().Set("Retry-After", strconv.Itoa(int(wait/time.Second)+1))
			refuse(w, http.StatusTooManyRequests, "temporarily_unavailable", "Too many requests of apps have arrived. Try again later.")
			return
		}
		next(w, r)
	}
}
