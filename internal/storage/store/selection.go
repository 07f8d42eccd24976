package store

import (
	"encoding/json"
	"time"
)

// Selection is what the owner chose to collect from a connection: a profile of its connector, which limits the
// streams, and choices per stream. The zero value is everything.
type Selection struct {
	Profile string            `json:"profile,omitempty"`
	Streams []StreamSelection `json:"streams,omitempty"`
	// Deleted lists the streams that the owner deleted; runs do not collect them.
	Deleted []string `json:"-"`
}

// StreamSelection is what the owner chose to collect from a stream: a view, which limits the fields, and resources;
// empty means all. A cursor from before Since belongs to an earlier choice.
type StreamSelection struct {
	Stream    string    `json:"stream"`
	View      string    `json:"view,omitempty"`
	Resources []string  `json:"resources,omitempty"`
	Since     time.Time `json:"since"`
}

// SelectionSetting is the prefix of the setting that stores a connection's selection; the connection's id follows.
const SelectionSetting = "selection:"

// ParseSelection parses a stored selection, including the older format: a list of streams.
func ParseSelection(body []byte) (s Selection, err error) {
	if json.Unmarshal(body, &s.Streams) == nil {
		return s, nil
	}
	return s, json.Unmarshal(body, &s)
}

// Views returns the chosen views by stream.
func (s Selection) Views() map[string]string {
	views := map[string]string{}
	for _, c := range s.Streams {
		if c.View != "" {
			views[c.Stream] = c.View
		}
	}
	return views
}
