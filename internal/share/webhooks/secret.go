package webhooks

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/credential"
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

// Seal encrypts the secret of a webhook.
func Seal(key credential.Key, webhookID, secret string) []byte {
	return key.Seal(secretPlace(webhookID), []byte(secret))
}

func secretPlace(webhookID string) string { return "webhook/" + webhookID }

// openSecret returns the bytes that sign.
func openSecret(key credential.Key, webhookID string, sealed []byte) ([]byte, error) {
	text, err := key.Open(secretPlace(webhookID), sealed)
	if err != nil {
		return nil, err
	}
	return base64.StdEncoding.DecodeString(strings.TrimPrefix(string(text), secretPrefix))
}

// sign returns the signature of a delivery.
func sign(secret []byte, id string, at time.Time, body []byte) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(id + "." + strconv.FormatInt(at.Unix(), 10) + "."))
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// messageID returns the id of a delivery. Equal content at the same place has the same id, so that a receiver can
// recognise a repetition. It reveals nothing of the content.
func messageID(secret []byte, parts ...string) string {
	mac := hmac.New(sha256.New, secret)
	for _, p := range parts {
		mac.Write([]byte(strconv.Itoa(len(p)) + ":" + p))
	}
	return "msg_" + base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:18])
}
