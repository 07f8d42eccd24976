package evidence

import "time"

// Query asks for the evidence of some connections: the named ones, or a page of
// all that are not revoked, in the order of their ids.
type Query struct {
	ConnectionIDs []string
	After         string // the last id of the page before
	Limit         int    // 0 means 100
}

// Runtime is what is known of the parts that serve every connection. A part
// that never reported is not expected to.
type Runtime struct {
	Components []Component `json:"components"`
}

// Component is one part of the runtime and its newest report.
type Component struct {
	Name   string      `json:"name"` // scheduler, browser, collector
	Status ProbeStatus `json:"status"`
	Reason string      `json:"reason,omitempty"`
	At     time.Time   `json:"at"`
	// Every is how often the part reports; nil for one that reports changes only.
	EverySeconds *int64 `json:"every_seconds"`
}
