package providersim

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
)

// Signer makes opaque cursors that a client cannot interpret or alter. Equal values have equal tokens.
type Signer struct{ key []byte }

// NewSigner returns a signer. Signers with another secret reject its tokens.
func NewSigner(secret string) Signer {
	key := sha256.Sum256([]byte(secret))
	return Signer{key: key[:]}
}

const signatureSize = 12

func (s Signer) signature(payload []byte) []byte {
	m := hmac.New(sha256.New, s.key)
	m.Write(payload)
	return m.Sum(nil)[:signatureSize]
}

// Seal renders v as an opaque token.
func (s Signer) Seal(v any) string {
	payload := EncodeJSON(v)
	return base64.RawURLEncoding.EncodeToString(append(s.signature(payload), payload...))
}

// Open reads a token into v and reports whether this signer sealed it.
func (s Signer) Open(token string, v any) bool {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(raw) < signatureSize || !hmac.Equal(raw[:signatureSize], s.signature(raw[signatureSize:])) {
		return false
	}
	return json.Unmarshal(raw[signatureSize:], v) == nil
}
