package credential

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/manifest"
)

// maxValuesSize bounds a credential: it is a few lines, not a file.
const maxValuesSize = 64 << 10

// Values are a connection's credential: variables and their values.
type Values map[string]Secret

// NewValues checks the values against the connector's manifest: it must declare every variable, and the required ones
// must be present.
func NewValues(m *manifest.Manifest, given map[string]string) (Values, error) {
	v, size := Values{}, 0
	declared := m.EnvNames()
	for _, name := range slices.Sorted(maps.Keys(given)) {
		switch {
		case !slices.Contains(declared, name):
			return nil, invalidError(fmt.Sprintf("the connector does not declare the variable %q", name),
				"Give these: "+strings.Join(declared, ", "))
		case strings.ContainsRune(given[name], 0), !utf8.ValidString(given[name]):
			return nil, invalidError("the value of "+name+" is not text", "Enter it again.")
		}
		size += len(name) + len(given[name])
		v[name] = NewSecret(given[name])
	}
	if size > maxValuesSize {
		return nil, invalidError("the values are longer than a credential can be", "Check what was entered.")
	}
	for _, f := range declaredFields(m) {
		if f.Required && !slices.ContainsFunc(f.Env, func(name string) bool { return v[name].Reveal() != "" }) {
			return nil, invalidError("a value for "+f.Label+" is missing", "Enter it.")
		}
	}
	if len(v) == 0 {
		return nil, invalidError("there is nothing in it", "Enter at least one value.")
	}
	return v, nil
}

func declaredFields(m *manifest.Manifest) []manifest.CredentialField {
	if m.Setup == nil || m.Setup.CredentialCapture == nil {
		return nil
	}
	return m.Setup.CredentialCapture.Fields
}

func invalidError(message, next string) *usererr.Error {
	return usererr.New(CodeInvalid, message, next)
}

// SealFor seals the values for one connection.
func (v Values) SealFor(k Key, connectionID string) []byte {
	return k.Seal(connectionPlace(connectionID), v.encodeSorted())
}

// OpenFor opens what SealFor sealed for the same connection.
func OpenFor(k Key, connectionID string, sealed []byte) (Values, error) {
	text, err := k.Open(connectionPlace(connectionID), sealed)
	if err != nil {
		return nil, err
	}
	var plain map[string]string
	if err := json.Unmarshal(text, &plain); err != nil {
		return nil, damagedError() // not the decoder's error, which would quote the content
	}
	v := Values{}
	for name, value := range plain {
		v[name] = NewSecret(value)
	}
	return v, nil
}

func connectionPlace(id string) string { return "connection/" + id }

// Reveal returns the plain values, for the process that receives them.
func (v Values) Reveal() map[string]string {
	out := make(map[string]string, len(v))
	for name, s := range v {
		out[name] = s.Reveal()
	}
	return out
}

// encodeSorted returns the same bytes for equal values.
func (v Values) encodeSorted() []byte {
	b, err := json.Marshal(v.Reveal())
	if err != nil {
		panic(err) // impossible: a map of strings always encodes
	}
	return b
}
