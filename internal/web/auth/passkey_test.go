package auth_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// softKey is a passkey of localhost in memory.
type softKey struct {
	*bed
	key    *ecdsa.PrivateKey
	id     []byte
	handle []byte
	uses   uint32
}

// newSoftKey plants a passkey of the owner's.
func newSoftKey(b *bed) *softKey {
	b.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	point, err := key.PublicKey.Bytes()
	if err != nil {
		b.Fatal(err)
	}
	public := append([]byte{0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, 32}, point[1:33]...) // COSE: EC2, ES256, P-256
	public = append(append(public, 0x22, 0x58, 32), point[33:]...)
	k := &softKey{bed: b, key: key, id: []byte("a-passkey-in-memory")}
	kept, err := json.Marshal(webauthn.Credential{ID: k.id, PublicKey: public,
		Flags: webauthn.CredentialFlags{UserPresent: true, UserVerified: true}})
	if err == nil {
		err = b.st.CreatePasskey(b.Context(), store.Passkey{ID: "pk_1", Host: "localhost", Label: "Memory", Credential: kept,
			CreatedAt: b.now()})
	}
	if err == nil {
		k.handle, err = b.st.InitSetting(b.Context(), "owner_passkey_handle", []byte("handle-of-the-owner"), b.now())
	}
	if err != nil {
		b.Fatal(err)
	}
	return k
}

// call sends JSON as the page of an origin does, or as a program that writes the same headers.
func (b *bed) call(path, origin string, body any) (int, []byte) {
	b.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		b.Fatal(err)
	}
	q, err := http.NewRequestWithContext(b.Context(), http.MethodPost, b.url+path, bytes.NewReader(text))
	if err != nil {
		b.Fatal(err)
	}
	q.Host = strings.TrimPrefix(strings.TrimPrefix(origin, "https://"), "http://")
	q.Header = http.Header{"Content-Type": {"application/json"}, "Origin": {origin}, "Sec-Fetch-Site": {"same-origin"}}
	if b.cookie != "" {
		q.Header.Set("Cookie", b.cookie)
	}
	res, err := http.DefaultClient.Do(q)
	if err != nil {
		b.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		b.Fatal(err)
	}
	return res.StatusCode, answer
}

type begun struct {
	PublicKey struct {
		Challenge string `json:"challenge"`
	} `json:"publicKey"`
	Ceremony string `json:"ceremony"`
}

// begin asks for a challenge.
func (b *bed) begin(origin string) (c begun, status int) {
	b.Helper()
	status, body := b.call("/passkey/sign_in/begin", origin, nil)
	if status == http.StatusOK {
		if err := json.Unmarshal(body, &c); err != nil {
			b.Fatal(err)
		}
	}
	return c, status
}

// sign answers a challenge for an origin.
func (k *softKey) sign(c begun, origin string) map[string]any {
	k.Helper()
	encode := base64.RawURLEncoding.EncodeToString
	client, err := json.Marshal(map[string]any{"type": "webauthn.get", "challenge": c.PublicKey.Challenge,
		"origin": origin, "crossOrigin": false})
	if err != nil {
		k.Fatal(err)
	}
	host := sha256.Sum256([]byte("localhost"))
	k.uses++
	data := binary.BigEndian.AppendUint32(append(host[:], 0x05), k.uses)
	clientSum := sha256.Sum256(client)
	sum := sha256.Sum256(append(bytes.Clone(data), clientSum[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, k.key, sum[:])
	if err != nil {
		k.Fatal(err)
	}
	return map[string]any{"ceremony": c.Ceremony, "credential": map[string]any{"id": encode(k.id), "rawId": encode(k.id),
		"type": "public-key",
		"response": map[string]any{"authenticatorData": encode(data), "clientDataJSON": encode(client),
			"signature": encode(signature), "userHandle": encode(k.handle)}}}
}

// No stranger keeps the owner's passkey out: what was answered wrongly counts for nothing, however often
// it was tried. What was answered rightly counts once, and only for a page of this server's own port.
func TestPasskeyAmongStrangers(t *testing.T) {
	b := newBed(t)
	k := newSoftKey(b)
	ours := strings.Replace(b.url, "127.0.0.1", "localhost", 1)
	junk, refused := 60, 0
	c, status := b.begin(ours)
	if status != http.StatusOK {
		t.Fatalf("begin: %d", status)
	}
	for range junk {
		c, _ := b.begin(ours)
		answer := k.sign(c, ours)
		answer["credential"].(map[string]any)["response"].(map[string]any)["signature"] = "AAAA"
		if status, _ := b.call("/passkey/sign_in/finish", ours, answer); status == http.StatusUnauthorized {
			refused++
		}
	}
	if refused != junk || b.auth.Spent() != 0 {
		t.Errorf("%d of %d wrong answers were refused, and %d count", refused, junk, b.auth.Spent())
	}
	answer := k.sign(c, ours)
	b.cookie = "pdpp_session=of-an-ended-session; pdpp_browser=one-that-was-here" // looked up in the same line
	if status, body := b.call("/passkey/sign_in/finish", ours, answer); status != http.StatusOK {
		t.Errorf("the owner's passkey: %d %s", status, body)
	}
	if status, _ := b.call("/passkey/sign_in/finish", ours, answer); status != http.StatusUnauthorized {
		t.Errorf("the same answer again: %d", status)
	}
	for _, origin := range []string{"http://localhost:9999", "https://localhost", "http://localhost", "https" +
		strings.TrimPrefix(ours, "http")} {
		if c, status := b.begin(origin); status == http.StatusOK {
			if status, _ := b.call("/passkey/sign_in/finish", origin, k.sign(c, origin)); status == http.StatusOK {
				t.Errorf("a page of %s signed in", origin)
			}
		}
	}
}
