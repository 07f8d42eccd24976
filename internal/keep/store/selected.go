package store

import (
	"encoding/json"
	"time"
)

// Selection is what the owner chose of a connection: a profile that its connector declares,
// which names the only streams that its runs collect, and what is collected of streams.
// The zero value is everything.
type Selection struct {
	Profile string     `json:"profile,omitempty"`
	Streams []Selected `json:"streams,omitempty"`
	// Deleted names the streams that the owner deleted: none of their records is asked for.
	Deleted []string `json:"-"`
}

// Selected is what the owner chose of a stream: a view of it, whose fields are the only
// ones that its runs collect, and the resources; empty means all of them again. A bookmark
// that is older than the choice belongs to another one.
type Selected struct {
	Stream    string    `json:"stream"`
	View      string    `json:"view,omitempty"`
	Resources []string  `json:"resources,omitempty"`
	Since     time.Time `json:"since"`
}

// SelectionSetting begins the name of the setting that keeps the selection of a connection,
// before its id.
const SelectionSetting = "selection:"

// ParseSelection reads what is kept, also as it was before there were profiles: a list of
// streams.
func ParseSelection(body []byte) (s Selection, err error) {
	if json.Unmarshal(body, &s.Streams) == nil {
		return s, nil
	}
	return s, json.Unmarshal(body, &s)
}

// Views gives the views that are chosen, by stream.
func (s Selection) Views() map[string]string {
	views := map[string]string{}
	for _, c := range s.Streams {
		if c.View != "" {
			views[c.Stream] = c.View
		}
	}
	return views
}
