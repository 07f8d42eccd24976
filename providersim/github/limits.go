package github

import (
	"net/http"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/providersim/rest"
)

// usageLimits counts what the account has used.
type usageLimits struct {
	windows map[string]*primaryWindow // by resource
	minute  time.Time                 // of the secondary limit
	points  int
}

// primaryWindow is one primary allowance.
type primaryWindow struct {
	used  int
	reset time.Time
}

func newUsageLimits() usageLimits {
	return usageLimits{windows: map[string]*primaryWindow{"core": {}, "search": {}}}
}

// Used is how many requests the current primary window has counted for a
// resource: core or search.
func (g *GitHub) Used(resource string) (n int) {
	g.Do(func() { n = g.currentWindow(resource).used })
	return n
}

// currentWindow returns the allowance of a resource, and renews it when its time has come.
func (g *GitHub) currentWindow(resource string) *primaryWindow {
	w, now, length := g.limits.windows[resource], g.providerTime(), time.Hour
	if resource == "search" {
		length = time.Minute
	}
	if !now.Before(w.reset) {
		*w = primaryWindow{reset: now.Add(length).Truncate(time.Second).Add(time.Second)}
	}
	return w
}

func (g *GitHub) primaryAllowance(resource string) int {
	if resource == "search" {
		return g.cfg.Search
	}
	return g.cfg.Primary
}

// spendAllowance counts one request; a zero answer grants it.
func (g *GitHub) spendAllowance(resource string) rest.Answer {
	if refused := g.checkSecondary(); refused.Status != 0 {
		return refused
	}
	w := g.currentWindow(resource)
	if w.used >= g.primaryAllowance(resource) {
		return apiError(g.cfg.LimitStatus, sayPrimary, docsPrimary)
	}
	w.used++
	return rest.Answer{}
}

// checkSecondary judges points and concurrency. Refused requests cost points too.
func (g *GitHub) checkSecondary() rest.Answer {
	now := g.providerTime()
	if now.Sub(g.limits.minute) >= time.Minute {
		g.limits.minute, g.limits.points = now, 0
	}
	g.limits.points++
	if g.limits.points <= g.cfg.Points && int(g.inFlight.Load()) <= g.cfg.Concurrent {
		return rest.Answer{}
	}
	a := apiError(g.cfg.LimitStatus, saySecondary, docsSecondary)
	if !g.cfg.SilentSecondary {
		left := g.limits.minute.Add(time.Minute).Sub(now)
		a.Header.Set("Retry-After", strconv.Itoa(int(left/time.Second)+1))
	}
	return a
}

// writeLimitHeaders puts the state of an allowance on an answer.
func (g *GitHub) writeLimitHeaders(h http.Header, resource string) {
	w, limit := g.currentWindow(resource), g.primaryAllowance(resource)
	for name, value := range map[string]int64{
		"X-RateLimit-Limit": int64(limit), "X-RateLimit-Remaining": int64(max(0, limit-w.used)),
		"X-RateLimit-Used": int64(w.used), "X-RateLimit-Reset": w.reset.Unix(),
	} {
		h.Set(name, strconv.FormatInt(value, 10))
	}
	h.Set("X-RateLimit-Resource", resource)
}

// serveRateLimit is free of charge.
func (g *GitHub) serveRateLimit(*http.Request) rest.Answer {
	resources := jsonObject{}
	for resource := range g.limits.windows {
		w := g.currentWindow(resource)
		limit := g.primaryAllowance(resource)
		resources[resource] = jsonObject{"limit": limit, "used": w.used, "remaining": max(0, limit-w.used),
			"reset": w.reset.Unix()}
	}
	return rest.OK(jsonObject{"resources": resources})
}
