package signature

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"math/big"
	"strings"
	"testing"
)

func pemOf(t *testing.T, kind string, der []byte, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// The example of RFC 7515, appendix A.1.
func TestSignedByPassword(t *testing.T) {
	key, err := base64.RawURLEncoding.DecodeString(
		"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow")
	if err != nil {
		t.Fatal(err)
	}
	got, err := Sign("HS256", string(key), "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHA"+
		"iOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ")
	if text := base64.RawURLEncoding.EncodeToString(got); text != "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk" {
		t.Errorf("%s, %v", text, err)
	}
}

// Keys of each kind sign for their algorithms and for no other. Errors contain nothing of a key.
func TestSignedByKey(t *testing.T) {
	const text = "header.payload"
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(rsaKey)
	forRSA := map[string]string{"pkcs8": pemOf(t, "PRIVATE KEY", pkcs8, err),
		"pkcs1": pemOf(t, "RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(rsaKey), nil)}
	forRSA["one line"] = strings.ReplaceAll(forRSA["pkcs8"], "\n", `\n`)
	digest := func(h crypto.Hash) []byte {
		sum := h.New()
		sum.Write([]byte(text))
		return sum.Sum(nil)
	}
	for form, key := range forRSA {
		for algorithm, h := range map[string]crypto.Hash{"RS256": crypto.SHA256, "RS512": crypto.SHA512,
			"PS256": crypto.SHA256, "PS384": crypto.SHA384} {
			got, err := Sign(algorithm, key, text)
			verified := rsa.VerifyPKCS1v15(&rsaKey.PublicKey, h, digest(h), got)
			if algorithm[0] == 'P' {
				verified = rsa.VerifyPSS(&rsaKey.PublicKey, h, digest(h), got, nil)
			}
			if err != nil || verified != nil {
				t.Errorf("%s, %s: %v, %v", form, algorithm, err, verified)
			}
		}
	}
	curves := map[string]string{}
	for algorithm, c := range map[string]struct {
		elliptic.Curve
		crypto.Hash
	}{"ES256": {elliptic.P256(), crypto.SHA256}, "ES384": {elliptic.P384(), crypto.SHA384},
		"ES512": {elliptic.P521(), crypto.SHA512}} {
		own, err := ecdsa.GenerateKey(c.Curve, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		der, err := x509.MarshalECPrivateKey(own)
		curves[algorithm] = pemOf(t, "EC PRIVATE KEY", der, err)
		got, err := Sign(algorithm, curves[algorithm], text)
		if err != nil {
			t.Fatal(err)
		}
		n := len(got) / 2
		if !ecdsa.Verify(&own.PublicKey, digest(c.Hash), new(big.Int).SetBytes(got[:n]), new(big.Int).SetBytes(got[n:])) {
			t.Errorf("%s: the signature does not fit", algorithm)
		}
	}
	public, edward, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err = x509.MarshalPKCS8PrivateKey(edward)
	edwards := pemOf(t, "PRIVATE KEY", pkcs8, err)
	if got, err := Sign("EdDSA", edwards, text); err != nil || !ed25519.Verify(public, []byte(text), got) {
		t.Errorf("EdDSA: %v", err)
	}
	for name, c := range map[string]struct {
		algorithm, key string
		want           error
	}{
		"another curve": {"ES384", curves["ES256"], ErrOtherKey}, "a key of RSA": {"ES256", forRSA["pkcs8"], ErrOtherKey},
		"a curve": {"RS256", curves["ES256"], ErrOtherKey}, "an Edwards key": {"RS256", edwards, ErrOtherKey},
		"not PEM": {"RS256", "hush-hush", ErrNoPEM}, "damaged": {"RS256", forRSA["pkcs8"][:200], ErrNoPEM},
	} {
		if _, err := Sign(c.algorithm, c.key, text); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	for _, algorithm := range []string{"HS384", "RS256", "PS512", "ES512", "EdDSA"} {
		if !CanSign(algorithm) {
			t.Errorf("%q is refused", algorithm)
		}
	}
	for _, algorithm := range []string{"none", "ES256K", "HS257", "", "RS1024"} {
		if CanSign(algorithm) {
			t.Errorf("%q is accepted", algorithm)
		}
	}
}
