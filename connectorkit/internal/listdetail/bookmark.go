package listdetail

import (
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	// MaxSeenKeys bounds the keys in a steady bookmark. More items at one instant are considered again in every run.
	MaxSeenKeys = 1000
	// SettledAge is the age from which items of an instant count as seen. Until then an item may change without a
	// new time, because many providers count in seconds and clocks differ.
	SettledAge = 15 * time.Minute
)

// SteadyBookmark is the steady-state bookmark: everything up to and including Watermark is accounted for.
type SteadyBookmark struct {
	Watermark time.Time `json:"watermark,omitzero"`
	// Seen are the keys at the watermark itself, once that instant is settled. The next run lists the instant
	// again, because more items may have appeared, and skips these.
	Seen []string `json:"seen,omitempty"`
	// Behind means that runs without the detail stream moved the watermark. Details are accounted for only up to
	// Detailed.
	Behind   bool      `json:"detail_behind,omitzero"`
	Detailed time.Time `json:"detail_watermark,omitzero"`
	// Known are the keys of a list with full scans. Census is the time of the last one.
	Known  []string  `json:"known,omitempty"`
	Census time.Time `json:"census,omitzero"`
}

// ReadSteadyBookmark parses a stored bookmark. An unknown format counts as empty.
func ReadSteadyBookmark(v jsontext.Value) SteadyBookmark {
	var s SteadyBookmark
	if len(v) == 0 || json.Unmarshal(v, &s) != nil {
		return SteadyBookmark{}
	}
	return s
}

// DetailedUntil returns the time up to which details are accounted for.
func (s SteadyBookmark) DetailedUntil() time.Time {
	if s.Behind {
		return s.Detailed
	}
	return s.Watermark
}

// TimeWindow is a span of content time, inclusive at both ends; zero is open. It is the catch-up bookmark and the
// locator of a backlog gap.
type TimeWindow struct {
	Before time.Time `json:"before,omitzero"`
	Floor  time.Time `json:"floor,omitzero"`
	// After is the key of the last part before the rest of a list without times.
	After string `json:"after,omitzero"`
}

// ReadWindow parses a stored window. It returns false if there is none.
func ReadWindow(v jsontext.Value) (TimeWindow, bool) {
	var w TimeWindow
	if len(v) == 0 || v.Kind() != '{' || json.Unmarshal(v, &w) != nil || w.Before.IsZero() {
		return TimeWindow{}, false
	}
	return w, true
}

// IsNewerThan and IsOlderThan report whether a content time lies outside of the window.
func (w TimeWindow) IsNewerThan(t time.Time) bool { return !w.Before.IsZero() && t.After(w.Before) }

func (w TimeWindow) IsOlderThan(t time.Time) bool { return t.Before(w.Floor) }
