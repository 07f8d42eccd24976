package localfile

import (
	"strconv"
	"strings"
	"time"
)

// TextLimits are how much of a text is kept, in bytes.
type TextLimits struct {
	Text     int // of messages of people
	Output   int // of the output of tools
	Document int // of an authored document
}

// ParseLimits reads the owner's choice: usual, or full. What is kept in full still has to fit
// into one message of the protocol.
func ParseLimits(choice string) TextLimits {
	if choice == "full" {
		return TextLimits{Text: 4 << 20, Output: 4 << 20, Document: 4 << 20}
	}
	return TextLimits{Text: 256 << 10, Output: 2 << 10, Document: 20_000}
}

// RecordTime is a time as records have it; empty when the text is none. Numbers are seconds or
// milliseconds since 1970.
func RecordTime(text string) string {
	if at, err := time.Parse(time.RFC3339Nano, text); err == nil && at.Year() >= 0 && at.Year() <= 9999 {
		return text
	}
	n, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil || !(n > 0 && n < 1e14):
		return ""
	case n < 1e11:
		n *= 1000
	}
	return time.UnixMilli(int64(n)).UTC().Format("2006-01-02T15:04:05.000Z")
}

// TimeIsEarlier reports whether time a, in the form of RecordTime, is before b.
func TimeIsEarlier(a, b string) bool {
	if len(a) == len(b) && strings.HasSuffix(a, "Z") && strings.HasSuffix(b, "Z") {
		return a < b
	}
	x, errX := time.Parse(time.RFC3339Nano, a)
	y, errY := time.Parse(time.RFC3339Nano, b)
	return errX == nil && errY == nil && x.Before(y)
}

// LineKind is the kind of a line as an account may show it.
func LineKind(text string) string {
	if text == "" || len(text) > 40 ||
		strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" {
		return "other"
	}
	return text
}

// ShortText is the beginning of a text.
func ShortText(text string, limit int) string {
	e := Excerpt{Limit: limit}
	e.Text(text)
	return e.String()
}
