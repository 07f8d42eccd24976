package imap

import (
	"encoding/base64"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

var modifiedUTF7 = base64.NewEncoding(
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+,",
).WithPadding(base64.NoPadding)

// folderName decodes the modified UTF-7 in which servers name folders and labels. What keeps no rule
// stays as it is.
func folderName(raw string) string {
	if !strings.Contains(raw, "&") {
		return strings.ToValidUTF8(raw, "\uFFFD")
	}
	var b strings.Builder
	for rest := raw; rest != ""; {
		before, after, shifted := strings.Cut(rest, "&")
		b.WriteString(before)
		if !shifted {
			break
		}
		coded, next, ended := strings.Cut(after, "-")
		if !ended {
			return strings.ToValidUTF8(raw, "\uFFFD")
		}
		if rest = next; coded == "" {
			b.WriteByte('&')
			continue
		}
		units, err := modifiedUTF7.DecodeString(coded)
		if err != nil || len(units)%2 != 0 {
			return strings.ToValidUTF8(raw, "\uFFFD")
		}
		wide := make([]uint16, len(units)/2)
		for i := range wide {
			wide[i] = uint16(units[2*i])<<8 | uint16(units[2*i+1])
		}
		for _, r := range utf16.Decode(wide) {
			b.WriteRune(r)
		}
	}
	if !utf8.ValidString(b.String()) {
		return strings.ToValidUTF8(raw, "\uFFFD")
	}
	return b.String()
}

// quoteString is a text as a command has it.
func quoteString(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}
