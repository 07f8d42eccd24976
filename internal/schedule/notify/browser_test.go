package notify

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math/big"
	"net/http"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// browser is the receiving side of web push.
type browser struct {
	private *ecdh.PrivateKey
	auth    []byte
}

func newBrowser(t *testing.T) *browser {
	private, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{private, make([]byte, 16)}
	_, _ = rand.Read(b.auth)
	return b
}

func (b *browser) target(id, endpoint string) store.PushTarget {
	return store.PushTarget{ID: id, Kind: store.TargetWebPush, Endpoint: endpoint,
		P256DH: encodeBase64(b.private.PublicKey().Bytes()), Auth: encodeBase64(b.auth)}
}

// read decrypts a body as RFC 8291 describes it.
func (b *browser) read(body []byte) ([]byte, error) {
	if len(body) < 21 || len(body) < 21+int(body[20]) {
		return nil, errors.New("no header")
	}
	salt, size, sender := body[:16], binary.BigEndian.Uint32(body[16:20]), body[21:21+int(body[20])]
	text := body[21+int(body[20]):]
	if int(size) < len(text) {
		return nil, errors.New("more than one record")
	}
	theirs, err := ecdh.P256().NewPublicKey(sender)
	if err != nil {
		return nil, err
	}
	shared, err := b.private.ECDH(theirs)
	if err != nil {
		return nil, err
	}
	expand := func(secret, salt []byte, info string, n int) []byte {
		key, hkdfErr := hkdf.Key(sha256.New, secret, salt, info, n)
		err = errors.Join(err, hkdfErr)
		return key
	}
	input := expand(shared, b.auth, "WebPush: info\x00"+string(b.private.PublicKey().Bytes())+string(sender), 32)
	key, nonce := expand(input, salt, "Content-Encoding: aes128gcm\x00", 16),
		expand(input, salt, "Content-Encoding: nonce\x00", 12)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	opener, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	plain, err := opener.Open(nil, nonce, text, nil)
	if err != nil {
		return nil, err
	}
	message, _, found := strings.Cut(string(plain), "\x02\x00")
	if !found && !strings.HasSuffix(string(plain), "\x02") {
		return nil, errors.New("no end of the record")
	}
	return []byte(strings.TrimSuffix(message, "\x02")), nil
}

// token checks the sender's signature and returns its claims.
func token(t *testing.T, h http.Header, public string) (claims struct{ Aud, Sub string }) {
	t.Helper()
	parts := strings.FieldsFunc(strings.TrimPrefix(h.Get("Authorization"), "vapid "),
		func(c rune) bool { return c == ',' || c == ' ' })
	if len(parts) != 2 || parts[1] != "k="+public {
		t.Fatalf("authorization = %v", parts)
	}
	jwt := strings.Split(strings.TrimPrefix(parts[0], "t="), ".")
	signature, err := decodeBase64(jwt[2])
	if err != nil || len(signature) != 64 {
		t.Fatalf("signature: %v", err)
	}
	point, err := decodeBase64(public)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(jwt[0] + "." + jwt[1]))
	if !ecdsa.Verify(key, sum[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])) {
		t.Error("the signature is not of this key")
	}
	raw, err := decodeBase64(jwt[1])
	if err == nil {
		err = json.Unmarshal(raw, &claims)
	}
	if err != nil {
		t.Fatal(err)
	}
	return claims
}
