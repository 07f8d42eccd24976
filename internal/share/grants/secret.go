package grants

import (
	"crypto/rand"
	"crypto/sha256"
	"strings"
)

// TokenPrefix begins every token of a grant, so that a leaked one can be recognised.
const TokenPrefix = "pdpp_gt_"

const codePrefix = "pdpp_gc_"

// secretLength is the length of the random part: two texts of at least 128 bits each.
const secretLength = 52

// newSecret makes a secret and the only form of it that is kept. What is looked up is
// the hash of what somebody sent: nothing that is secret is ever compared, and how long
// the look-up takes tells only of hashes.
func newSecret(prefix string) (secret string, hash []byte) {
	secret = prefix + rand.Text() + rand.Text()
	return secret, hashOf(secret)
}

func hashOf(secret string) []byte {
	h := sha256.Sum256([]byte(secret))
	return h[:]
}

// looksLike tells early what cannot be a secret of ours.
func looksLike(prefix, text string) bool {
	random, ok := strings.CutPrefix(text, prefix)
	return ok && len(random) == secretLength && strings.Trim(random, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// newID names a grant or a request. It is random, so that nobody can guess one.
func newID(prefix string) string { return prefix + strings.ToLower(rand.Text()) }
