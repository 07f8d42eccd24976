package foreign

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// stateForm is how a state is passed back to its tap.
type stateForm string

const (
	formWhole  stateForm = "whole"  // of the whole tap: Singer's, and GLOBAL
	formLegacy stateForm = "legacy" // of the whole tap, without an envelope
	formStream stateForm = "stream" // of one stream
)

// streamBookmark is the cursor of one stream. A state of the whole tap is written, with its number, as the cursor of
// every selected stream. Cursor n of a stream makes everything durable that the stream sent before. So everything
// before the smallest number is stored, and a run resumes there.
type streamBookmark struct {
	Number   int64          `json:"n,omitzero"`
	Form     stateForm      `json:"form,omitzero"`
	State    jsontext.Value `json:"state,omitzero"`
	Versions *tableVersions `json:"versions,omitzero"`
	Brought  bool           `json:"brought,omitzero"` // the stream had a record, in this run or an earlier one
}

func bookmarkOf(v jsontext.Value) streamBookmark {
	var b streamBookmark
	if len(v) == 0 || json.Unmarshal(v, &b) != nil {
		return streamBookmark{}
	}
	return b
}

// oldestState returns the state of the whole tap with the smallest number. If one stream has none, nothing of it is
// known to be stored: oldest returns false, and the tap starts from the beginning.
func oldestState(marks []streamBookmark) (streamBookmark, bool) {
	var out streamBookmark
	for i, m := range marks {
		if m.Form != formWhole && m.Form != formLegacy {
			return streamBookmark{}, false
		}
		if i == 0 || m.Number < out.Number {
			out = m
		}
	}
	return out, len(out.State) > 0
}
