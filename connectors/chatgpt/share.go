package chatgpt

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// wireShare is a shared conversation, as the site and its export have it.
type wireShare struct {
	ID             string  `json:"id"`
	ConversationID *string `json:"conversation_id"`
	URL            *string `json:"share_url"`
	Title          *string `json:"title"`
	CreateTime     moment  `json:"create_time"`
	Anonymous      *bool   `json:"is_anonymous"`
	Public         *bool   `json:"is_public"`
	Highlighted    *string `json:"highlighted_text"`
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

// share maps one share. Its address follows from its id where it is not told.
func share(raw jsontext.Value) (string, connectorkit.Record) {
	var s wireShare
	if err := decode(raw, &s); err != nil || s.ID == "" {
		return "", connectorkit.Unreadable(valid(s.ID), err)
	}
	if s.URL == nil {
		url := "https://chatgpt.com/share/" + s.ID
		s.URL = &url
	}
	return valid(s.ID), connectorkit.Upsert(shareRecord{
		ID: valid(s.ID), ConversationID: clean(s.ConversationID), URL: clean(s.URL), Title: clean(s.Title), CreatedAt: s.CreateTime.text(),
		Anonymous: s.Anonymous, Public: s.Public, Highlighted: clean(s.Highlighted),
	})
}
