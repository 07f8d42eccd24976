// Package redact removes secrets from text that is about to be stored or shown.
//
// It knows the values that must never appear (the secrets of a run) and the shapes that secrets usually have. It
// prefers to remove too much: its input is diagnostics, never data.
package redact

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// Mark replaces removed text.
const Mark = "[redacted]"

// Redactor removes a set of known values and everything that looks like a secret.
type Redactor struct{ known [][]byte }

// New returns a redactor for these secret values.
func New(values ...string) *Redactor {
	r := &Redactor{}
	for _, v := range values {
		if len(v) >= minKnown {
			r.known = append(r.known, []byte(v))
		}
	}
	return r
}

var secretShapes = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{6,}`), "$1 " + Mark},
	{regexp.MustCompile(`(?i)\b((?:[a-z0-9_-]*)(?:token|secret|password|passwd|api[_-]?key|authorization|cookie|` +
		`session[_-]?id|otp))("?\s*[=:]\s*"?)[^\s"'&,;}]+`), "$1$2" + Mark},
	// A code is a secret by what it is for, or by what it looks like: most codes name an error.
	{regexp.MustCompile(`(?i)\b((?:auth|authorization|verification|confirmation|one[_ -]?time|login|sms|device|user|` +
		`access|mfa|2fa|security|backup|recovery)[_ -]?code)("?\s*[=:]\s*"?)[^\s"'&,;}]+`), "$1$2" + Mark},
	{regexp.MustCompile(`(?i)(^|[^\w-])(code"?\s*[=:]\s*"?)(?:\d{4,8}\b|\d[^\s"'&,;}]{9,}|[^\s"'&,;}]{5,}\d[^\s"'&,;}]` +
		`{4,}|[^\s"'&,;}]{9,}\d)`), "$1$2" + Mark},
	{regexp.MustCompile(`\b[a-z][a-z0-9+.-]*://[^\s/@:]+:[^\s/@]+@`), "://" + Mark + "@"},
	{regexp.MustCompile(`([?&][^=\s&]+)=[^\s&"']+`), "$1=" + Mark},
	{regexp.MustCompile(`\b[\w.+-]+@[\w-]+(\.[\w-]+)+\b`), Mark},
	{regexp.MustCompile(`\b(?:gh[pousr]_|xox[abcdp]-|sk-|eyJ)[A-Za-z0-9._-]{8,}`), Mark},
	{regexp.MustCompile(`\b\d{6}\b`), Mark},
}

// Text returns s without secrets.
func (r *Redactor) Text(s string) string {
	s = r.Known(s)
	for _, shape := range secretShapes {
		s = shape.pattern.ReplaceAllString(s, shape.with)
	}
	return s
}

// Line is Text cut to max bytes, at a rune boundary, as valid UTF-8 without line breaks.
func (r *Redactor) Line(s string, max int) string {
	s = strings.ToValidUTF8(s, "?")
	s = strings.Join(strings.FieldsFunc(r.Text(s), func(c rune) bool { return c == '\n' || c == '\r' }), " ")
	if len(s) <= max {
		return s
	}
	for max > 0 && !utf8.RuneStart(s[max]) {
		max--
	}
	return s[:max]
}

var secretKey = regexp.MustCompile(`(?i)(token|secret|passw|api[_-]?key|authorization|cookie|credential|session[_-]` +
	`?id|\botp\b)`)

// SecretName reports whether a member of this name should not be kept.
func SecretName(name string) bool { return secretKey.MatchString(name) }
