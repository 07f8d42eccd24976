package ownersettings

import (
	"log/slog"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/governor"
)

// DefaultDensityStop is how many detail fetches may fail in a row before their lane stops.
const DefaultDensityStop = 8

// MaxLanes bounds the requests in flight, whatever the owner sets.
const MaxLanes = 64

// OwnerTuning contains the owner's settings for requests to providers. They take precedence over the author's.
type OwnerTuning struct {
	Adjustments    []func(*governor.Config)
	AttemptTimeout time.Duration // of one attempt; zero means the author's
	DensityStop    int
}

// tuningReader reads the variables with the connector's prefix. It ignores invalid values and logs them.
type tuningReader struct {
	env    func(string) string
	prefix string
	log    *slog.Logger
}

// ReadOwnerTuning reads the variables with the prefix. It ignores invalid values and logs them.
func ReadOwnerTuning(env func(string) string, prefix string, c RunCaps, log *slog.Logger) OwnerTuning {
	r := tuningReader{env, prefix, log}
	k := OwnerTuning{DensityStop: DefaultDensityStop}
	set := func(f func(*governor.Config)) { k.Adjustments = append(k.Adjustments, f) }
	if d, ok := r.readInterval("_PACING_INITIAL_INTERVAL_MS", 0); ok {
		set(func(c *governor.Config) { c.Discovery = d })
	}
	if d, ok := r.readInterval("_PACING_MIN_INTERVAL_MS", 0.001); ok {
		set(func(c *governor.Config) { c.Ceiling = d })
	}
	if d, ok := r.readInterval("_PACING_MAX_INTERVAL_MS", 0.001); ok {
		set(func(c *governor.Config) { c.Longest = d })
	}
	if d, ok := r.readInterval("_PACING_BURST_TOLERANCE_MS", 1); ok {
		set(func(c *governor.Config) { c.Burst = d })
	}
	// The owner sets the number of lanes only if the author allows several. A capped run has one lane, so that it
	// exceeds its cap by at most one fetch (RT-16.3).
	most, bounded := r.readNumber("_DETAIL_MAX_CONCURRENCY_PROBE", 1)
	if c.CapsAnything() {
		most, bounded = 1, true
	}
	if bounded {
		set(func(c *governor.Config) {
			if c.Lanes > 0 {
				c.Lanes = min(int(most), MaxLanes)
			}
		})
	}
	// A limit on the requests of a run also limits its retries.
	if c.Fetches > 0 {
		set(func(g *governor.Config) { g.Retries = governor.RetryBudgetFor(c.Fetches) })
	}
	if n, ok := r.readNumber("_RETRY_BUDGET_CAPACITY", 1); ok {
		set(func(c *governor.Config) { c.Retries.Capacity = n })
	}
	if n, ok := r.readNumber("_RETRY_BUDGET_INITIAL_TOKENS", 0); ok {
		set(func(c *governor.Config) { c.Retries.Initial = n })
	}
	if on, ok := r.readFlag("_CIRCUIT_BREAKER"); ok {
		set(func(c *governor.Config) { c.Breaker.Off = !on })
	}
	if n, ok := r.readNumber("_DETAIL_RATE_LIMIT_STOP_AFTER", 1); ok {
		k.DensityStop = int(n)
	}
	if d, ok := r.readInterval("_BACKEND_FETCH_TIMEOUT_MS", 1); ok {
		k.AttemptTimeout = d
	}
	return k
}

// readNumber parses a number between least and a general maximum.
func (r tuningReader) readNumber(name string, least float64) (float64, bool) {
	const most = 1e9
	text := r.env(r.prefix + name)
	if text == "" {
		return 0, false
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsNaN(n) || n < least || n > most {
		return 0, r.warnIgnored(name)
	}
	return n, true
}

func (r tuningReader) readInterval(name string, least float64) (time.Duration, bool) {
	n, ok := r.readNumber(name, least)
	return time.Duration(n * float64(time.Millisecond)), ok
}

func (r tuningReader) readFlag(name string) (on, ok bool) {
	switch strings.ToLower(strings.TrimSpace(r.env(r.prefix + name))) {
	case "0", "false", "off":
		return false, true
	case "1", "true", "on":
		return true, true
	}
	if r.env(r.prefix+name) == "" {
		return false, false
	}
	return false, r.warnIgnored(name)
}

func (r tuningReader) warnIgnored(name string) bool {
	r.log.Warn("variable is ignored: its value makes no sense", "name", r.prefix+name)
	return false
}
