package grants

import (
	"crypto/rand"
	"crypto/sha256"
	"strings"
)

// TokenPrefix begins every token of a grant, so that a leaked one can be recognised.
const TokenPrefix = "pdpp_gt_"

const (
	codePrefix    = "pdpp_gc_"
	requestPrefix = "rq_"
)

// secretLength is the length of the random part: two texts of at least 128 bits each.
const secretLength = 52

// newSecret returns a secret and its hash, which is all that is stored. Look-ups use the hash of the presented text,
// so no secret is compared and timing reveals only hashes.
func newSecret(prefix string) (secret string, hash []byte) {
	secret = prefix + rand.Text() + rand.Text()
	return secret, hashOf(secret)
}

func hashOf(secret string) []byte {
	h := sha256.Sum256([]byte(secret))
	return h[:]
}

// looksLike rejects early what cannot be one of our secrets.
func looksLike(prefix, text string) bool {
	random, ok := strings.CutPrefix(text, prefix)
	return ok && len(random) == secretLength && strings.Trim(random, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// newID returns a random id for a grant or request, so that it cannot be guessed.
func newID(prefix string) string { return prefix + strings.ToLower(rand.Text()) }
