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

	"github.com/pdpp-go/pdpp/internal/keep/credential"
	"github.com/pdpp-go/pdpp/internal/keep/store"
)

// Headers of a webhook. The signature is the HMAC-SHA256 of the body under the
// target's secret, as sha256=<hex>; the key is the attention's id, the same for
// every repeat.
const (
	SignatureHeader   = "Pdpp-Signature"
	IdempotencyHeader = "Idempotency-Key"
)

// SealSecret seals a webhook's secret, or the access token of an ntfy topic,
// for the target of that id.
func SealSecret(key credential.Key, targetID string, secret credential.Secret) []byte {
	return key.Seal(targetPlace(targetID), []byte(secret.Reveal()))
}

func targetPlace(id string) string { return "push_target/" + id }

// secret opens the target's secret; empty when it has none.
func (s *Sender) secret(t store.PushTarget) ([]byte, error) {
	if len(t.Sealed) == 0 {
		return nil, nil
	}
	return s.Key.Open(targetPlace(t.ID), t.Sealed)
}

// A push is not sent unsigned, or to a private topic without its token, because
// a key is missing.
var secretUnreadable = result{word: "secret_unreadable", ours: true}

func (s *Sender) webhook(ctx context.Context, t store.PushTarget, m Message) result {
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

var ntfyPriority = map[loudness]string{loud: "4", plain: "3", soft: "2"}

// ntfy publishes to a topic. Its sequence id makes a repeat replace the first.
func (s *Sender) ntfy(ctx context.Context, t store.PushTarget, m Message) result {
	token, err := s.secret(t)
	if err != nil {
		return secretUnreadable
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.Endpoint, strings.NewReader(m.said()))
	if err != nil {
		return result{word: "invalid_address"}
	}
	req.Header.Set("Content-Type", "text/plain; charset=utf-8")
	req.Header.Set(IdempotencyHeader, headerText(m.AttentionID))
	req.Header.Set("X-Sequence-ID", m.collapse())
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

// maxHeader bounds a header, in runes.
const maxHeader = 400

// headerText is text as a header may carry it: anything but plain ASCII is
// encoded as mail does it, which ntfy understands.
func headerText(words string) string {
	return mime.BEncoding.Encode("utf-8", text.Cut(text.Line(words), maxHeader))
}
