// Package text is how every surface writes numbers, lengths of time, names and other
// people's words, so that all of them write alike.
package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line is text as one line: breaks, runs of blanks and what would be obeyed instead of
// shown become one blank, and nothing at either end.
func Line(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || Obeyed(r) }), " ")
}

// Lines returns s without what would be obeyed instead of shown, and with its line breaks and tabs.
func Lines(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && Obeyed(r) {
			return -1
		}
		return r
	}, s)
}

// Cut returns at most so many characters of s; the last one marks a cut.
func Cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	end, count := 0, 0
	for i := range s {
		if count++; count == most {
			end = i
		}
	}
	if count <= most {
		return s
	}
	return s[:end] + "…"
}

// Obeyed finds characters that a terminal or a page obeys instead of showing: the control
// codes of either set, line separators, what turns the direction of writing, unseen marks.
func Obeyed(r rune) bool {
	switch {
	case r < ' ', r >= 0x7f && r < 0xa0:
		return true
	case r == 0x061c, r == 0x200e, r == 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return true
	case r == 0xfeff, r >= 0xfff9 && r <= 0xfffb, r >= 0xe0000 && r <= 0xe007f: // marks and tags
		return true
	default:
		return false
	}
}

// Upper is a phrase as the beginning of a sentence.
func Upper(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	if size == 0 || first == utf8.RuneError {
		return s
	}
	return string(unicode.ToUpper(first)) + s[size:]
}

// Lower is a phrase within a sentence. One that begins with two capitals, as a name of
// letters does, stays.
func Lower(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	second, _ := utf8.DecodeRuneInString(s[size:])
	if size == 0 || first == utf8.RuneError || unicode.IsUpper(second) {
		return s
	}
	return string(unicode.ToLower(first)) + s[size:]
}

// Sentence begins with a capital letter and ends with a full stop.
func Sentence(s string) string {
	s = Upper(strings.TrimSpace(s))
	if s == "" || strings.ContainsRune(".!?", rune(s[len(s)-1])) {
		return s
	}
	return s + "."
}

// Name is a name that programs use as words: "open_issues" becomes "Open issues".
func Name(s string) string {
	words := strings.FieldsFunc(s, func(r rune) bool { return r == '_' || r == '-' || unicode.IsSpace(r) })
	if len(words) == 0 {
		return s
	}
	return Upper(strings.Join(words, " "))
}

// List joins words: "a, b and c".
func List(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}
