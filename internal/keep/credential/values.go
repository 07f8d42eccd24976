package credential

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pdpp-go/pdpp/internal/ops/fault"
	"github.com/pdpp-go/pdpp/manifest"
)

// maxValues bounds a credential: it is a few lines, not a file.
const maxValues = 64 << 10

// Values are a connection's credential: variables and what they hold.
type Values map[string]Secret

// NewValues checks that the values can be given to this connector: it declares
// every variable, and what it cannot sign in without is there.
func NewValues(m *manifest.Manifest, given map[string]string) (Values, error) {
	v, size := Values{}, 0
	declared := m.EnvNames()
	for _, name := range slices.Sorted(maps.Keys(given)) {
		switch {
		case !slices.Contains(declared, name):
			return nil, invalid(fmt.Sprintf("the connector does not declare the variable %q", name), "Give these: "+strings.Join(declared, ", "))
		case strings.ContainsRune(given[name], 0), !utf8.ValidString(given[name]):
			return nil, invalid("the value of "+name+" is not text", "Enter it again.")
		}
		size += len(name) + len(given[name])
		v[name] = NewSecret(given[name])
	}
	if size > maxValues {
		return nil, invalid("the values are longer than a credential can be", "Check what was entered.")
	}
	for _, f := range fields(m) {
		if f.Required && !slices.ContainsFunc(f.Env, func(name string) bool { return v[name].Reveal() != "" }) {
			return nil, invalid("a value for "+f.Label+" is missing", "Enter it.")
		}
	}
	if len(v) == 0 {
		return nil, invalid("there is nothing in it", "Enter at least one value.")
	}
	return v, nil
}

func fields(m *manifest.Manifest) []manifest.CredentialField {
	if m.Setup == nil || m.Setup.CredentialCapture == nil {
		return nil
	}
	return m.Setup.CredentialCapture.Fields
}

func invalid(message, next string) *fault.Fault {
	return fault.New(CodeInvalid, message, next)
}

// SealFor seals the values for one connection.
func (v Values) SealFor(k Key, connectionID string) []byte {
	return k.Seal(connectionPlace(connectionID), v.encode())
}

// OpenFor opens what SealFor made for the same connection.
func OpenFor(k Key, connectionID string, sealed []byte) (Values, error) {
	text, err := k.Open(connectionPlace(connectionID), sealed)
	if err != nil {
		return nil, err
	}
	var plain map[string]string
	if err := json.Unmarshal(text, &plain); err != nil {
		return nil, damaged() // not of the decoder's making: its text would show what it met
	}
	v := Values{}
	for name, value := range plain {
		v[name] = NewSecret(value)
	}
	return v, nil
}

func connectionPlace(id string) string { return "connection/" + id }

// Reveal gives the values as they are, for the process that gets them.
func (v Values) Reveal() map[string]string {
	out := make(map[string]string, len(v))
	for name, s := range v {
		out[name] = s.Reveal()
	}
	return out
}

// encode is the same for equal values.
func (v Values) encode() []byte {
	b, err := json.Marshal(v.Reveal())
	if err != nil {
		panic(err) // a map of strings always encodes
	}
	return b
}
