package github

import (
	"net/http"
	"strconv"
	"time"
)

// limits counts what the account has used.
type limits struct {
	windows map[string]*window // by resource
	minute  time.Time          // of the secondary limit
	points  int
}

// window is one primary allowance.
type window struct {
	used  int
	reset time.Time
}

func newLimits() limits {
	return limits{windows: map[string]*window{"core": {}, "search": {}}}
}

// Used is how many requests the current primary window has counted for a
// resource: core or search.
func (g *GitHub) Used(resource string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.window(resource).used
}

// window gives the allowance of a resource, renewed when it was time.
func (g *GitHub) window(resource string) *window {
	w, now, length := g.limits.windows[resource], g.now(), time.Hour
	if resource == "search" {
		length = time.Minute
	}
	if !now.Before(w.reset) {
		*w = window{reset: now.Add(length).Truncate(time.Second).Add(time.Second)}
	}
	return w
}

func (g *GitHub) allowance(resource string) int {
	if resource == "search" {
		return g.cfg.Search
	}
	return g.cfg.Primary
}

// spend takes one request from the allowances; a zero answer grants it.
func (g *GitHub) spend(resource string) answer {
	if refused := g.secondary(); refused.status != 0 {
		return refused
	}
	w := g.window(resource)
	if w.used >= g.allowance(resource) {
		return refuse(g.cfg.LimitStatus, sayPrimary, docsPrimary)
	}
	w.used++
	return answer{}
}

// secondary judges points and concurrency. Refused requests cost points too.
func (g *GitHub) secondary() answer {
	now := g.now()
	if now.Sub(g.limits.minute) >= time.Minute {
		g.limits.minute, g.limits.points = now, 0
	}
	g.limits.points++
	if g.limits.points <= g.cfg.Points && int(g.inFlight.Load()) <= g.cfg.Concurrent {
		return answer{}
	}
	a := refuse(g.cfg.LimitStatus, saySecondary, docsSecondary)
	if !g.cfg.SilentSecondary {
		left := g.limits.minute.Add(time.Minute).Sub(now)
		a = a.with("Retry-After", strconv.Itoa(int(left/time.Second)+1))
	}
	return a
}

// announce puts the state of an allowance on an answer.
func (g *GitHub) announce(h http.Header, resource string) {
	w, limit := g.window(resource), g.allowance(resource)
	for name, value := range map[string]int64{
		"X-RateLimit-Limit": int64(limit), "X-RateLimit-Remaining": int64(max(0, limit-w.used)),
		"X-RateLimit-Used": int64(w.used), "X-RateLimit-Reset": w.reset.Unix(),
	} {
		h.Set(name, strconv.FormatInt(value, 10))
	}
	h.Set("X-RateLimit-Resource", resource)
}

// serveRateLimit is free of charge.
func (g *GitHub) serveRateLimit(*http.Request) answer {
	resources := object{}
	for resource := range g.limits.windows {
		w := g.window(resource)
		limit := g.allowance(resource)
		resources[resource] = object{"limit": limit, "used": w.used, "remaining": max(0, limit-w.used), "reset": w.reset.Unix()}
	}
	return ok(object{"resources": resources})
}
