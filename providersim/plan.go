package providersim

import (
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"
)

const signInPage = "<!doctype html><html><head><title>Sign in</title></head>" +
	"<body><form method=\"post\" action=\"/session\"><input name=\"email\"></form></body></html>\n"

// requestPlan is what the gate does to one request.
type requestPlan struct {
	kinds  []Kind // applied faults
	delay  time.Duration
	answer *heldAnswer // sent in the provider's place when set
	page   PageFault
	damage []Fault
	drip   *Fault
	reset  bool
	limit  *announcedLimit // announced in the answer; nil when nothing was
	number int             // of the request, in the order of arrival
}

// planRequest counts an arriving request and decides its fate.
func (g *Gate) planRequest(r *http.Request, pattern string) requestPlan {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.opts.Now()
	g.stats.countArrival(pattern)
	g.limits = slices.DeleteFunc(g.limits, func(l *announcedLimit) bool { return !now.Before(l.until) })
	for _, l := range g.limits {
		if l.sent && l.scope.appliesTo(r) {
			l.later++
			g.stats.WhileLimited = max(g.stats.WhileLimited, l.later)
		}
	}

	p := requestPlan{delay: g.opts.Latency, number: g.stats.Requests}
	for _, f := range g.faults {
		if !f.appliesTo(r) || p.answer != nil && f.Kind != Latency {
			continue
		}
		f.seen++
		if f.seen <= f.Skip || f.Count > 0 && f.seen > f.Skip+f.Count {
			continue
		}
		if g.applyFault(&p, f, now) {
			p.kinds = append(p.kinds, f.Kind)
		}
	}
	return p
}

// applyFault adds one fault to the plan and reports whether it has an effect.
func (g *Gate) applyFault(p *requestPlan, f *installedFault, now time.Time) bool {
	switch f.Kind {
	case Throttle:
		status := f.Status
		if status == 0 {
			status = http.StatusTooManyRequests
		}
		p.answer = g.buildRefusal(p, f.Fault, status, "rate_limited", f.Seconds, now)
	case Bucket:
		wait := f.bucket.takeToken(now)
		if wait == 0 {
			return false
		}
		seconds := int(math.Ceil(wait.Seconds()))
		p.answer = g.buildRefusal(p, f.Fault, http.StatusTooManyRequests, "rate_limited", seconds, now)
	case Crowd:
		if g.stats.InFlight <= f.Items {
			return false
		}
		p.answer = g.buildRefusal(p, f.Fault, http.StatusTooManyRequests, "rate_limited", f.Seconds, now)
	case Unavailable:
		p.answer = g.buildRefusal(p, f.Fault, http.StatusServiceUnavailable, "unavailable", f.Seconds, now)
	case ServerError:
		p.answer = newJSONAnswer(http.StatusInternalServerError, g.opts.ErrorBody("internal"))
	case ExpiredToken:
		p.answer = newJSONAnswer(http.StatusUnauthorized, g.opts.ErrorBody("token_expired"))
	case HTML:
		p.answer = newJSONAnswer(http.StatusOK, []byte(signInPage))
		p.answer.header.Set("Content-Type", "text/html; charset=utf-8")
	case EmptyBody:
		p.answer = newJSONAnswer(http.StatusOK, nil)
	case TruncatedJSON, WrongContentType, WrongType, MissingField, Drift:
		p.damage = append(p.damage, f.Fault)
	case SlowDrip:
		p.drip = &f.Fault
	case Reset:
		p.reset = true
	case RepeatCursor:
		p.page.repeat = true
	case SelfCursor:
		p.page.self = true
	case ShortPages:
		p.page.short, p.page.items = true, f.Items
	case EmptyPages:
		p.page.short, p.page.items = true, 0
	case Latency:
		p.delay += time.Duration(f.DelayMS) * time.Millisecond
	}
	return true
}

// buildRefusal builds a refusal and stores the wait that it announces.
func (g *Gate) buildRefusal(p *requestPlan, f Fault, status int, code string, seconds int, now time.Time) *heldAnswer {
	answer := newJSONAnswer(status, g.opts.ErrorBody(code))
	until := now.Add(time.Duration(seconds) * time.Second)
	switch f.RetryAfter {
	case RetrySeconds:
		answer.header.Set("Retry-After", strconv.Itoa(seconds))
	case RetryDate:
		if whole := until.Truncate(time.Second); whole.Before(until) {
			until = whole.Add(time.Second)
		}
		answer.header.Set("Retry-After", until.UTC().Format(http.TimeFormat))
	default:
		return answer
	}
	p.limit = &announcedLimit{scope: f, until: until}
	g.limits = append(g.limits, p.limit)
	return answer
}

// tokenBucket is a token bucket that starts full.
type tokenBucket struct {
	rate, burst, tokens float64
	last                time.Time
}

func newTokenBucket(rate float64, burst int, now time.Time) tokenBucket {
	return tokenBucket{rate: rate, burst: float64(burst), tokens: float64(burst), last: now}
}

// takeToken takes a token and returns zero. Without one it changes nothing and returns the time until the next.
func (b *tokenBucket) takeToken(now time.Time) time.Duration {
	if elapsed := now.Sub(b.last); elapsed > 0 {
		b.tokens = min(b.burst, b.tokens+elapsed.Seconds()*b.rate)
		b.last = now
	}
	// The tolerance absorbs the rounding of a wait that was computed here.
	if b.tokens >= 1-1e-6 {
		b.tokens = max(0, b.tokens-1)
		return 0
	}
	return time.Duration(math.Ceil((1 - b.tokens) / b.rate * float64(time.Second)))
}
