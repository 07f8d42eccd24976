package store

import "time"

// Selected is what the owner chose of a stream: the keys of the only records that its
// runs collect, or nil for all of them again. A bookmark that is older than the choice
// belongs to another one.
type Selected struct {
	Stream    string    `json:"stream"`
	Resources []string  `json:"resources,omitempty"`
	Since     time.Time `json:"since"`
}
