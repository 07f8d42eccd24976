package connectorkit

import (
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	// maxSeen bounds the keys kept in a steady bookmark. With more items at one
	// instant than this, they are considered again in every run.
	maxSeen = 1000
	// settled is how far an instant must lie back before its items count as
	// seen. Until then an item may change once more without its time changing,
	// because many providers count in seconds and clocks differ.
	settled = 15 * time.Minute
)

// steady is the steady-state bookmark: everything up to and including Watermark
// is accounted for.
type steady struct {
	Watermark time.Time `json:"watermark,omitzero"`
	// Seen are the keys at the watermark itself, once that instant is settled. The
	// next run lists the instant again, because more items may have appeared at
	// it, and skips these.
	Seen []string `json:"seen,omitempty"`
	// Behind says that runs without the detail stream in scope moved the
	// watermark on. Details are accounted for up to Detailed only.
	Behind   bool      `json:"detail_behind,omitzero"`
	Detailed time.Time `json:"detail_watermark,omitzero"`
	// Known are the keys of a list that is counted, and Census is when it was last.
	Known  []string  `json:"known,omitempty"`
	Census time.Time `json:"census,omitzero"`
}

func steadyOf(v jsontext.Value) steady {
	var s steady
	if len(v) == 0 || json.Unmarshal(v, &s) != nil {
		return steady{}
	}
	return s
}

// detailed is up to when details are accounted for.
func (s steady) detailed() time.Time {
	if s.Behind {
		return s.Detailed
	}
	return s.Watermark
}

// window is a span of content time, inclusive at both ends; zero is open. It is
// the catch-up bookmark and the locator of a backlog gap.
type window struct {
	Before time.Time `json:"before,omitzero"`
	Floor  time.Time `json:"floor,omitzero"`
}

// windowOf reads a stored window; false when there is none.
func windowOf(v jsontext.Value) (window, bool) {
	var w window
	if len(v) == 0 || v.Kind() != '{' || json.Unmarshal(v, &w) != nil || w.Before.IsZero() {
		return window{}, false
	}
	return w, true
}

// newer and older report whether a content time lies outside of the window.
func (w window) newer(t time.Time) bool { return !w.Before.IsZero() && t.After(w.Before) }

func (w window) older(t time.Time) bool { return t.Before(w.Floor) }

func encode(v any) jsontext.Value {
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return jsontext.Value("{}")
	}
	return b
}

// instant spells a content time so that equal times are equal texts.
func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}
