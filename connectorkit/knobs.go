package connectorkit

import (
	"log/slog"
	"math"
	"strconv"
	"strings"
	"time"

	"pdpp/governor"
)

// defaultDensityStop is how many detail fetches may fail in a row before their
// lane stops.
const defaultDensityStop = 8

// mostLanes bounds the requests in flight, whatever the owner says.
const mostLanes = 64

// knobs are what the owner says about the approach to the providers of a
// connector. They win over what its author says.
type knobs struct {
	adjust      []func(*governor.Config)
	timeout     time.Duration // of one attempt; zero leaves it to the author
	densityStop int
}

// knobReader reads the variables behind one connector's prefix. A value that
// makes no sense is left out and named in the log.
type knobReader struct {
	env    func(string) string
	prefix string
	log    *slog.Logger
}

func readKnobs(env func(string) string, prefix string, c caps, log *slog.Logger) knobs {
	r := knobReader{env, prefix, log}
	k := knobs{densityStop: defaultDensityStop}
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
	// Only where the author says that several may be in flight does the owner say how many.
	// A capped run has one, so that it exceeds its cap by one fetch at most (RT-16.3).
	most, bounded := r.number("_DETAIL_MAX_CONCURRENCY_PROBE", 1)
	if c.any() {
		most, bounded = 1, true
	}
	if bounded {
		set(func(c *governor.Config) {
			if c.Lanes > 0 {
				c.Lanes = min(int(most), mostLanes)
			}
		})
	}
	// An owner who bounds the requests of a run bounds its retries with them.
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

// number reads a number from least on, up to what any of them could mean.
func (r knobReader) number(name string, least float64) (float64, bool) {
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

func (r knobReader) interval(name string, least float64) (time.Duration, bool) {
	n, ok := r.number(name, least)
	return time.Duration(n * float64(time.Millisecond)), ok
}

func (r knobReader) flag(name string) (on, ok bool) {
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

func (r knobReader) ignored(name string) bool {
	r.log.Warn("variable is ignored: its value makes no sense", "name", r.prefix+name)
	return false
}
