package main

import (
	"fmt"
	"math"
	"slices"
	"time"

	"golang.org/x/time/rate"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/ratesim"
)

// peers returns the ways to pace that the governor is compared with: those of ratesim, and the usual library.
func peers() []ratesim.NamedPeer {
	return slices.Insert(ratesim.Peers(), 1, guessed(1), guessed(5))
}

// guessed paces with golang.org/x/time/rate, at a rate that its user guessed.
func guessed(perSecond float64) ratesim.NamedPeer {
	return ratesim.NamedPeer{
		Name: fmt.Sprintf("golang.org/x/time/rate at %v/s", perSecond),
		New:  func(uint64) ratesim.PeerPacer { return guess{rate.NewLimiter(rate.Limit(perSecond), 1)} },
	}
}

type guess struct{ *rate.Limiter }

// Wait returns the time until the bucket holds a token, rounded up.
func (g guess) Wait(now time.Duration) time.Duration {
	if missing := 1 - g.TokensAt(ratesim.StartTime.Add(now)); missing > 1e-9 {
		return time.Duration(math.Ceil(missing/float64(g.Limit())*float64(time.Second))) + time.Microsecond
	}
	return 0
}

func (g guess) Sent(now time.Duration) { g.AllowN(ratesim.StartTime.Add(now), 1) }
func (g guess) Seen(governor.Outcome)  {}
