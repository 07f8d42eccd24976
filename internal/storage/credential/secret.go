package credential

import (
	"crypto/subtle"
	"fmt"
	"log/slog"

	"github.com/pdpp-go/pdpp/internal/ops/redact"
)

// Secret is a value that prints as a mark in every format. Only Reveal returns the value. The zero value is an empty
// secret.
type Secret struct {
	// The value is behind a pointer, because fmt prints unexported fields of other types without calling methods: it
	// then prints the address.
	value *string
}

// NewSecret wraps a value.
func NewSecret(value string) Secret { return Secret{&value} }

// Reveal returns the value, for the one place that needs it.
func (s Secret) Reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

// Equal compares in constant time.
func (s Secret) Equal(other Secret) bool {
	return subtle.ConstantTimeCompare([]byte(s.Reveal()), []byte(other.Reveal())) == 1
}

// String and the methods below cover every way to turn the value into text.
func (Secret) String() string { return redact.Mark }

// Format prints the mark for every verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redact.Mark)) }

// LogValue returns the mark for slog.
func (Secret) LogValue() slog.Value { return slog.StringValue(redact.Mark) }

// MarshalText returns the mark for text encodings, including map keys of JSON.
func (Secret) MarshalText() ([]byte, error) { return []byte(redact.Mark), nil }

// MarshalJSON returns the mark as a JSON string.
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + redact.Mark + `"`), nil }
