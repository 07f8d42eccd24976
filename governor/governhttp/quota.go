package governhttp

import (
	"math"
	"net/http"
	"strings"
	"time"

	"pdpp/governor"
)

// ReadQuota reads what an answer says about the allowance; its zero value when
// that is nothing. Providers say it in three forms: separate headers for limit,
// remaining and reset (X-RateLimit-* and its kin), two windows in one header
// (Strava), and the structured fields RateLimit and RateLimit-Policy.
//
// Where an answer tells of several windows the binding one counts: the fewest
// requests left, and among equals the longest wait. Instants are measured from
// the answer's own Date, and from now when there is none.
func ReadQuota(h http.Header, now time.Time) governor.Quota {
	at := answered(h, now)
	quota := readFields(h)
	for _, f := range families {
		quota = binding(quota, f.read(h, at))
	}
	return quota
}

// binding is the allowance that runs out first.
func binding(a, b governor.Quota) governor.Quota {
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

// family is one spelling of the separate headers.
type family struct{ limit, remaining, used, usage, reset, resetAfter string }

var families = func(prefixes ...string) (all []family) {
	for _, p := range prefixes {
		name := func(suffix string) string { return http.CanonicalHeaderKey(p + suffix) }
		all = append(all, family{
			name("-Limit"), name("-Remaining"), name("-Used"), name("-Usage"), name("-Reset"), name("-Reset-After"),
		})
	}
	return all
}("X-RateLimit", "X-Rate-Limit", "RateLimit", "X-ReadRateLimit", "X-Limit-User", "X-Limit-Key")

func (f family) read(h http.Header, at time.Time) (quota governor.Quota) {
	left := list(h, f.remaining)
	spent := list(h, f.used)
	if len(spent) == 0 {
		spent = list(h, f.usage)
	}
	limits := list(h, f.limit)
	for i := range max(len(left), len(spent)) {
		limit, known := nth(limits, i)
		remaining, ok := nth(left, i)
		if used, counted := nth(spent, i); !ok && known && counted {
			remaining, ok = max(0, limit-used), true
		}
		if ok {
			quota = binding(quota, governor.Quota{
				Known: true, Limit: whole(limit), Remaining: whole(remaining), Reset: f.resets(h, at, i, len(spent)),
			})
		}
	}
	return quota
}

// resets reads when window i is full again. Two windows without a word about it
// are Strava's: the quarter of an hour and the day, both by the clock in UTC.
func (f family) resets(h http.Header, at time.Time, i, windows int) time.Duration {
	for _, name := range []string{f.resetAfter, f.reset} {
		text := strings.Join(h[name], ",")
		if d, ok := until(text, at); ok {
			return d
		}
		if each := strings.Split(text, ","); i < len(each) {
			if d, ok := until(each[i], at); ok {
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

// list reads the numbers of a header; an item may carry parameters, which do not
// count. An unreadable item keeps its place.
func list(h http.Header, name string) (numbers []float64) {
	for _, text := range h[name] {
		for item := range strings.SplitSeq(text, ",") {
			item, _, _ = strings.Cut(item, ";")
			v, ok := number(strings.TrimSpace(item))
			if !ok {
				v = math.NaN()
			}
			numbers = append(numbers, v)
		}
	}
	return numbers
}

func nth(numbers []float64, i int) (float64, bool) {
	if i >= len(numbers) || math.IsNaN(numbers[i]) {
		return 0, false
	}
	return numbers[i], true
}

// whole cuts a count: half a request left is none.
func whole(v float64) int { return int(min(v, math.MaxInt32)) }
