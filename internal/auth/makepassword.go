package auth

import (
	"crypto/rand"
	"encoding/base32"
	"strings"
)

// plainLetters leaves out what looks like something else: i, l, o and u.
var plainLetters = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// makePassword gives 100 bits in five groups that can be read aloud and typed.
func makePassword() string {
	const groups, size = 5, 4
	text := randomText(13)
	parts := make([]string, groups)
	for i := range parts {
		parts[i] = text[i*size : (i+1)*size]
	}
	return strings.Join(parts, "-")
}

func randomText(bytes int) string {
	raw := make([]byte, bytes)
	_, _ = rand.Read(raw) // never fails
	return plainLetters.EncodeToString(raw)
}
