// Package signature signs JSON web tokens with the key that an owner entered.
package signature

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	_ "crypto/sha256" // the hash of the algorithms that end in 256
	_ "crypto/sha512" // the hashes of the others
	"crypto/x509"
	"encoding/pem"
	"errors"
	"strings"
)

var (
	// hashes are the hashes of the algorithms, by the digits of their names.
	hashes = map[string]crypto.Hash{"256": crypto.SHA256, "384": crypto.SHA384, "512": crypto.SHA512}
	// curveBits are the sizes of the curves of the ES algorithms.
	curveBits = map[string]int{"256": 256, "384": 384, "512": 521}
)

// CanSign reports whether Sign knows an algorithm, such as HS256, RS256, PS256, ES256 or EdDSA.
func CanSign(algorithm string) bool {
	kind, size := algorithmParts(algorithm)
	switch kind {
	case "HS", "RS", "PS", "ES":
		return hashes[size] != 0
	}
	return algorithm == "EdDSA"
}

// algorithmParts splits the name of an algorithm into its kind and its size.
func algorithmParts(name string) (kind, size string) {
	if len(name) != 5 {
		return "", ""
	}
	return name[:2], name[2:]
}

// Problems of a key, in words that follow "it". None contains a part of the key.
var (
	ErrNoPEM    = errors.New("is not a private key in the form PEM")
	ErrOtherKey = errors.New("does not belong to the algorithm of the file")
	ErrShortKey = errors.New("is too short for the algorithm of the file")
)

// Sign returns the signature of a text. The key is a text for the HS algorithms, and otherwise a private key in PEM.
func Sign(algorithm, key, text string) ([]byte, error) {
	kind, size := algorithmParts(algorithm)
	hash := hashes[size]
	if kind == "HS" {
		mac := hmac.New(hash.New, []byte(key))
		mac.Write([]byte(text))
		return mac.Sum(nil), nil
	}
	private, err := parsePrivateKey(key)
	if err != nil {
		return nil, err
	}
	if own, ok := private.(ed25519.PrivateKey); ok && algorithm == "EdDSA" {
		return ed25519.Sign(own, []byte(text)), nil
	}
	if hash == 0 {
		return nil, ErrOtherKey
	}
	sum := hash.New()
	sum.Write([]byte(text))
	digest := sum.Sum(nil)
	switch own := private.(type) {
	case *rsa.PrivateKey:
		return signRSA(kind, own, hash, digest)
	case *ecdsa.PrivateKey:
		if kind != "ES" || own.Curve.Params().BitSize != curveBits[size] {
			return nil, ErrOtherKey
		}
		return signECDSA(own, digest)
	}
	return nil, ErrOtherKey
}

func signRSA(kind string, key *rsa.PrivateKey, hash crypto.Hash, digest []byte) (signature []byte, err error) {
	switch kind {
	case "RS":
		signature, err = rsa.SignPKCS1v15(nil, key, hash, digest)
	case "PS":
		signature, err = rsa.SignPSS(rand.Reader, key, hash, digest,
			&rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash})
	default:
		return nil, ErrOtherKey
	}
	if err != nil {
		return nil, ErrShortKey
	}
	return signature, nil
}

// signECDSA returns both numbers of a signature, each as long as the curve.
func signECDSA(key *ecdsa.PrivateKey, digest []byte) ([]byte, error) {
	r, s, err := ecdsa.Sign(rand.Reader, key, digest)
	if err != nil {
		return nil, ErrOtherKey
	}
	n := (key.Curve.Params().BitSize + 7) / 8
	out := make([]byte, 2*n)
	r.FillBytes(out[:n])
	s.FillBytes(out[n:])
	return out, nil
}

// parsePrivateKey parses a key in PEM. Forms of one line have its line ends as \n.
func parsePrivateKey(text string) (any, error) {
	block, _ := pem.Decode([]byte(strings.ReplaceAll(text, `\n`, "\n")))
	if block == nil {
		return nil, ErrNoPEM
	}
	if key, err := x509.ParsePKCS8PrivateKey(block.Bytes); err == nil {
		return key, nil
	}
	if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return key, nil
	}
	if key, err := x509.ParseECPrivateKey(block.Bytes); err == nil {
		return key, nil
	}
	return nil, ErrNoPEM
}
