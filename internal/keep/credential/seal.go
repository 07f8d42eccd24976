package credential

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/hex"
	"net/http"

	"github.com/pdpp-go/pdpp/internal/ops/fault"
)

// What is sealed is: a version, the fingerprint of the key, a random nonce, and
// the text under AES-256-GCM. Version, fingerprint and the place that it was
// sealed for are authenticated with it.
const (
	version    = 1
	headerSize = 1 + markSize
	nonceSize  = 12
)

// Seal closes a text for one place, such as a connection's id. Only Open with
// the same key and the same place gives it back.
func (k Key) Seal(place string, text []byte) []byte {
	out := append(make([]byte, 0, headerSize+nonceSize+len(text)+16), version)
	out = append(out, k.mark()...)
	out = append(out, make([]byte, nonceSize)...)
	nonce := out[headerSize:]
	_, _ = rand.Read(nonce) // never fails
	return k.cipher().Seal(out, nonce, text, bound(out[:headerSize], place))
}

// Open gives the text back. The error is an *fault.Fault: ErrWrongKey when another
// key sealed it, else ErrDamaged.
func (k Key) Open(place string, sealed []byte) ([]byte, error) {
	if len(sealed) < headerSize+nonceSize || sealed[0] != version {
		return nil, damaged()
	}
	header, nonce, text := sealed[:headerSize], sealed[headerSize:headerSize+nonceSize], sealed[headerSize+nonceSize:]
	if k.IsZero() || !bytes.Equal(header[1:], k.mark()) {
		with := hex.EncodeToString(header[1:])
		return nil, &fault.Fault{Status: http.StatusBadRequest, Code: CodeWrongKey,
			Message: "it was sealed with key " + with + ", and the key in use is " + k.Fingerprint(),
			Next:    "Put key " + with + " back (secret.key in the home folder, or PDPP_CREDENTIAL_ENCRYPTION_KEY), or enter the credential again."}
	}
	plain, err := k.cipher().Open(nil, nonce, text, bound(header, place))
	if err != nil {
		return nil, damaged()
	}
	return plain, nil
}

func damaged() *fault.Fault {
	return &fault.Fault{Status: http.StatusBadRequest, Code: CodeDamaged, Message: "what is stored is damaged, or belongs to another connection", Next: "Enter the credential again."}
}

func (k Key) cipher() cipher.AEAD {
	block, err := aes.NewCipher(k.derive("seal"))
	if err == nil {
		var sealer cipher.AEAD
		if sealer, err = cipher.NewGCM(block); err == nil {
			return sealer
		}
	}
	panic(err) // only for a key of another length
}

// bound is what a sealed text is tied to; the header has a fixed length, so no
// two pairs give the same bytes.
func bound(header []byte, place string) []byte {
	return append(bytes.Clone(header), place...)
}
