package ratesim

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/governor"
)

// sends runs a peer against a window and returns the times at which its requests left.
func sends(t *testing.T, p PeerPacer) (at []time.Duration, r RunResult) {
	t.Helper()
	r = Run(Options{
		Provider: Provider{Median: 50 * time.Millisecond, Spread: 0.1, Limiter: func(uint64) Limiter {
			return &FixedWindow{Limit: 30, Window: 10 * time.Second}
		}},
		Seed: 1, Requests: 300, Until: time.Hour, Peer: p, Ceiling: surveyCeiling,
		Governor: governor.New("peer", func(c *governor.Config) { c.Discovery, c.Attempts, c.Breaker.Off = 0, 1000, true }),
		Watch: func(e RunEvent) {
			if e.Kind == EventSends {
				at = append(at, e.At)
			}
		},
	})
	if !r.Done || len(at) != r.Sends {
		t.Fatalf("%T fetched %d of 300 and sent %d, of which %d were seen", p, r.Successes, r.Sends, len(at))
	}
	return at, r
}

// What the governor is compared with paces as it is known for, and within the ceiling.
//
//pdpp:tier unraced
func TestPeersPaceAsTheySay(t *testing.T) {
	t.Parallel()
	for _, peer := range Peers() {
		at, r := sends(t, peer.New(1))
		for i := 1; i < len(at); i++ {
			if apart := at[i] - at[i-1]; apart < surveyCeiling {
				t.Errorf("%s: two requests within %s", peer.Name, apart)
			}
		}
		if r.Refusals == 0 {
			t.Errorf("%s: not refused by a limit of three a second", peer.Name)
		}
	}
}

func TestAdditivePeerHalves(t *testing.T) {
	t.Parallel()
	a := &additivePeer{rate: 4}
	a.Seen(governor.Outcome{Kind: governor.Success})
	if a.rate != 4.25 {
		t.Errorf("a success makes 4 a second %v", a.rate)
	}
	a.Seen(governor.Outcome{Kind: governor.Throttled})
	if a.rate != 2.125 {
		t.Errorf("a refusal makes 4.25 a second %v", a.rate)
	}
}

// Google's throttling lets everything pass while half is accepted, and hardly anything
// once nothing is.
func TestThrottlingPeerRefusesItself(t *testing.T) {
	t.Parallel()
	passes := func(kinds ...governor.Kind) (n int) {
		p := Peers()[1].New(1)
		for i := range 1000 {
			if p.Wait(0) == 0 {
				n++
				p.Sent(0)
				p.Seen(governor.Outcome{Kind: kinds[i%len(kinds)]})
			}
		}
		return n
	}
	if n := passes(governor.Success, governor.Throttled); n < 900 {
		t.Errorf("of a thousand %d pass while half is accepted", n)
	}
	refused := governor.Throttled
	if n := passes(governor.Success, refused, refused, refused, refused, refused, refused, refused, refused,
		refused); n > 600 {
		t.Errorf("of a thousand %d pass while a tenth is accepted", n)
	}
	if n := passes(governor.Throttled); n > 30 {
		t.Errorf("of a thousand %d pass while none is accepted", n)
	}
}

//pdpp:tier unraced
func TestStanding(t *testing.T) {
	t.Parallel()
	scores := []RunScore{{Efficiency: 96, Refusals: 0}, {Efficiency: 90, Refusals: 0.5}, {Efficiency: 99, Refusals: 8.5}}
	i := -1
	got := scorePacing("x", make([]Provider, 3), 7, func(Options) RunScore { i++; return scores[i] })
	if want := (PacingResult{Name: "x", Efficiency: 95, Refusals: 3, Median: 0.5, Good: 1, Providers: 3}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// ComparePacing counts every provider for every pacing method.
//
//pdpp:tier unraced
func TestCompare(t *testing.T) {
	t.Parallel()
	standings := ComparePacing(100, 0, 1, Peers())
	if len(standings) != len(Peers())+2 {
		t.Fatalf("%d standings", len(standings))
	}
	for _, s := range standings {
		if s.Providers != len(Catalogue()) || s.Efficiency <= 0 || s.Efficiency > 100 || s.Good > s.Providers {
			t.Errorf("%+v", s)
		}
	}
	if warm, backoff := standings[1], standings[2]; warm.Refusals > backoff.Refusals/4 {
		t.Errorf("refused per thousand: the governor %.1f, only backing off %.1f", warm.Refusals, backoff.Refusals)
	}
}
