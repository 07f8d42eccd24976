package sqlstore

import (
	"strings"
	"unicode"
)

// Words splits text as the full-text index does: letters, digits and their
// marks make a word, everything else separates.
func Words(text string) []string {
	return strings.FieldsFunc(text, Separates)
}

// Separates reports whether a character is part of no word.
func Separates(r rune) bool {
	if r < unicode.MaxASCII {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9')
	}
	return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r)
}
