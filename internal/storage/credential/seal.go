package credential

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/hex"
	"net/http"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
)

// The sealed form is a version, the fingerprint of the key, a random nonce, and the text under AES-256-GCM. Version,
// fingerprint and the place it is sealed for are authenticated too.
const (
	sealVersion = 1
	headerSize  = 1 + fingerprintSize
	nonceSize   = 12
)

// Seal encrypts a text for one place, such as a connection's id. Only Open with the same key and place decrypts it.
func (k Key) Seal(place string, text []byte) []byte {
	out := append(make([]byte, 0, headerSize+nonceSize+len(text)+16), sealVersion)
	out = append(out, k.fingerprintBytes()...)
	out = append(out, make([]byte, nonceSize)...)
	nonce := out[headerSize:]
	_, _ = rand.Read(nonce) // never fails
	return k.newCipher().Seal(out, nonce, text, associatedData(out[:headerSize], place))
}

// Open returns the text. Its error is an *usererr.Error: ErrWrongKey when another key sealed it, else ErrDamaged.
func (k Key) Open(place string, sealed []byte) ([]byte, error) {
	if len(sealed) < headerSize+nonceSize || sealed[0] != sealVersion {
		return nil, damagedError()
	}
	header, nonce, text := sealed[:headerSize], sealed[headerSize:headerSize+nonceSize], sealed[headerSize+nonceSize:]
	if k.IsZero() || !bytes.Equal(header[1:], k.fingerprintBytes()) {
		with := hex.EncodeToString(header[1:])
		return nil, &usererr.Error{Status: http.StatusBadRequest, Code: CodeWrongKey,
			Message: "it was sealed with key " + with + ", and the key in use is " + k.Fingerprint(),
			Next: "Put key " + with +
				" back (secret.key in the home folder, or PDPP_CREDENTIAL_ENCRYPTION_KEY), or enter the credential again."}
	}
	plain, err := k.newCipher().Open(nil, nonce, text, associatedData(header, place))
	if err != nil {
		return nil, damagedError()
	}
	return plain, nil
}

func damagedError() *usererr.Error {
	return &usererr.Error{Status: http.StatusBadRequest, Code: CodeDamaged,
		Message: "what is stored is damaged, or belongs to another connection", Next: "Enter the credential again."}
}

func (k Key) newCipher() cipher.AEAD {
	block, err := aes.NewCipher(k.deriveKey("seal"))
	if err == nil {
		var sealer cipher.AEAD
		if sealer, err = cipher.NewGCM(block); err == nil {
			return sealer
		}
	}
	panic(err) // impossible for a key of this length
}

// associatedData returns the authenticated data. The header has a fixed length, so different pairs produce different
// bytes.
func associatedData(header []byte, place string) []byte {
	return append(bytes.Clone(header), place...)
}
