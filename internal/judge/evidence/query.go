package evidence

import "time"

// Query selects connections: those in ConnectionIDs, or else a page of all that are not revoked, ordered by id.
type Query struct {
	ConnectionIDs []string
	After         string // the last id of the previous page
	Limit         int    // 0 means 100
}

// Runtime describes the parts that serve every connection. A part that never reported is not expected to report.
type Runtime struct {
	Components []Component `json:"components"`
}

// Component is one part of the runtime and its newest report.
type Component struct {
	Name   string      `json:"name"` // scheduler, browser, collector
	Status ProbeStatus `json:"status"`
	Reason string      `json:"reason,omitempty"`
	At     time.Time   `json:"at"`
	// EverySeconds is the reporting interval; nil for a part that reports only changes.
	EverySeconds *int64 `json:"every_seconds"`
}
