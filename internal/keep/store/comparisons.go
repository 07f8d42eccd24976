package store

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"pdpp/manifest"
	"pdpp/protocol"
)

// Comparison asks for records whose top-level field stands in an order to a value. A
// record without a value of the kind does not. A tombstone counts by what it was before.
type Comparison struct {
	Field string
	Kind  manifest.ValueKind
	Op    manifest.RangeOperator
	Value string // as Comparable takes it
}

// LongestText is how many characters of a text count when texts are compared or grouped.
const LongestText = 200

// CutText gives the part of a text that counts.
func CutText(text string) string {
	if len(text) <= LongestText {
		return text
	}
	n := 0
	for i := range text {
		if n == LongestText {
			return text[:i]
		}
		n++
	}
	return text
}

// Comparable reads a value that fields of a kind can be compared with: a text that is not
// longer than LongestText, or the number that stands for a number or an instant.
func Comparable(kind manifest.ValueKind, text string) (value any, ok bool) {
	switch kind {
	case manifest.ValueNumber:
		value, ok = ParseNumber(text)
	case manifest.ValueTime, manifest.ValueDate:
		value, ok = ParseInstant(text)
	case manifest.ValueText:
		value = text
		ok = utf8.ValidString(text) && !strings.Contains(text, "\x00") && utf8.RuneCountInString(text) <= LongestText
	}
	return value, ok
}

// The bounds keep every number that passes within the range of double precision, and are
// the same in PostgreSQL's functions.
var (
	numberShape  = regexp.MustCompile(`^-?[0-9]{1,200}(\.[0-9]{1,100})?([eE][+-]?[0-9]{1,2})?$`)
	instantShape = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9]))?$`)
)

// ParseNumber reads a number by its double-precision value. One with hundreds of digits
// or an exponent beyond 99 is none.
func ParseNumber(text string) (float64, bool) {
	if !numberShape.MatchString(text) {
		return 0, false
	}
	n, err := strconv.ParseFloat(text, 64)
	return n + 0, err == nil && !math.IsInf(n, 0)
}

// ParseInstant reads an RFC 3339 time, or a date as its beginning in UTC, and gives the
// microseconds since 1970.
func ParseInstant(text string) (float64, bool) {
	if !instantShape.MatchString(text) {
		return 0, false
	}
	at, _, ok := protocol.SemanticTime(text)
	return float64(at.UnixMicro()), ok
}
