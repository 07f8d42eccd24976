package connectorkit

import (
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	// maxSeen bounds the keys in a steady bookmark. More items at one instant are considered again in every run.
	maxSeen = 1000
	// settledAge is the age from which items of an instant count as seen. Until then an item may change without a
	// new time, because many providers count in seconds and clocks differ.
	settledAge = 15 * time.Minute
)

// steadyBookmark is the steady-state bookmark: everything up to and including Watermark is accounted for.
type steadyBookmark struct {
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

func steadyOf(v jsontext.Value) steadyBookmark {
	var s steadyBookmark
	if len(v) == 0 || json.Unmarshal(v, &s) != nil {
		return steadyBookmark{}
	}
	return s
}

// detailed returns the time up to which details are accounted for.
func (s steadyBookmark) detailed() time.Time {
	if s.Behind {
		return s.Detailed
	}
	return s.Watermark
}

// timeWindow is a span of content time, inclusive at both ends; zero is open. It is the catch-up bookmark and the
// locator of a backlog gap.
type timeWindow struct {
	Before time.Time `json:"before,omitzero"`
	Floor  time.Time `json:"floor,omitzero"`
}

// readWindow parses a stored window. It returns false if there is none.
func readWindow(v jsontext.Value) (timeWindow, bool) {
	var w timeWindow
	if len(v) == 0 || v.Kind() != '{' || json.Unmarshal(v, &w) != nil || w.Before.IsZero() {
		return timeWindow{}, false
	}
	return w, true
}

// newer and older report whether a content time lies outside of the window.
func (w timeWindow) newer(t time.Time) bool { return !w.Before.IsZero() && t.After(w.Before) }

func (w timeWindow) older(t time.Time) bool { return t.Before(w.Floor) }

func encode(v any) jsontext.Value {
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return jsontext.Value("{}")
	}
	return b
}

// formatInstant formats a content time so that equal times are equal texts.
func formatInstant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}
