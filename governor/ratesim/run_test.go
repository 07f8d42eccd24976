package ratesim

import (
	"reflect"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/governor"
)

func start(adjust ...func(*governor.Config)) *governor.Governor {
	return governor.New("acme", append(adjust, func(c *governor.Config) { c.MaxWait = 0 })...)
}

// The oracle is never refused, never outpaces the limit and is never outpaced.
//
//pdpp:tier unraced
func TestOracleIsTheCeiling(t *testing.T) {
	t.Parallel()
	const ceiling = 100 * time.Millisecond
	for _, p := range Catalogue() {
		t.Run(p.Name, func(t *testing.T) {
			refused := 0
			o := Options{Provider: p, Seed: 5, Requests: 600, Workers: 1}
			inner := o.Provider.Limiter
			watched := o
			watched.Provider.Limiter = func(seed uint64) Limiter { return &counted{Limiter: inner(seed), refused: &refused} }
			best := Oracle(watched, ceiling)
			if _, busy := inner(1).(inProgressLimiter); !busy && refused > 0 {
				t.Fatalf("the oracle is refused %d times", refused)
			}
			if best < 599*ceiling {
				t.Fatalf("600 requests in %s", best)
			}
			o.Governor = start(func(c *governor.Config) { c.Ceiling = ceiling })
			r := Run(o)
			if !r.Done || r.Successes != 600 {
				t.Fatalf("not done: %+v", r)
			}
			if _, slows := inner(1).(*TarpitLimiter); r.Elapsed < best && !slows {
				t.Fatalf("faster than the oracle: %s, %s", r.Elapsed, best)
			}
		})
	}
}

// counted counts the refusals of a limiter.
type counted struct {
	Limiter
	refused *int
}

func (c *counted) Admit(now time.Duration) Ruling {
	r := c.Limiter.Admit(now)
	if !r.Pass {
		*c.refused++
	}
	return r
}

// Everything that a run reports adds up.
//
//pdpp:tier unraced
func TestRunsAddUp(t *testing.T) {
	t.Parallel()
	p := Catalogue()[0]
	p.Errors, p.Timeouts, p.Missing, p.Tells = 0.1, 0.02, 0.1, true
	var sent, back, withdrawn, told int
	var last time.Duration
	r := Run(Options{
		Provider: p, Seed: 3, Governor: start(), Requests: 500, Workers: 8, Withdraw: 0.1, Sample: 10 * time.Second,
		Watch: func(e RunEvent) {
			if e.At < last {
				t.Fatalf("time goes back from %s to %s", last, e.At)
			}
			last = e.At
			switch e.Kind {
			case EventSends:
				sent++
			case EventWithdrawn:
				withdrawn++
			case EventAnswered:
				back++
				if e.Sent >= e.At {
					t.Fatalf("answered at %s, sent at %s", e.At, e.Sent)
				}
				if e.Outcome.HasRetryAfter {
					told++
					if e.Outcome.RetryAfter <= 0 || e.Outcome.RetryAfter%time.Second != 0 {
						t.Fatalf("told to wait %s", e.Outcome.RetryAfter)
					}
				}
			}
		},
	})
	if !r.Done || r.Successes+r.Rejections != 500 || r.Rejections == 0 {
		t.Errorf("fetched %d and %d of 500", r.Successes, r.Rejections)
	}
	if r.Sends != sent || sent != back || back != r.Successes+r.Rejections+r.Refusals+r.Failures {
		t.Errorf("%d sent, %d back, %+v", sent, back, r)
	}
	if r.Withdrawn != withdrawn || withdrawn == 0 || r.Failures == 0 || told != r.Refusals {
		t.Errorf("%d withdrawn, %d told, %+v", withdrawn, told, r)
	}
	if want := int(r.Elapsed/(10*time.Second)) + 1; len(r.Samples) != want {
		t.Errorf("%d samples in %s", len(r.Samples), r.Elapsed)
	}
}

// A run that cannot finish ends at its time limit.
func TestRunEndsInTime(t *testing.T) {
	t.Parallel()
	p := Provider{Median: 50 * time.Millisecond, Errors: 1,
		Limiter: func(uint64) Limiter { return &TokenBucket{PerSecond: 10, Burst: 5} }}
	r := Run(Options{Provider: p, Governor: start(), Requests: 5, Until: time.Hour})
	if r.Done || r.Elapsed != time.Hour || r.Failures == 0 || r.Denials == 0 {
		t.Fatalf("ended with %+v", r)
	}
}

//pdpp:tier unraced
func TestSurveyRepeatsAndFinishes(t *testing.T) {
	t.Parallel()
	rows := SurveyCatalogue(300)
	if !reflect.DeepEqual(rows, SurveyCatalogue(300)) {
		t.Error("two surveys differ")
	}
	if len(rows) != len(Catalogue()) {
		t.Errorf("%d rows", len(rows))
	}
	if mean := MeanRow(rows); !mean.Cold.Done || !mean.Warm.Done || !mean.Eight.Done {
		t.Errorf("unfinished: %+v", mean)
	}
	for _, r := range rows {
		for _, s := range []RunScore{r.Cold, r.Warm, r.Eight} {
			if s.Efficiency <= 0 || s.Efficiency > 100 || s.Refusals < 0 {
				t.Errorf("%s: %+v", r.Provider, s)
			}
		}
	}
}
