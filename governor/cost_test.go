package governor_test

import (
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/governor"
)

// sharedClock is one clock for many goroutines. A goroutine that waits advances it.
type sharedClock struct{ past atomic.Int64 }

func (c *sharedClock) now() time.Time { return noon.Add(time.Duration(c.past.Load())) }

func (c *sharedClock) waitUntil(t time.Time) {
	to := int64(t.Sub(noon))
	for {
		past := c.past.Load()
		if past >= to || c.past.CompareAndSwap(past, to) {
			return
		}
	}
}

func TestTenThousandGoroutinesShareAGovernor(t *testing.T) {
	const callers = 10_000
	g := governor.New("acme", unbroken, patient)
	var clock sharedClock
	var mu sync.Mutex
	var left []time.Time
	var started, done sync.WaitGroup
	begin := make(chan struct{})
	started.Add(callers)
	for i := range callers {
		done.Go(func() {
			call := g.Call()
			started.Done()
			<-begin
			for {
				now := clock.now()
				wait, err := call.Next(now)
				if err != nil {
					t.Errorf("denied: %v", err)
					return
				}
				if wait > 0 {
					clock.waitUntil(now.Add(wait))
					continue
				}
				mu.Lock()
				left = append(left, now)
				mu.Unlock()
				if i%100 == 0 {
					call.Withdraw()
					return
				}
				call.Observe(clock.now(), governor.Outcome{Kind: governor.Success, Sent: now})
				g.Rate()
				return
			}
		})
	}
	started.Wait()
	close(begin)
	done.Wait()
	if len(left) != callers {
		t.Fatalf("%d of %d requests left", len(left), callers)
	}
	slices.SortFunc(left, time.Time.Compare)
	ceiling := governor.DefaultConfig().Ceiling
	for i := 1; i < len(left); i++ {
		if gap := left[i].Sub(left[i-1]); gap < ceiling {
			t.Fatalf("requests %d and %d leave within %s", i-1, i, gap)
		}
	}
}

// An unused governor needs a few hundred bytes and runs nothing.
func TestIdleGovernorsCostNothing(t *testing.T) {
	const many = 1000
	all := make([]*governor.Governor, many)
	running := runtime.NumGoroutine()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range all {
		all[i] = governor.New("acme")
		call := all[i].Call()
		if wait, err := call.Next(noon); wait == 0 || err != nil {
			t.Fatalf("admitted at once: %v", err)
		}
	}
	runtime.ReadMemStats(&after)
	if now := runtime.NumGoroutine(); now > running {
		t.Errorf("%d goroutines, %d before", now, running)
	}
	if each := (after.TotalAlloc - before.TotalAlloc) / many; each > 2048 {
		t.Errorf("%d bytes each", each)
	}
	runtime.KeepAlive(all)
}

// answers are typical outcomes of a run.
var answers = map[string]governor.Outcome{
	"success":   {Kind: governor.Success},
	"rejected":  {Kind: governor.Rejected},
	"failed":    {Kind: governor.Failed},
	"throttled": {Kind: governor.Throttled},
	"told":      {Kind: governor.Throttled, HasRetryAfter: true, RetryAfter: time.Second},
	"announced": {
		Kind:  governor.Success,
		Quota: governor.Quota{Known: true, Limit: 100, Remaining: 50, Reset: time.Minute},
	},
}

func TestAskingAndLearningAllocateNothing(t *testing.T) {
	for name, o := range answers {
		t.Run(name, func(t *testing.T) {
			c := newClient(t, unbroken, patient, func(c *governor.Config) { c.Retries = governor.RetryBudget{} })
			c.send(governor.Success)
			allocated := testing.AllocsPerRun(20, func() {
				call := c.g.Call()
				c.admit(&call)
				o.Sent = c.now
				call.Observe(c.now, o)
			})
			if allocated != 0 {
				t.Fatalf("%v allocations for one request", allocated)
			}
		})
	}
}

// BenchmarkNext calls Next twice per request: once too early, once in time.
func BenchmarkNext(b *testing.B) {
	g := governor.New("acme", unbroken)
	now := noon
	b.ReportAllocs()
	for b.Loop() {
		call := g.Call()
		wait, err := call.Next(now)
		if err != nil {
			b.Fatal(err)
		}
		now = now.Add(wait)
	}
}

func BenchmarkObserve(b *testing.B) {
	for _, name := range slices.Sorted(maps.Keys(answers)) {
		b.Run(name, func(b *testing.B) {
			c := newClient(b, unbroken, patient)
			call := c.g.Call()
			c.admit(&call)
			o := answers[name]
			b.ReportAllocs()
			for b.Loop() {
				o.Sent = c.now
				c.now = c.now.Add(time.Second)
				call.Observe(c.now, o)
			}
		})
	}
}
