package collector

import "log/slog"

// Token is the device's credential. Printing, logging and encoding show it as redacted. Only reveal
// returns the value.
type Token struct{ value string }

const redactedToken = "[redacted]"

// WrapToken wraps a credential.
func WrapToken(value string) Token { return Token{value} }

// String hides the value.
func (Token) String() string { return redactedToken }

// GoString hides the value from %#v.
func (Token) GoString() string { return redactedToken }

// MarshalText hides the value from every encoder.
func (Token) MarshalText() ([]byte, error) { return []byte(redactedToken), nil }

// LogValue hides the value from structured logs.
func (Token) LogValue() slog.Value { return slog.StringValue(redactedToken) }

func (t Token) reveal() string { return t.value }

// plausible reports whether the value can be a header's credential.
func (t Token) plausible() bool {
	for _, c := range []byte(t.value) {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return t.value != ""
}
