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

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
)

const keySize = 32

// Key seals the owner's secrets. It prints as its fingerprint. The zero value is no key: it opens nothing, and
// sealing with it panics.
type Key struct{ raw Secret } // keySize bytes

// NewKey returns a random key.
func NewKey() Key {
	var raw [keySize]byte
	_, _ = rand.Read(raw[:]) // never fails
	return Key{NewSecret(string(raw[:]))}
}

// ParseKey parses a key of 32 bytes in base64 or hex.
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
	return Key{}, &usererr.Error{Status: http.StatusBadRequest, Code: CodeKeyInvalid,
		Message: "the key is not 32 bytes in base64 or hex",
		Next:    "Make one with: head -c 32 /dev/urandom | base64"}
}

// IsZero reports whether there is no key.
func (k Key) IsZero() bool { return k.raw == Secret{} }

// Fingerprint identifies the key without revealing it: 16 hex digits.
func (k Key) Fingerprint() string {
	if k.IsZero() {
		return "none"
	}
	return hex.EncodeToString(k.fingerprintBytes())
}

// FingerprintOf returns a short fingerprint by which a person recognises equal secrets. It is keyed, so that no one
// without the key can test guesses.
func (k Key) FingerprintOf(v Values) string {
	mac := hmac.New(sha256.New, k.deriveKey("fingerprint"))
	mac.Write(v.encodeSorted())
	return hex.EncodeToString(mac.Sum(nil)[:4])
}

const fingerprintSize = 8

// For returns a key derived for a place, from which this key cannot be computed; empty without a key.
func (k Key) For(place string) string {
	if k.IsZero() {
		return ""
	}
	mac := hmac.New(sha256.New, k.deriveKey("place"))
	_, _ = mac.Write([]byte(place)) // a hash never fails
	return hex.EncodeToString(mac.Sum(nil))
}

func (k Key) fingerprintBytes() []byte { return k.deriveKey("mark")[:fingerprintSize] }

// deriveKey returns a separate key for each use.
func (k Key) deriveKey(use string) []byte {
	if k.IsZero() {
		panic("credential: there is no key")
	}
	out, err := hkdf.Key(sha256.New, []byte(k.raw.Reveal()), nil, "pdpp credential "+use, keySize)
	if err != nil {
		panic(err) // impossible for this length
	}
	return out
}

func (k Key) text() string { return base64.StdEncoding.EncodeToString([]byte(k.raw.Reveal())) }

// String and the methods below prevent that the key is printed.
func (k Key) String() string { return "key " + k.Fingerprint() }

// Format prints the fingerprint for every verb.
func (k Key) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(k.String())) }

// LogValue returns the fingerprint for slog.
func (k Key) LogValue() slog.Value { return slog.StringValue(k.String()) }

// MarshalText returns the fingerprint for text encodings and JSON.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }
