package governhttp

import (
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/governor"
)

// ReadQuota parses the quota of a response. It returns the zero value if there is none. It knows three forms:
// separate headers for limit, remaining and reset (X-RateLimit-* and similar), two windows in one header
// (Strava), and the structured fields RateLimit and RateLimit-Policy.
//
// If there are several windows, it returns the most restrictive one: the fewest requests left, and among equals
// the longest wait. Instants are measured from the response's Date header, or from now if there is none.
func ReadQuota(h http.Header, now time.Time) governor.Quota {
	at := responseTime(h, now)
	quota := readStructuredQuota(h)
	for _, f := range headerFamilies {
		quota = stricterQuota(quota, f.read(h, at))
	}
	return quota
}

// stricterQuota returns the quota that runs out first.
func stricterQuota(a, b governor.Quota) governor.Quota {
	switch {
	case !b.Known:
		return a
	case !a.Known:
		return b
	case b.Remaining != a.Remaining:
		if b.Remaining < a.Remaining {
			return b
		}
		return a
	case b.Reset > a.Reset:
		return b
	}
	return a
}

// headerFamily is one naming scheme of the separate headers.
type headerFamily struct{ limit, remaining, used, usage, reset, resetAfter string }

var headerFamilies = func(prefixes ...string) (all []headerFamily) {
	for _, p := range prefixes {
		name := func(suffix string) string { return http.CanonicalHeaderKey(p + suffix) }
		all = append(all, headerFamily{
			name("-Limit"), name("-Remaining"), name("-Used"), name("-Usage"), name("-Reset"), name("-Reset-After"),
		})
	}
	return all
}("X-RateLimit", "X-Rate-Limit", "RateLimit", "X-ReadRateLimit", "X-Limit-User", "X-Limit-Key")

func (f headerFamily) read(h http.Header, at time.Time) (quota governor.Quota) {
	left := numberList(h, f.remaining)
	spent := numberList(h, f.used)
	if len(spent) == 0 {
		spent = numberList(h, f.usage)
	}
	limits := numberList(h, f.limit)
	for i := range max(len(left), len(spent)) {
		limit, known := numberAt(limits, i)
		remaining, ok := numberAt(left, i)
		if used, counted := numberAt(spent, i); !ok && known && counted {
			remaining, ok = max(0, limit-used), true
		}
		if ok {
			quota = stricterQuota(quota, governor.Quota{
				Known:     true,
				Limit:     wholeRequests(limit),
				Remaining: wholeRequests(remaining),
				Reset:     f.resetTime(h, at, i, len(spent)),
			})
		}
	}
	return quota
}

// resetTime returns when window i is full again. Two windows without a reset are Strava's: a quarter of an hour
// and a day, both aligned to UTC.
func (f headerFamily) resetTime(h http.Header, at time.Time, i, windows int) time.Duration {
	for _, name := range []string{f.resetAfter, f.reset} {
		text := strings.Join(h[name], ",")
		if d, ok := readReset(text, at); ok {
			return d
		}
		if each := strings.Split(text, ","); i < len(each) {
			if d, ok := readReset(each[i], at); ok {
				return d
			}
		}
	}
	if windows == 2 && i < windows && len(h[f.reset]) == 0 {
		window := [...]time.Duration{15 * time.Minute, 24 * time.Hour}[i]
		return at.Truncate(window).Add(window).Sub(at)
	}
	return 0
}

// numberList parses the numbers of a header. It ignores parameters of an item. A malformed item keeps its
// position as NaN.
func numberList(h http.Header, name string) (numbers []float64) {
	for _, text := range h[name] {
		for item := range strings.SplitSeq(text, ",") {
			item, _, _ = strings.Cut(item, ";")
			v, ok := readNumber(strings.TrimSpace(item))
			if !ok {
				v = math.NaN()
			}
			numbers = append(numbers, v)
		}
	}
	return numbers
}

func numberAt(numbers []float64, i int) (float64, bool) {
	if i >= len(numbers) || math.IsNaN(numbers[i]) {
		return 0, false
	}
	return numbers[i], true
}

// wholeRequests rounds down: half a request left is none.
func wholeRequests(v float64) int { return int(min(v, math.MaxInt32)) }
