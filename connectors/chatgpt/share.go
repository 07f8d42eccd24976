package chatgpt

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// wireSharedLink is a shared conversation, as the site and its export have it.
type wireSharedLink struct {
	ID             string       `json:"id"`
	ConversationID *string      `json:"conversation_id"`
	URL            *string      `json:"share_url"`
	Title          *string      `json:"title"`
	CreateTime     flexibleTime `json:"create_time"`
	Anonymous      *bool        `json:"is_anonymous"`
	Public         *bool        `json:"is_public"`
	Highlighted    *string      `json:"highlighted_text"`
}

type shareRecord struct {
	ID             string  `json:"id"`
	ConversationID *string `json:"conversation_id"`
	URL            *string `json:"share_url"`
	Title          *string `json:"title"`
	CreatedAt      *string `json:"created_at"`
	Anonymous      *bool   `json:"anonymous"`
	Public         *bool   `json:"is_public"`
	Highlighted    *string `json:"highlighted_text"`
}

// shareFromRow maps one shared link. Its address is derived from its id where the row has none.
func shareFromRow(raw jsontext.Value) (string, connectorkit.Record) {
	var s wireSharedLink
	if err := decodeLenient(raw, &s); err != nil || s.ID == "" {
		return "", connectorkit.Unreadable(validUTF8(s.ID), err)
	}
	if s.URL == nil {
		url := "https://chatgpt.com/share/" + s.ID
		s.URL = &url
	}
	return validUTF8(s.ID), connectorkit.Upsert(shareRecord{
		ID: validUTF8(s.ID), ConversationID: validOrNil(s.ConversationID), URL: validOrNil(s.URL), Title: validOrNil(s.Title),
		CreatedAt: s.CreateTime.recordTime(),
		Anonymous: s.Anonymous, Public: s.Public, Highlighted: validOrNil(s.Highlighted),
	})
}
