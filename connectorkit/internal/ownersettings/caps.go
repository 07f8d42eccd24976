// Package ownersettings reads the owner's variables that limit and tune the runs of a connector.
//
//	caps.go    limits of one run
//	tuning.go  pace, retries and timeouts of requests
package ownersettings

import (
	"strconv"
	"time"
)

// defaultChunk is the minimum number of single gaps if a cap is set and no chunk is.
const defaultChunk = 50

// RunCaps are the owner's limits for one run. Zero means none.
type RunCaps struct {
	Fetches   int           // requests for details
	WallClock time.Duration // of the details, from the first one on (RT-16)
	WholeRun  time.Duration // of the run, from its start, lists included
	TailChunk int
}

// ReadRunCaps reads the owner's variables. A value that is not a positive number sets no cap. A chunk set to
// anything else is off. A chunk that is not set follows from the caps, so that a capped run also gets a bounded
// tail.
func ReadRunCaps(env func(string) string, prefix string) RunCaps {
	positive := func(name string) int {
		n, err := strconv.Atoi(env(prefix + name))
		if err != nil {
			return 0
		}
		return max(0, n)
	}
	const longest = int(365 * 24 * time.Hour / time.Millisecond)
	c := RunCaps{
		Fetches:   positive("_MAX_DETAIL_FETCHES_PER_RUN"),
		WallClock: time.Duration(min(positive("_MAX_RUN_WALL_CLOCK_MS"), longest)) * time.Millisecond,
		WholeRun:  time.Duration(min(positive("_MAX_WHOLE_RUN_WALL_CLOCK_MS"), longest)) * time.Millisecond,
		TailChunk: positive("_MAX_TAIL_DEFERRAL_GAPS_PER_RUN"),
	}
	if env(prefix+"_MAX_TAIL_DEFERRAL_GAPS_PER_RUN") == "" && c.CapsAnything() {
		c.TailChunk = max(c.Fetches, defaultChunk)
	}
	return c
}

// CapsAnything reports whether the owner caps the run.
func (c RunCaps) CapsAnything() bool { return c.Fetches > 0 || c.WallClock > 0 || c.WholeRun > 0 }
