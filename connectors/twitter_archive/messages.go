package twitterarchive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/localarchive"
)

type messageRecord struct {
	ID             string       `json:"id"`
	ConversationID string       `json:"conversation_id,omitzero"`
	SenderID       textOrNumber `json:"sender_id,omitzero"`
	RecipientID    textOrNumber `json:"recipient_id,omitzero"`
	CreatedAt      string       `json:"created_at"`
	Text           string       `json:"text,omitzero"`

	URLs      []tweetLink       `json:"urls,omitempty"`
	MediaURLs []string          `json:"media_urls,omitempty"`
	Reactions []messageReaction `json:"reactions,omitempty"`
	Edits     []messageEdit     `json:"edits,omitempty"`
}

// messageReaction is a person's reaction to a message.
type messageReaction struct {
	SenderID  textOrNumber `json:"sender_id,omitzero"`
	Reaction  string       `json:"reaction"`
	CreatedAt string       `json:"created_at,omitzero"`
}

// messageEdit is a text that a message had before.
type messageEdit struct {
	Text      string `json:"text"`
	CreatedAt string `json:"created_at,omitzero"`
}

// messagePlace is a place in a file of conversations.
type messagePlace struct {
	Events int64 `json:"e"` // of all conversations, that are read
}

// conversations reads a file of conversations event by event, because one conversation may have a million.
type conversations struct {
	ctx  context.Context
	m    *localarchive.Member
	dec  *jsontext.Decoder
	from int64
	n    int64
}

func readMessages(ctx context.Context, m *localarchive.Member) error {
	in, err := m.Open(ctx, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	var from messagePlace
	m.State(&from)
	document, err := localarchive.JSONDocument(ctx, in)
	if err != nil {
		return err
	}
	c := &conversations{ctx: ctx, m: m, from: from.Events, dec: jsontext.NewDecoder(document, lenientDecoding)}
	if c.dec.PeekKind() != '[' {
		return fmt.Errorf("%w: it is not a list of conversations", localarchive.ErrDamaged)
	}
	return c.readArray(func() error {
		return c.readObject(func(name string) error {
			if name != "dmConversation" {
				return c.dec.SkipValue()
			}
			return c.conversation()
		})
	})
}

func (c *conversations) conversation() error {
	id := ""
	return c.readObject(func(name string) error {
		switch name {
		case "conversationId":
			t, err := c.dec.ReadValue()
			if err != nil {
				return err
			}
			var own textOrNumber
			_ = own.UnmarshalJSON(t) // what is no text names no conversation
			id = string(own)
			return nil
		case "messages":
			return c.readArray(func() error { return c.readEvent(id) })
		}
		return c.dec.SkipValue()
	})
}

// readEvent reads one event of a conversation. Only messages are collected.
func (c *conversations) readEvent(conversation string) error {
	element, err := c.dec.ReadValue()
	if err != nil {
		return err
	}
	n := c.n
	if c.n++; n < c.from {
		return nil
	}
	var e map[string]jsontext.Value
	var s struct {
		ID          textOrNumber `json:"id"`
		Text        string       `json:"text"`
		CreatedAt   string       `json:"createdAt"`
		SenderID    textOrNumber `json:"senderId"`
		RecipientID textOrNumber `json:"recipientId"`
		MediaURLs   []string     `json:"mediaUrls"`
		URLs        []struct {
			URL      string `json:"url"`
			Expanded string `json:"expanded"`
		} `json:"urls"`
		Reactions []struct {
			SenderID  textOrNumber `json:"senderId"`
			Key       string       `json:"reactionKey"`
			CreatedAt string       `json:"createdAt"`
		} `json:"reactions"`
		Edits []struct {
			Text   string            `json:"editedText"`
			Second textOrNumberCount `json:"createdAtSec"`
		} `json:"editHistory"`
	}
	switch err := json.Unmarshal(element, &e, lenientDecoding); {
	case err != nil || len(e) == 0:
		c.m.Row(n, int64(len(element)))
	case e["messageCreate"] == nil:
		for name := range e {
			c.m.Skip(eventKindName(name))
			break
		}
	default:
		err := json.Unmarshal(e["messageCreate"], &s, lenientDecoding)
		rec := messageRecord{ID: string(s.ID), ConversationID: conversation, SenderID: s.SenderID, RecipientID: s.RecipientID,
			CreatedAt: parseExportTime(s.CreatedAt), MediaURLs: s.MediaURLs}
		for _, u := range s.URLs {
			rec.URLs = append(rec.URLs, tweetLink{u.URL, u.Expanded})
		}
		for _, r := range s.Reactions {
			rec.Reactions = append(rec.Reactions, messageReaction{r.SenderID, r.Key, parseExportTime(r.CreatedAt)})
		}
		for _, e := range s.Edits {
			one := messageEdit{Text: htmlUnescaper.Replace(e.Text)}
			if e.Second.n != nil && *e.Second.n > 0 && *e.Second.n < 253402300799 {
				one.CreatedAt = time.Unix(*e.Second.n, 0).UTC().Format(time.RFC3339)
			}
			rec.Edits = append(rec.Edits, one)
		}
		rec.Text = resolveLinks(s.Text, rec.URLs)
		if err != nil || rec.ID == "" || rec.CreatedAt == "" {
			c.m.Row(n, int64(len(element)))
			break
		}
		c.m.Emit("direct_messages", connectorkit.Upsert(rec))
	}
	return c.m.Place(c.ctx, func() any { return messagePlace{n + 1} })
}

// eventKindName names an event that is not collected.
func eventKindName(name string) string {
	switch name {
	case "welcomeMessageCreate", "joinConversation", "participantsJoin", "participantsLeave", "conversationNameUpdate",
		"reactionCreate", "conversationAvatarUpdate":
		return name
	}
	return "other events"
}

func (c *conversations) readArray(each func() error) error {
	if c.dec.PeekKind() != '[' {
		return c.dec.SkipValue()
	}
	if _, err := c.dec.ReadToken(); err != nil {
		return c.damageError(err)
	}
	for c.dec.PeekKind() != ']' {
		if err := each(); err != nil {
			return c.damageError(err)
		}
	}
	_, err := c.dec.ReadToken()
	return c.damageError(err)
}

func (c *conversations) readObject(member func(name string) error) error {
	if c.dec.PeekKind() != '{' {
		return c.dec.SkipValue()
	}
	if _, err := c.dec.ReadToken(); err != nil {
		return c.damageError(err)
	}
	for c.dec.PeekKind() != '}' {
		t, err := c.dec.ReadToken()
		if err != nil {
			return c.damageError(err)
		}
		if err := member(t.String()); err != nil {
			return c.damageError(err)
		}
	}
	_, err := c.dec.ReadToken()
	return c.damageError(err)
}

// damageError marks a document that is truncated or invalid.
func (c *conversations) damageError(err error) error {
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: %w", localarchive.ErrDamaged, err)
	}
	return err
}
