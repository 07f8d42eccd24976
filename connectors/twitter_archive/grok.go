package twitterarchive

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/localarchive"
)

// grokMessage is what was written to Grok, or what it answered.
type grokMessage struct {
	ID          string   `json:"id"`
	ChatID      string   `json:"chat_id"`
	Sender      string   `json:"sender"`
	CreatedAt   string   `json:"created_at"`
	Text        string   `json:"text,omitzero"`
	Attachments []string `json:"attachments,omitempty"`
}

// readGrok reads conversations with Grok. Their messages have no ids in the archive.
func readGrok(ctx context.Context, m *localarchive.Member) error {
	return elements(ctx, m, func(element jsontext.Value) bool {
		var s struct {
			Item struct {
				ChatID    text   `json:"chatId"`
				CreatedAt string `json:"createdAt"`
				Message   string `json:"message"`
				Sender    struct {
					Name     string `json:"name"`
					Original string `json:"originalName"`
				} `json:"sender"`
				Attachments []struct {
					Name string `json:"fileName"`
				} `json:"attachments"`
			} `json:"grokChatItem"`
		}
		if json.Unmarshal(element, &s, lenient) != nil || s.Item.ChatID == "" {
			return false
		}
		rec := grokMessage{ChatID: string(s.Item.ChatID), Sender: s.Item.Sender.Original, CreatedAt: timeOf(s.Item.CreatedAt),
			Text: s.Item.Message}
		if rec.Sender == "" {
			rec.Sender = s.Item.Sender.Name
		}
		for _, a := range s.Item.Attachments {
			rec.Attachments = append(rec.Attachments, a.Name)
		}
		sum := sha256.Sum256([]byte(rec.ChatID + "\x00" + rec.CreatedAt + "\x00" + rec.Sender + "\x00" + rec.Text))
		rec.ID = hex.EncodeToString(sum[:16])
		if rec.CreatedAt == "" {
			return false
		}
		m.Emit("grok_messages", connectorkit.Upsert(rec))
		return true
	})
}
