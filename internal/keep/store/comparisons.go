package store

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// Comparison asks for records whose top-level field stands in an order to a value. A
// record without a value of the kind does not. A tombstone counts by what it was before.
type Comparison struct {
	Field string
	Kind  manifest.ValueKind
	Op    manifest.RangeOperator
	Value string // as Comparable takes it
}

// Unfit says why a stream cannot be asked something.
type Unfit struct {
	Undeclared bool   // its connector does not let readers ask for it
	Param      string // what is at fault
	Message    string
	Next       string
}

func undeclared(param, message, next string) *Unfit { return &Unfit{true, param, message, next} }
func unfit(param, message, next string) *Unfit      { return &Unfit{false, param, message, next} }

// NewComparison is a comparison that a stream declares, or why it is none. The stream is
// nil when nobody declares it any more.
func NewComparison(s *manifest.Stream, field string, op manifest.RangeOperator, value string) (Comparison, *Unfit) {
	var operators []manifest.RangeOperator
	if s != nil && s.Query != nil {
		operators = s.Query.RangeFilters[field]
	}
	c := Comparison{Field: field, Op: op, Value: value}
	switch {
	case len(operators) == 0:
		return c, undeclared("filter", "A field cannot be compared.", "Use fields that the stream lets readers compare.")
	case !slices.Contains(operators, op):
		return c, unfit("filter", "A field cannot be compared in this way.", "Use the comparisons that the stream declares of it.")
	}
	c.Kind = cmp.Or(s.ValueKinds()[field], manifest.ValueText)
	if _, ok := Comparable(c.Kind, value); !ok {
		return c, unfit("filter", "A value is not one that its field can be compared with.", map[manifest.ValueKind]string{
			manifest.ValueText: "Use a text of at most 200 characters.", manifest.ValueNumber: "Use a number like 12 or -3.5.",
			manifest.ValueTime: "Use a time like 2026-03-04T05:06:07Z, or a date like 2026-03-04.", manifest.ValueDate: "Use a date like 2026-03-04.",
		}[c.Kind])
	}
	return c, nil
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

// Repetitions that are counted by a pattern are compiled one by one, at every start of a program:
// those of hundreds are counted here.
var (
	numberShape  = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,2})?$`)
	instantShape = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9]))?$`)
)

// The bounds keep every number that passes within the range of double precision, and are
// the same in PostgreSQL's functions.
const (
	mostWhole    = 200
	mostFraction = 100
)

// ParseNumber reads a number by its double-precision value. One with hundreds of digits
// or an exponent beyond 99 is none.
func ParseNumber(text string) (float64, bool) {
	if !numberShape.MatchString(text) {
		return 0, false
	}
	digits := strings.TrimPrefix(text, "-")
	if at := strings.IndexAny(digits, "eE"); at >= 0 {
		digits = digits[:at]
	}
	if whole, fraction, _ := strings.Cut(digits, "."); len(whole) > mostWhole || len(fraction) > mostFraction {
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
