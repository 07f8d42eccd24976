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

// grokMessage is a message to Grok, or its answer.
type grokMessage struct {
	ID          string   `json:"id"`
	ChatID      string   `json:"chat_id"`
	Sender      string   `json:"sender"`
	CreatedAt   string   `json:"created_at"`
	Text        string   `json:"text,omitzero"`
	Attachments []string `json:"attachments,omitempty"`
}

// readGrokConversations reads conversations with Grok. Their messages have no ids in the archive.
func (a *archiveReader) readGrokConversations(ctx context.Context, m *localarchive.Member) error {
	return a.eachElement(ctx, m, "grok_messages", func(element jsontext.Value) bool {
		var s struct {
			Item struct {
				ChatID    textOrNumber `json:"chatId"`
				CreatedAt string       `json:"createdAt"`
				Message   string       `json:"message"`
				Sender    struct {
					Name     string `json:"name"`
					Original string `json:"originalName"`
				} `json:"sender"`
				Attachments []struct {
					Name string `json:"fileName"`
				} `json:"attachments"`
			} `json:"grokChatItem"`
		}
		if json.Unmarshal(element, &s, lenientDecoding) != nil || s.Item.ChatID == "" {
			return false
		}
		rec := grokMessage{ChatID: string(s.Item.ChatID), Sender: s.Item.Sender.Original,
			CreatedAt: parseExportTime(s.Item.CreatedAt),
			Text:      s.Item.Message}
		if rec.Sender == "" {
			rec.Sender = s.Item.Sender.Name
		}
		for _, file := range s.Item.Attachments {
			rec.Attachments = append(rec.Attachments, file.Name)
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
