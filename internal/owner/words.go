package owner

import (
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// sentence begins with a capital letter and ends with a full stop.
func sentence(text string) string {
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

// humane is a name of the protocol as words: "open_issues" becomes "Open issues".
func humane(name string) string {
	return strings.TrimSuffix(sentence(strings.ReplaceAll(name, "_", " ")), ".")
}

// span is a length of time in words, rounded to its two largest units.
func span(d time.Duration) string {
	units := []struct {
		size time.Duration
		name string
	}{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}, {time.Second, "second"}}
	var parts []string
	for _, u := range units {
		if n := int64(d / u.size); n > 0 && len(parts) < 2 {
			parts = append(parts, counted(n, u.name, u.name+"s"))
			d -= time.Duration(n) * u.size
		}
	}
	if len(parts) == 0 {
		return "0 seconds"
	}
	return strings.Join(parts, " ")
}

// counted is a number with what it counts, with separators between thousands.
func counted(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return number(n) + " " + many
}

func number(n int64) string {
	if n < 0 {
		return "-" + number(-n)
	}
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
