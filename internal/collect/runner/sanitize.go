package runner

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/ops/redact"
)

// Bounds of a connector's diagnostics and locators (docs/extend/protocol): enough to resume and to diagnose, too
// little to store data.
const (
	maxDiagnosticDepth = 6
	maxDiagnosticList  = 32
	maxObjectMembers   = 40
	maxDiagnosticText  = 300
	maxDiagnosticBytes = 8 << 10
)

// sanitize bounds a connector's JSON and removes secrets: the values of members with a secret's name, and user, query
// and fragment of URLs. A value over the byte bound is replaced by its digest, because a locator may be the only
// difference between two gaps.
func sanitize(r *redact.Redactor, v jsontext.Value) jsontext.Value {
	if v == nil {
		return nil
	}
	tree, err := decodeTree(v)
	if err != nil {
		return nil
	}
	out, err := json.Marshal(cleanValue(r, tree, 0), json.Deterministic(true))
	if err != nil || len(out) > maxDiagnosticBytes {
		return fmt.Appendf(nil, `{"truncated":true,"sha256":"%x"}`, sha256.Sum256(v))
	}
	return out
}

// SanitizeJSON applies the bounds of a connector's diagnostics to JSON from a device.
func SanitizeJSON(v jsontext.Value) jsontext.Value { return sanitize(redact.New(), v) }

// decodeTree parses JSON. Numbers keep their spelling, because an identifier may not fit a float.
func decodeTree(v jsontext.Value) (tree any, err error) {
	err = json.Unmarshal(v, &tree, verbatimNumbers)
	return tree, err
}

var verbatimNumbers = json.WithUnmarshalers(json.UnmarshalFromFunc(func(dec *jsontext.Decoder, into *any) error {
	if dec.PeekKind() != '0' {
		return errors.ErrUnsupported
	}
	v, err := dec.ReadValue()
	*into = v.Clone()
	return err
}))

func cleanValue(r *redact.Redactor, v any, depth int) any {
	if depth >= maxDiagnosticDepth {
		return "[too deep]"
	}
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, min(len(v), maxObjectMembers))
		names := slices.Sorted(maps.Keys(v))
		for _, name := range names[:min(len(names), maxObjectMembers)] {
			if redact.SecretName(name) {
				out[name] = redact.Mark
			} else {
				out[name] = cleanValue(r, v[name], depth+1)
			}
		}
		return out
	case []any:
		out := make([]any, 0, min(len(v), maxDiagnosticList))
		for _, e := range v[:min(len(v), maxDiagnosticList)] {
			out = append(out, cleanValue(r, e, depth+1))
		}
		return out
	case string:
		return cleanText(r, v)
	default:
		return v
	}
}

// cleanText removes only known secrets and the private parts of URLs: a locator must still find its record.
func cleanText(r *redact.Redactor, s string) string {
	if strings.Contains(s, "://") {
		if u, err := url.Parse(s); err == nil {
			u.User, u.RawQuery, u.Fragment = nil, "", ""
			s = u.String()
		}
	}
	s = r.Known(s)
	if len(s) > maxDiagnosticText {
		s = strings.ToValidUTF8(s[:maxDiagnosticText], "")
	}
	return s
}
