package sqldialect

import (
	"strings"
	"unicode"
)

// SearchWords splits text as the full-text index does: letters, digits and their marks form a word.
func SearchWords(text string) []string {
	return strings.FieldsFunc(text, SeparatesWords)
}

// SeparatesWords reports whether a character separates words.
func SeparatesWords(r rune) bool {
	if r < unicode.MaxASCII {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9')
	}
	return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r)
}
