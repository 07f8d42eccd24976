package notify

import (
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
)

// VAPID is the key pair that identifies this server to push services, with a contact address. Browsers subscribe to
// Public; a new pair invalidates every subscription.
type VAPID struct {
	Public  string // uncompressed point, base64url
	Private credential.Secret
	// Subject is a mailto: or https: address of the operator.
	Subject string
}

// VAPIDSetting is the setting that holds the pair.
const VAPIDSetting = "web_push_vapid"

// VAPIDStore is the part of the store that LoadVAPID needs.
type VAPIDStore interface {
	InitSetting(ctx context.Context, name string, value []byte, now time.Time) ([]byte, error)
}

type storedVAPID struct {
	Public string `json:"public_key"`
	Sealed []byte `json:"sealed_private_key"`
}

// LoadVAPID returns the stored pair and creates it at the first start. The private key is stored sealed. It fails
// with a usererr.Error if the key cannot be decrypted.
func LoadVAPID(ctx context.Context, kept VAPIDStore, key credential.Key, subject string, now time.Time) (VAPID, error) {
	pair, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return VAPID{}, fmt.Errorf("make web push keys: %w", err)
	}
	mine, err := json.Marshal(storedVAPID{encodeBase64(pair.PublicKey().Bytes()), key.Seal(VAPIDSetting, pair.Bytes())})
	if err != nil {
		return VAPID{}, fmt.Errorf("encode web push keys: %w", err)
	}
	counts, err := kept.InitSetting(ctx, VAPIDSetting, mine, now)
	if err != nil {
		return VAPID{}, fmt.Errorf("keep web push keys: %w", err)
	}
	var k storedVAPID
	if err := json.Unmarshal(counts, &k); err != nil {
		return VAPID{}, fmt.Errorf("read web push keys: %w", err)
	}
	private, err := key.Open(VAPIDSetting, k.Sealed)
	if err != nil {
		return VAPID{}, fmt.Errorf("open the private web push key: %w", err)
	}
	return NewVAPID(k.Public, credential.NewSecret(encodeBase64(private)), subject)
}

// NewVAPID checks a configured pair, in base64url or base64.
func NewVAPID(public string, private credential.Secret, subject string) (VAPID, error) {
	wrong := func(what string) error {
		return usererr.New("web_push_keys_invalid", what,
			"Correct the PDPP_WEB_PUSH_VAPID_ variables, or unset them to use keys made here.")
	}
	if subject != "" && !strings.HasPrefix(subject, "mailto:") && !strings.HasPrefix(subject, "https://") {
		return VAPID{}, wrong("the subject is neither a mailto: nor an https:// address")
	}
	raw, err := decodeBase64(private.Reveal())
	if err != nil {
		return VAPID{}, wrong("the private key is not base64")
	}
	pair, err := ecdh.P256().NewPrivateKey(raw)
	if err != nil {
		return VAPID{}, wrong("the private key is not one of the curve P-256")
	}
	if given, err := decodeBase64(public); err != nil || string(given) != string(pair.PublicKey().Bytes()) {
		return VAPID{}, wrong("the public key does not belong to the private key")
	}
	return VAPID{Public: encodeBase64(pair.PublicKey().Bytes()), Private: credential.NewSecret(encodeBase64(raw)),
			Subject: subject},
		nil
}

// subject returns the contact address for push services. Some services reject a name that does not resolve, so a
// server without a public address uses the reserved example name, which does.
func (v VAPID) subject(base string) string {
	switch {
	case v.Subject != "":
		return v.Subject
	case strings.HasPrefix(base, "https://") && !strings.HasPrefix(base, "https://localhost"):
		return base
	default:
		return "https://example.org"
	}
}

func encodeBase64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// decodeBase64 reads base64 in either alphabet, padded or not.
func decodeBase64(text string) ([]byte, error) {
	text = strings.NewReplacer("+", "-", "/", "_").Replace(strings.TrimRight(text, "="))
	return base64.RawURLEncoding.DecodeString(text)
}
