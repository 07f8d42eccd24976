package runstate

import (
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// EncodeBookmark returns v as JSON with sorted members, or an empty object if that is impossible.
func EncodeBookmark(v any) jsontext.Value {
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return jsontext.Value("{}")
	}
	return b
}

// FormatInstant formats a content time so that equal times are equal texts.
func FormatInstant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}
