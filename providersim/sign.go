package providersim

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
)

// Signer makes opaque cursors that a client cannot read meaning into and
// cannot alter. Equal values give equal tokens.
type Signer struct{ key []byte }

// NewSigner returns a signer whose tokens no other secret accepts.
func NewSigner(secret string) Signer {
	key := sha256.Sum256([]byte(secret))
	return Signer{key: key[:]}
}

const macSize = 12

func (s Signer) mac(payload []byte) []byte {
	m := hmac.New(sha256.New, s.key)
	m.Write(payload)
	return m.Sum(nil)[:macSize]
}

// Seal renders v as an opaque token.
func (s Signer) Seal(v any) string {
	payload := EncodeJSON(v)
	return base64.RawURLEncoding.EncodeToString(append(s.mac(payload), payload...))
}

// Open reads a token into v and reports whether this signer sealed it.
func (s Signer) Open(token string, v any) bool {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(raw) < macSize || !hmac.Equal(raw[:macSize], s.mac(raw[macSize:])) {
		return false
	}
	return json.Unmarshal(raw[macSize:], v) == nil
}
