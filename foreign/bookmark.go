package foreign

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// stateForm says how a state goes back to its tap.
type stateForm string

const (
	formWhole  stateForm = "whole"  // of the whole tap: Singer's, and GLOBAL
	formLegacy stateForm = "legacy" // of the whole tap, and handed over bare
	formStream stateForm = "stream" // of one stream
)

// bookmark is the cursor of one stream. A state of the whole tap is written, with its number,
// as the cursor of every selected stream: stream i's cursor n makes what i sent before it
// durable, so that everything before the smallest number is stored, and a run resumes there.
type bookmark struct {
	Number   int64          `json:"n,omitzero"`
	Form     stateForm      `json:"form,omitzero"`
	State    jsontext.Value `json:"state,omitzero"`
	Versions *versions      `json:"versions,omitzero"`
	Brought  bool           `json:"brought,omitzero"` // the stream had a record, in this run or an earlier one
}

func bookmarkOf(v jsontext.Value) bookmark {
	var b bookmark
	if len(v) == 0 || json.Unmarshal(v, &b) != nil {
		return bookmark{}
	}
	return b
}

// oldest is the state of the whole tap with the smallest number. One stream without any means
// that nothing of it is known to be stored: then there is none, and the tap starts anew.
func oldest(marks []bookmark) (bookmark, bool) {
	var out bookmark
	for i, m := range marks {
		if m.Form != formWhole && m.Form != formLegacy {
			return bookmark{}, false
		}
		if i == 0 || m.Number < out.Number {
			out = m
		}
	}
	return out, len(out.State) > 0
}
