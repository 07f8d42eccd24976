package connectorkit

import (
	"log/slog"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/governor"
)

// defaultDensityStop is how many detail fetches may fail in a row before their lane stops.
const defaultDensityStop = 8

// maxLanes bounds the requests in flight, whatever the owner sets.
const maxLanes = 64

// ownerTuning contains the owner's settings for requests to providers. They take precedence over the author's.
type ownerTuning struct {
	adjust      []func(*governor.Config)
	timeout     time.Duration // of one attempt; zero means the author's
	densityStop int
}

// tuningReader reads the variables with the connector's prefix. It ignores invalid values and logs them.
type tuningReader struct {
	env    func(string) string
	prefix string
	log    *slog.Logger
}

func readKnobs(env func(string) string, prefix string, c ownerCaps, log *slog.Logger) ownerTuning {
	r := tuningReader{env, prefix, log}
	k := ownerTuning{densityStop: defaultDensityStop}
	set := func(f func(*governor.Config)) { k.adjust = append(k.adjust, f) }
	if d, ok := r.interval("_PACING_INITIAL_INTERVAL_MS", 0); ok {
		set(func(c *governor.Config) { c.Discovery = d })
	}
	if d, ok := r.interval("_PACING_MIN_INTERVAL_MS", 0.001); ok {
		set(func(c *governor.Config) { c.Ceiling = d })
	}
	if d, ok := r.interval("_PACING_MAX_INTERVAL_MS", 0.001); ok {
		set(func(c *governor.Config) { c.Longest = d })
	}
	if d, ok := r.interval("_PACING_BURST_TOLERANCE_MS", 1); ok {
		set(func(c *governor.Config) { c.Burst = d })
	}
	// The owner sets the number of lanes only if the author allows several. A capped run has one lane, so that it
	// exceeds its cap by at most one fetch (RT-16.3).
	most, bounded := r.number("_DETAIL_MAX_CONCURRENCY_PROBE", 1)
	if c.any() {
		most, bounded = 1, true
	}
	if bounded {
		set(func(c *governor.Config) {
			if c.Lanes > 0 {
				c.Lanes = min(int(most), maxLanes)
			}
		})
	}
	// A limit on the requests of a run also limits its retries.
	if c.fetches > 0 {
		set(func(g *governor.Config) { g.Retries = governor.RetryBudgetFor(c.fetches) })
	}
	if n, ok := r.number("_RETRY_BUDGET_CAPACITY", 1); ok {
		set(func(c *governor.Config) { c.Retries.Capacity = n })
	}
	if n, ok := r.number("_RETRY_BUDGET_INITIAL_TOKENS", 0); ok {
		set(func(c *governor.Config) { c.Retries.Initial = n })
	}
	if on, ok := r.flag("_CIRCUIT_BREAKER"); ok {
		set(func(c *governor.Config) { c.Breaker.Off = !on })
	}
	if n, ok := r.number("_DETAIL_RATE_LIMIT_STOP_AFTER", 1); ok {
		k.densityStop = int(n)
	}
	if d, ok := r.interval("_BACKEND_FETCH_TIMEOUT_MS", 1); ok {
		k.timeout = d
	}
	return k
}

// number parses a number between least and a general maximum.
func (r tuningReader) number(name string, least float64) (float64, bool) {
	const most = 1e9
	text := r.env(r.prefix + name)
	if text == "" {
		return 0, false
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsNaN(n) || n < least || n > most {
		return 0, r.ignored(name)
	}
	return n, true
}

func (r tuningReader) interval(name string, least float64) (time.Duration, bool) {
	n, ok := r.number(name, least)
	return time.Duration(n * float64(time.Millisecond)), ok
}

func (r tuningReader) flag(name string) (on, ok bool) {
	switch strings.ToLower(strings.TrimSpace(r.env(r.prefix + name))) {
	case "0", "false", "off":
		return false, true
	case "1", "true", "on":
		return true, true
	}
	if r.env(r.prefix+name) == "" {
		return false, false
	}
	return false, r.ignored(name)
}

func (r tuningReader) ignored(name string) bool {
	r.log.Warn("variable is ignored: its value makes no sense", "name", r.prefix+name)
	return false
}
