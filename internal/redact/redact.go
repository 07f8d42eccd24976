// Package redact takes secrets out of text that is about to be kept or shown.
//
// It knows the values that must never appear (the secrets that a run was
// given) and the shapes that secrets usually have. It errs on the side of
// removing too much: the text it works on is diagnostics, never data.
package redact

import (
	"regexp"
	"sort"
	"strings"
	"unicode/utf8"
)

// Mark stands where something was removed.
const Mark = "[redacted]"

// Redactor removes a set of known values and everything that looks like a secret.
type Redactor struct{ known *strings.Replacer }

// minKnown is the shortest known value that is removed: shorter ones would
// blank out ordinary words.
const minKnown = 4

// New makes a redactor for the given secret values.
func New(values ...string) *Redactor {
	kept := make([]string, 0, len(values))
	for _, v := range values {
		if len(v) >= minKnown {
			kept = append(kept, v)
		}
	}
	// The longest first, so that a secret which contains another goes whole.
	sort.Slice(kept, func(i, j int) bool { return len(kept[i]) > len(kept[j]) })
	pairs := make([]string, 0, 2*len(kept))
	for _, v := range kept {
		pairs = append(pairs, v, Mark)
	}
	return &Redactor{known: strings.NewReplacer(pairs...)}
}

var shapes = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{6,}`), "$1 " + Mark},
	{regexp.MustCompile(`(?i)\b((?:[a-z0-9_-]*)(?:token|secret|password|passwd|api[_-]?key|authorization|cookie|session[_-]?id|otp|code))("?\s*[=:]\s*"?)[^\s"'&,;}]+`), "$1$2" + Mark},
	{regexp.MustCompile(`\b[a-z][a-z0-9+.-]*://[^\s/@:]+:[^\s/@]+@`), "://" + Mark + "@"},
	{regexp.MustCompile(`([?&][^=\s&]+)=[^\s&"']+`), "$1=" + Mark},
	{regexp.MustCompile(`\b[\w.+-]+@[\w-]+(\.[\w-]+)+\b`), Mark},
	{regexp.MustCompile(`\b(?:gh[pousr]_|xox[abcdp]-|sk-|eyJ)[A-Za-z0-9._-]{8,}`), Mark},
	{regexp.MustCompile(`\b\d{6}\b`), Mark},
}

// Known removes the known values alone, for text whose shape must stay.
func (r *Redactor) Known(s string) string { return r.known.Replace(s) }

// Text gives s without secrets.
func (r *Redactor) Text(s string) string {
	s = r.Known(s)
	for _, shape := range shapes {
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

var secretKey = regexp.MustCompile(`(?i)(token|secret|passw|api[_-]?key|authorization|cookie|credential|session[_-]?id|\botp\b)`)

// SecretName reports whether a member of this name should not be kept.
func SecretName(name string) bool { return secretKey.MatchString(name) }
