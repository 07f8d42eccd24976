package credential

import (
	"crypto/subtle"
	"fmt"
	"log/slog"

	"github.com/pdpp-go/pdpp/internal/ops/redact"
)

// Secret is a value that prints as a mark, whatever prints it. The value comes
// out of Reveal alone. The zero value is an empty secret.
type Secret struct {
	// It is behind a pointer: where fmt may not call methods, which is inside
	// unexported fields of others, it prints the address and not the value.
	value *string
}

// NewSecret wraps a value.
func NewSecret(value string) Secret { return Secret{&value} }

// Reveal gives the value, for the one place that needs it.
func (s Secret) Reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

// Equal compares in a time that does not depend on where two values differ.
func (s Secret) Equal(other Secret) bool {
	return subtle.ConstantTimeCompare([]byte(s.Reveal()), []byte(other.Reveal())) == 1
}

// String and the methods below are every way by which a value becomes text.
func (Secret) String() string { return redact.Mark }

// Format prints the mark for every verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redact.Mark)) }

// LogValue is what slog writes.
func (Secret) LogValue() slog.Value { return slog.StringValue(redact.Mark) }

// MarshalText is what text encodings write, map keys of JSON included.
func (Secret) MarshalText() ([]byte, error) { return []byte(redact.Mark), nil }

// MarshalJSON is what JSON shows.
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + redact.Mark + `"`), nil }
