// Package words is how the rooms of the owner write numbers, lengths of time and
// names, so that all of them write alike.
package words

import (
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// LongestName bounds what an owner may call something, in characters.
const LongestName = 120

// OneLine is text without the breaks and runs of blanks that somebody typed.
func OneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// IsName reports whether an owner may call something that.
func IsName(text string) bool {
	return text != "" && utf8.RuneCountInString(text) <= LongestName && utf8.ValidString(text)
}

// Sentence begins with a capital letter and ends with a full stop.
func Sentence(text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return ""
	}
	first, size := utf8.DecodeRuneInString(text)
	text = string(unicode.ToUpper(first)) + text[size:]
	if strings.ContainsRune(".!?", rune(text[len(text)-1])) {
		return text
	}
	return text + "."
}

// Humane is a name of the protocol as words: "open_issues" becomes "Open issues".
func Humane(name string) string {
	return strings.TrimSuffix(Sentence(strings.ReplaceAll(name, "_", " ")), ".")
}

// Span is a length of time in words, rounded to its two largest units.
func Span(d time.Duration) string {
	units := []struct {
		size time.Duration
		name string
	}{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}, {time.Second, "second"}}
	var parts []string
	for _, u := range units {
		if n := int64(d / u.size); n > 0 && len(parts) < 2 {
			parts = append(parts, Counted(n, u.name, u.name+"s"))
			d -= time.Duration(n) * u.size
		}
	}
	if len(parts) == 0 {
		return "0 seconds"
	}
	return strings.Join(parts, " ")
}

// Counted is a number with what it counts.
func Counted(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Number(n) + " " + many
}

// Number is a number with separators between thousands.
func Number(n int64) string {
	if n < 0 {
		return "-" + Number(-n)
	}
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
