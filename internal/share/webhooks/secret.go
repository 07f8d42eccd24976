package webhooks

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// Headers of a delivery, as the Standard Webhooks specification defines them.
const (
	HeaderID        = "webhook-id"
	HeaderTimestamp = "webhook-timestamp"
	HeaderSignature = "webhook-signature"
)

const secretPrefix = "whsec_"

// NewSecret returns a secret for signatures, in the form that libraries for webhooks read.
func NewSecret() string {
	raw := make([]byte, 32)
	rand.Read(raw)
	return secretPrefix + base64.StdEncoding.EncodeToString(raw)
}

// Overlap is how long a replaced secret signs beside the new one.
const Overlap = 24 * time.Hour

// secrets sign the deliveries of a webhook.
type secrets struct {
	Current  string    `json:"current"`
	Previous string    `json:"previous,omitempty"`
	Until    time.Time `json:"until,omitzero"` // of the previous one
	First    string    `json:"first"`          // of the ids, which do not change with the secret
}

// Seal encrypts the first secret of a webhook.
func Seal(key credential.Key, webhookID, secret string) []byte {
	return secrets{Current: secret, First: secret}.seal(key, webhookID)
}

func (s secrets) seal(key credential.Key, webhookID string) []byte {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // a struct of strings always encodes
	}
	return key.Seal(secretPlace(webhookID), text)
}

// Rotate returns a new secret, and the sealed secrets with it. The one before signs until the overlap ends, or no
// more.
func Rotate(key credential.Key, w store.Webhook, atOnce bool, now time.Time) (secret string, sealed []byte, err error) {
	s, err := openSecrets(key, w.ID, w.Sealed)
	if err != nil {
		return "", nil, err
	}
	s.Previous, s.Until, s.Current = s.Current, now.Add(Overlap), NewSecret()
	if atOnce {
		s.Previous, s.Until = "", time.Time{}
	}
	return s.Current, s.seal(key, w.ID), nil
}

func secretPlace(webhookID string) string { return "webhook/" + webhookID }

func openSecrets(key credential.Key, webhookID string, sealed []byte) (s secrets, err error) {
	text, err := key.Open(secretPlace(webhookID), sealed)
	if err != nil {
		return s, err
	}
	if strings.HasPrefix(string(text), secretPrefix) { // as it was sealed before secrets could be replaced
		return secrets{Current: string(text), First: string(text)}, nil
	}
	return s, json.Unmarshal(text, &s)
}

// bytesOf returns what signs. A secret that is no base64 signs nothing that a receiver accepts.
func bytesOf(secret string) []byte {
	raw, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, secretPrefix))
	return raw
}

// sign returns the signatures of a delivery, one for each secret that is valid.
func (s secrets) sign(id string, at time.Time, body []byte) string {
	valid := []string{s.Current}
	if s.Previous != "" && at.Before(s.Until) {
		valid = append(valid, s.Previous)
	}
	for i, secret := range valid {
		mac := hmac.New(sha256.New, bytesOf(secret))
		mac.Write([]byte(id + "." + strconv.FormatInt(at.Unix(), 10) + "."))
		mac.Write(body)
		valid[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	return strings.Join(valid, " ")
}

// messageID returns the id of a delivery. Equal content at the same place has the same id, so that a receiver can
// recognise a repetition. It reveals nothing of the content.
func (s secrets) messageID(parts ...string) string {
	mac := hmac.New(sha256.New, bytesOf(s.First))
	for _, p := range parts {
		mac.Write([]byte(strconv.Itoa(len(p)) + ":" + p))
	}
	return "msg_" + base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:18])
}
