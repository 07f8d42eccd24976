package declarative

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/pdpp-go/pdpp/declarative/document"
)

// signatureFits reports whether a request has a token that was signed with the key of the settings by HS256. Tokens of
// other algorithms fit no request.
func (p *Provider) signatureFits(a *document.JWT, in flat) bool {
	token := strings.TrimPrefix(in.values["h:Authorization"], p.text(a.Prefix, a))
	parts := strings.Split(strings.TrimSpace(token), ".")
	if len(parts) != 3 || a.Algorithm != "HS256" {
		return false
	}
	key := p.text(a.SecretKey, a)
	if a.EncodeKey {
		key = base64.StdEncoding.EncodeToString([]byte(key))
	}
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(parts[0] + "." + parts[1]))
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	payload, payloadErr := base64.RawURLEncoding.DecodeString(parts[1])
	var claims struct {
		From int64 `json:"nbf"`
		To   int64 `json:"exp"`
	}
	return err == nil && payloadErr == nil && hmac.Equal(signature, mac.Sum(nil)) &&
		json.Unmarshal(payload, &claims) == nil && claims.From > 0 && claims.To > claims.From
}
