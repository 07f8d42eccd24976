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

// Comparison selects records by comparing a top-level field with a value. Records without a value of that kind do not
// match. A tombstone is compared by its last data.
type Comparison struct {
	Field string
	Kind  manifest.ValueKind
	Op    manifest.RangeOperator
	Value string // in the form that ParseComparable accepts
}

// InvalidQuery explains why a query is rejected.
type InvalidQuery struct {
	Undeclared bool   // the connector does not declare the field for this use
	Param      string // the rejected parameter
	Message    string
	Next       string
}

func undeclaredQuery(param, message, next string) *InvalidQuery {
	return &InvalidQuery{true, param, message, next}
}
func invalidQuery(param, message, next string) *InvalidQuery {
	return &InvalidQuery{false, param, message, next}
}

// NewComparison returns a comparison that the stream declares, or the reason why it is invalid. A nil stream means
// that no connector declares it any more.
func NewComparison(
	s *manifest.Stream, field string, op manifest.RangeOperator, value string,
) (Comparison, *InvalidQuery) {
	var operators []manifest.RangeOperator
	if s != nil && s.Query != nil {
		operators = s.Query.RangeFilters[field]
	}
	c := Comparison{Field: field, Op: op, Value: value}
	switch {
	case len(operators) == 0:
		return c, undeclaredQuery("filter", "A field cannot be compared.", "Use fields that the stream lets readers compare.")
	case !slices.Contains(operators, op):
		return c, invalidQuery("filter", "A field cannot be compared in this way.",
			"Use the comparisons that the stream declares of it.")
	}
	c.Kind = cmp.Or(s.ValueKinds()[field], manifest.ValueText)
	if _, ok := ParseComparable(c.Kind, value); !ok {
		return c, invalidQuery("filter", "A value is not one that its field can be compared with.",
			map[manifest.ValueKind]string{
				manifest.ValueText: "Use a text of at most 200 characters.", manifest.ValueNumber: "Use a number like 12 or -3.5.",
				manifest.ValueTime: "Use a time like 2026-03-04T05:06:07Z, or a date like 2026-03-04.",
				manifest.ValueDate: "Use a date like 2026-03-04.",
			}[c.Kind])
	}
	return c, nil
}

// MaxTextLength is how many characters of a text are compared or grouped by.
const MaxTextLength = 200

// TruncateText returns at most the first MaxTextLength characters.
func TruncateText(text string) string {
	if len(text) <= MaxTextLength {
		return text
	}
	n := 0
	for i := range text {
		if n == MaxTextLength {
			return text[:i]
		}
		n++
	}
	return text
}

// ParseComparable parses a value for comparison with fields of a kind: a text of at most MaxTextLength characters, or
// a number, to which times and dates are converted too.
func ParseComparable(kind manifest.ValueKind, text string) (value any, ok bool) {
	switch kind {
	case manifest.ValueNumber:
		value, ok = ParseNumber(text)
	case manifest.ValueTime, manifest.ValueDate:
		value, ok = ParseInstant(text)
	case manifest.ValueText:
		value = text
		ok = utf8.ValidString(text) && !strings.Contains(text, "\x00") && utf8.RuneCountInString(text) <= MaxTextLength
	}
	return value, ok
}

// The patterns limit no repetition to hundreds: such a count would compile into as many copies at every start of the
// program. ParseNumber checks the lengths instead.
var (
	numberPattern  = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,2})?$`)
	instantPattern = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}` +
		`(T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9]))?$`)
)

// These limits keep every accepted number within double precision. The functions in PostgreSQL have the same limits.
const (
	maxWholeDigits    = 200
	maxFractionDigits = 100
)

// ParseNumber parses a number to double precision. It rejects numbers with hundreds of digits or an exponent over 99.
func ParseNumber(text string) (float64, bool) {
	if !numberPattern.MatchString(text) {
		return 0, false
	}
	digits := strings.TrimPrefix(text, "-")
	if at := strings.IndexAny(digits, "eE"); at >= 0 {
		digits = digits[:at]
	}
	if whole, fraction, _ := strings.Cut(digits, "."); len(whole) > maxWholeDigits || len(fraction) > maxFractionDigits {
		return 0, false
	}
	n, err := strconv.ParseFloat(text, 64)
	return n + 0, err == nil && !math.IsInf(n, 0)
}

// ParseInstant parses an RFC 3339 time, or a date as midnight UTC, and returns microseconds since 1970.
func ParseInstant(text string) (float64, bool) {
	if !instantPattern.MatchString(text) {
		return 0, false
	}
	at, _, ok := protocol.SemanticTime(text)
	return float64(at.UnixMicro()), ok
}
