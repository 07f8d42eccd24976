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

// Bounds of what a connector may leave behind in diagnostics and locators
// (docs/protocol.md): enough to resume and to understand, too little to hoard.
const (
	maxDiagnosticDepth = 6
	maxDiagnosticList  = 32
	maxObjectMembers   = 40
	maxText            = 300
	maxDiagnosticBytes = 8 << 10
)

// sanitize bounds a connector's JSON and takes secrets out of it: members with
// a secret's name lose their value, and URLs lose user, query and fragment.
// What does not fit the byte bound is replaced as a whole; its digest keeps two
// of them apart, because a locator may be all that tells one gap from another.
func sanitize(r *redact.Redactor, v jsontext.Value) jsontext.Value {
	if v == nil {
		return nil
	}
	tree, err := decodeTree(v)
	if err != nil {
		return nil
	}
	out, err := json.Marshal(clean(r, tree, 0), json.Deterministic(true))
	if err != nil || len(out) > maxDiagnosticBytes {
		return fmt.Appendf(nil, `{"truncated":true,"sha256":"%x"}`, sha256.Sum256(v))
	}
	return out
}

// Clean bounds what a device leaves behind beside its records, as it is bounded of a
// connector of this machine.
func Clean(v jsontext.Value) jsontext.Value { return sanitize(redact.New(), v) }

// decodeTree reads JSON. Numbers keep their spelling: an identifier in a
// locator need not fit a float.
func decodeTree(v jsontext.Value) (tree any, err error) {
	err = json.Unmarshal(v, &tree, spelledNumbers)
	return tree, err
}

var spelledNumbers = json.WithUnmarshalers(json.UnmarshalFromFunc(func(dec *jsontext.Decoder, into *any) error {
	if dec.PeekKind() != '0' {
		return errors.ErrUnsupported
	}
	v, err := dec.ReadValue()
	*into = v.Clone()
	return err
}))

func clean(r *redact.Redactor, v any, depth int) any {
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
				out[name] = clean(r, v[name], depth+1)
			}
		}
		return out
	case []any:
		out := make([]any, 0, min(len(v), maxDiagnosticList))
		for _, e := range v[:min(len(v), maxDiagnosticList)] {
			out = append(out, clean(r, e, depth+1))
		}
		return out
	case string:
		return cleanText(r, v)
	default:
		return v
	}
}

// cleanText keeps identifiers whole: only known secrets and URL tails go, since
// a locator must still find its record.
func cleanText(r *redact.Redactor, s string) string {
	if strings.Contains(s, "://") {
		if u, err := url.Parse(s); err == nil {
			u.User, u.RawQuery, u.Fragment = nil, "", ""
			s = u.String()
		}
	}
	s = r.Known(s)
	if len(s) > maxText {
		s = strings.ToValidUTF8(s[:maxText], "")
	}
	return s
}
