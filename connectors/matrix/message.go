package matrix

import (
	"context"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// messageKind collects messages.
type messageKind struct{ *matrixAccount }

func (messageKind) eventTypes() []string {
	return []string{"m.room.message", "m.sticker", "m.room.encrypted", "m.room.redaction"}
}

func (messageKind) appliesEdits() bool { return true }

type messageRecord struct {
	ID        string `json:"id"`
	Room      string `json:"room_id"`
	Sender    string `json:"sender"`
	Mine      bool   `json:"mine"`
	SentAt    string `json:"sent_at"`
	Kind      string `json:"message_type,omitzero"`
	Text      string `json:"text,omitzero"`
	HTML      string `json:"html,omitzero"`
	EditedAt  string `json:"edited_at,omitzero"`
	ReplyTo   string `json:"reply_to,omitzero"`
	Thread    string `json:"thread_id,omitzero"`
	FileName  string `json:"file_name,omitzero"`
	Encrypted bool   `json:"encrypted"`
}

// messageContent is the content of a message.
type messageContent struct {
	Kind     string `json:"msgtype"`
	Body     string `json:"body"`
	Form     string `json:"format"`
	HTML     string `json:"formatted_body"`
	FileName string `json:"filename"`
	URL      string `json:"url"`
	Info     struct {
		MIMEType string `json:"mimetype"`
		Bytes    int64  `json:"size"`
	} `json:"info"`
	Relates struct {
		Kind  string `json:"rel_type"`
		Event string `json:"event_id"`
		Reply struct {
			Event string `json:"event_id"`
		} `json:"m.in_reply_to"`
	} `json:"m.relates_to"`
}

// sentFileName returns the name of a sent file; empty when the message has no file.
func (s messageContent) sentFileName() string {
	switch s.Kind {
	case "m.image", "m.file", "m.audio", "m.video":
		if s.FileName != "" {
			return s.FileName
		}
		return s.Body
	}
	return ""
}

func (m messageKind) recordOf(_ context.Context, room string, e roomEvent) (*connectorkit.Record, error) {
	out := messageRecord{ID: e.ID, Room: room, Sender: e.Sender, Mine: e.Sender == m.user, SentAt: formatMillis(e.SentMS),
		Encrypted: e.Type == "m.room.encrypted"}
	record := connectorkit.Upsert(&out)
	if out.Encrypted {
		return &record, nil // its content is encrypted
	}
	var c messageContent
	if err := json.Unmarshal(e.Content, &c); err != nil {
		fault := connectorkit.Unreadable(e.ID, err)
		return &fault, nil
	}
	out.ReplyTo = c.Relates.Reply.Event
	if c.Relates.Kind == "m.thread" {
		out.Thread = c.Relates.Event
	}
	if e.new != nil {
		c = messageContent{}
		if err := json.Unmarshal(e.new, &c); err != nil {
			fault := connectorkit.Unreadable(e.ID, err)
			return &fault, nil
		}
		out.EditedAt = formatMillis(e.editedMS)
	}
	out.Kind, out.Text, out.FileName = c.Kind, c.Body, c.sentFileName()
	if e.Type == "m.sticker" {
		out.Kind = e.Type
	}
	if c.Form == "org.matrix.custom.html" {
		out.HTML = c.HTML
	}
	return &record, nil
}
