package auth

import (
	"crypto/rand"
	"encoding/base32"
	"strings"
)

// plainLetters leaves out what looks like something else: i, l, o and u.
var plainLetters = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// makePassword returns 100 random bits in five groups that can be read aloud and typed.
func makePassword() string { return groupLetters(randomText(13), 5) }

const groupSize = 4

// groupLetters returns the first letters of a text in groups.
func groupLetters(text string, groups int) string {
	parts := make([]string, groups)
	for i := range parts {
		parts[i] = text[i*groupSize : (i+1)*groupSize]
	}
	return strings.Join(parts, "-")
}

func randomText(bytes int) string {
	raw := make([]byte, bytes)
	_, _ = rand.Read(raw) // never fails
	return plainLetters.EncodeToString(raw)
}
