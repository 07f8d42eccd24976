package notify

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"mime"
	"net/http"
	"strings"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// Headers of a webhook. The signature is the HMAC-SHA256 of the body under the target's secret, as sha256=<hex>. The
// key is the attention's id, equal for every repeat.
const (
	SignatureHeader   = "Pdpp-Signature"
	IdempotencyHeader = "Idempotency-Key"
)

// SealSecret encrypts the target's secret: a webhook's key or an ntfy access token.
func SealSecret(key credential.Key, targetID string, secret credential.Secret) []byte {
	return key.Seal(targetPlace(targetID), []byte(secret.Reveal()))
}

func targetPlace(id string) string { return "push_target/" + id }

// secret decrypts the target's secret; empty if it has none.
func (s *Sender) secret(t store.PushTarget) ([]byte, error) {
	if len(t.Sealed) == 0 {
		return nil, nil
	}
	return s.Key.Open(targetPlace(t.ID), t.Sealed)
}

// secretUnreadable is the result if the key is missing: nothing is sent unsigned or without the topic's token.
var secretUnreadable = result{word: "secret_unreadable", ours: true}

func (s *Sender) webhook(ctx context.Context, t store.PushTarget, m PushMessage) result {
	secret, err := s.secret(t)
	if err != nil {
		return secretUnreadable
	}
	body := m.json()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.Endpoint, bytes.NewReader(body))
	if err != nil {
		return result{word: "invalid_address"}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(IdempotencyHeader, headerText(m.AttentionID))
	if len(secret) > 0 {
		mac := hmac.New(sha256.New, secret)
		mac.Write(body)
		req.Header.Set(SignatureHeader, "sha256="+hex.EncodeToString(mac.Sum(nil)))
	}
	return s.post(req)
}

var ntfyPriority = map[loudness]string{highLoudness: "4", plainLoudness: "3", lowLoudness: "2"}

// ntfy publishes to a topic. The sequence id makes a repeat replace the first.
func (s *Sender) ntfy(ctx context.Context, t store.PushTarget, m PushMessage) result {
	token, err := s.secret(t)
	if err != nil {
		return secretUnreadable
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.Endpoint, strings.NewReader(m.body()))
	if err != nil {
		return result{word: "invalid_address"}
	}
	req.Header.Set("Content-Type", "text/plain; charset=utf-8")
	req.Header.Set(IdempotencyHeader, headerText(m.AttentionID))
	req.Header.Set("X-Sequence-ID", m.collapseKey())
	req.Header.Set("Title", headerText(m.DisplayName))
	req.Header.Set("Priority", ntfyPriority[m.loudness()])
	req.Header.Set("Tags", headerText(strings.ReplaceAll(m.Kind, ",", "_")))
	if s.Base != "" {
		req.Header.Set("Click", m.Link)
	}
	if len(token) > 0 {
		req.Header.Set("Authorization", "Bearer "+headerText(string(token)))
	}
	return s.post(req)
}

// maxHeader limits a header, in runes.
const maxHeader = 400

// headerText encodes text for a header: non-ASCII text as in mail, which ntfy understands.
func headerText(words string) string {
	return mime.BEncoding.Encode("utf-8", text.Cut(text.Line(words), maxHeader))
}
