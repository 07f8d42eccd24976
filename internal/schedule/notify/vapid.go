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

	"github.com/pdpp-go/pdpp/internal/keep/credential"
	"github.com/pdpp-go/pdpp/internal/ops/fault"
)

// VAPID is the key pair by which push services know this server, and whom they
// may write to about it. Browsers subscribe to Public; a new pair makes every
// subscription useless.
type VAPID struct {
	Public  string // uncompressed point, base64url
	Private credential.Secret
	// Subject is a mailto: or https: address of the operator.
	Subject string
}

// VAPIDSetting is where the pair is kept.
const VAPIDSetting = "web_push_vapid"

// Settings is what LoadVAPID needs of the store.
type Settings interface {
	InitSetting(ctx context.Context, name string, value []byte, now time.Time) ([]byte, error)
}

type keptVAPID struct {
	Public string `json:"public_key"`
	Sealed []byte `json:"sealed_private_key"`
}

// LoadVAPID gives the kept pair, and makes it at the first start. The private
// half is kept sealed; the error is a *fault.Fault when it cannot be opened.
func LoadVAPID(ctx context.Context, kept Settings, key credential.Key, subject string, now time.Time) (VAPID, error) {
	pair, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return VAPID{}, fmt.Errorf("make web push keys: %w", err)
	}
	mine, err := json.Marshal(keptVAPID{encode(pair.PublicKey().Bytes()), key.Seal(VAPIDSetting, pair.Bytes())})
	if err != nil {
		return VAPID{}, fmt.Errorf("encode web push keys: %w", err)
	}
	counts, err := kept.InitSetting(ctx, VAPIDSetting, mine, now)
	if err != nil {
		return VAPID{}, fmt.Errorf("keep web push keys: %w", err)
	}
	var k keptVAPID
	if err := json.Unmarshal(counts, &k); err != nil {
		return VAPID{}, fmt.Errorf("read web push keys: %w", err)
	}
	private, err := key.Open(VAPIDSetting, k.Sealed)
	if err != nil {
		return VAPID{}, fmt.Errorf("open the private web push key: %w", err)
	}
	return NewVAPID(k.Public, credential.NewSecret(encode(private)), subject)
}

// NewVAPID checks a pair that was given, in base64url or base64.
func NewVAPID(public string, private credential.Secret, subject string) (VAPID, error) {
	wrong := func(what string) error {
		return fault.New("web_push_keys_invalid", what, "Correct the PDPP_WEB_PUSH_VAPID_ variables, or unset them to use keys made here.")
	}
	if subject != "" && !strings.HasPrefix(subject, "mailto:") && !strings.HasPrefix(subject, "https://") {
		return VAPID{}, wrong("the subject is neither a mailto: nor an https:// address")
	}
	raw, err := decode(private.Reveal())
	if err != nil {
		return VAPID{}, wrong("the private key is not base64")
	}
	pair, err := ecdh.P256().NewPrivateKey(raw)
	if err != nil {
		return VAPID{}, wrong("the private key is not one of the curve P-256")
	}
	if given, err := decode(public); err != nil || string(given) != string(pair.PublicKey().Bytes()) {
		return VAPID{}, wrong("the public key does not belong to the private key")
	}
	return VAPID{Public: encode(pair.PublicKey().Bytes()), Private: credential.NewSecret(encode(raw)), Subject: subject}, nil
}

// subject is whom a push service may ask about us. Some services refuse an
// address whose name does not resolve, so a server without a public one falls
// back to the name that is reserved for examples, which does.
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

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// decode reads base64 in either alphabet, padded or not.
func decode(text string) ([]byte, error) {
	text = strings.NewReplacer("+", "-", "/", "_").Replace(strings.TrimRight(text, "="))
	return base64.RawURLEncoding.DecodeString(text)
}
