package auth

import (
	"crypto/rand"
	"encoding/base32"
	"strings"
)

// plainLetters leaves out what looks like something else: i, l, o and u.
var plainLetters = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// makePassword gives 100 bits in five groups that can be read aloud and typed.
func makePassword() string { return inGroups(randomText(13), 5) }

const groupSize = 4

// inGroups gives the first letters of a text in groups.
func inGroups(text string, groups int) string {
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
