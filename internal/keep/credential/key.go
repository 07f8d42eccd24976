package credential

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"github.com/pdpp-go/pdpp/internal/ops/fault"
)

const keySize = 32

// Key is what the owner's secrets are sealed with. It prints as its fingerprint.
// The zero value is no key: it opens nothing, and sealing with it panics.
type Key struct{ raw Secret } // keySize bytes

// NewKey makes a random key.
func NewKey() Key {
	var raw [keySize]byte
	_, _ = rand.Read(raw[:]) // never fails
	return Key{NewSecret(string(raw[:]))}
}

// ParseKey reads a key that is written as base64 or hex of 32 bytes.
func ParseKey(text string) (Key, error) {
	text = strings.TrimSpace(text)
	for _, decode := range []func(string) ([]byte, error){
		hex.DecodeString, base64.StdEncoding.DecodeString, base64.RawStdEncoding.DecodeString,
		base64.URLEncoding.DecodeString, base64.RawURLEncoding.DecodeString,
	} {
		if b, err := decode(text); err == nil && len(b) == keySize {
			return Key{NewSecret(string(b))}, nil
		}
	}
	return Key{}, &fault.Fault{Status: http.StatusBadRequest, Code: CodeKeyInvalid, Message: "the key is not 32 bytes in base64 or hex",
		Next: "Make one with: head -c 32 /dev/urandom | base64"}
}

// IsZero reports whether there is no key.
func (k Key) IsZero() bool { return k.raw == Secret{} }

// Fingerprint names the key without telling it: 16 hex digits.
func (k Key) Fingerprint() string {
	if k.IsZero() {
		return "none"
	}
	return hex.EncodeToString(k.mark())
}

// FingerprintOf lets a person recognise equal secrets sealed under this key
// without being told them. It is keyed, so that nobody without the key can try
// out values against it, and short.
func (k Key) FingerprintOf(v Values) string {
	mac := hmac.New(sha256.New, k.derive("fingerprint"))
	mac.Write(v.encode())
	return hex.EncodeToString(mac.Sum(nil)[:4])
}

const markSize = 8

// For is a key of a place's own, from which this one cannot be found; empty without a key.
func (k Key) For(place string) string {
	if k.IsZero() {
		return ""
	}
	mac := hmac.New(sha256.New, k.derive("place"))
	_, _ = mac.Write([]byte(place)) // a hash never fails
	return hex.EncodeToString(mac.Sum(nil))
}

func (k Key) mark() []byte { return k.derive("mark")[:markSize] }

// derive gives a key of its own to each use.
func (k Key) derive(use string) []byte {
	if k.IsZero() {
		panic("credential: there is no key")
	}
	out, err := hkdf.Key(sha256.New, []byte(k.raw.Reveal()), nil, "pdpp credential "+use, keySize)
	if err != nil {
		panic(err) // only for a length that SHA-256 cannot give
	}
	return out
}

func (k Key) text() string { return base64.StdEncoding.EncodeToString([]byte(k.raw.Reveal())) }

// String and the methods below keep the key out of everything that prints it.
func (k Key) String() string { return "key " + k.Fingerprint() }

// Format prints the fingerprint for every verb.
func (k Key) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(k.String())) }

// LogValue is what slog writes.
func (k Key) LogValue() slog.Value { return slog.StringValue(k.String()) }

// MarshalText is what text encodings and JSON write.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }
