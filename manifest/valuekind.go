package manifest

import (
	"encoding/json"
	"slices"
	"strings"
)

// ValueKind is how the values of a field are compared.
type ValueKind string

// Kinds of fields.
const (
	ValueText   ValueKind = "text"   // by its bytes
	ValueNumber ValueKind = "number" // by its value
	ValueTime   ValueKind = "time"   // as an instant
	ValueDate   ValueKind = "date"   // as the instant at which the day begins in UTC
)

// ValueKinds returns the kind of every property of the stream's schema. Fields without a clear type are text.
func (s *Stream) ValueKinds() map[string]ValueKind {
	var outline struct {
		Properties map[string]struct {
			Type   json.RawMessage `json:"type"`
			Format json.RawMessage `json:"format"`
		} `json:"properties"`
	}
	kinds := map[string]ValueKind{}
	if json.Unmarshal(s.Schema, &outline) != nil {
		return kinds
	}
	for name, p := range outline.Properties {
		var types []string
		if json.Unmarshal(p.Type, &types) != nil {
			types = []string{strings.Trim(string(p.Type), `"`)}
		}
		types = slices.DeleteFunc(types, func(t string) bool { return t == "null" })
		only := func(t string) bool { return len(types) == 1 && types[0] == t }
		switch {
		case len(types) > 0 && !slices.ContainsFunc(types, func(t string) bool { return t != "integer" && t != "number" }):
			kinds[name] = ValueNumber
		case only("string") && string(p.Format) == `"date-time"`:
			kinds[name] = ValueTime
		case only("string") && string(p.Format) == `"date"`:
			kinds[name] = ValueDate
		default:
			kinds[name] = ValueText
		}
	}
	return kinds
}
