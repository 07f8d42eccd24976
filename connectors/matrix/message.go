package matrix

import (
	"context"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// messages are what people say.
type messages struct{ *account }

func (messages) types() []string {
	return []string{"m.room.message", "m.sticker", "m.room.encrypted", "m.room.redaction"}
}

func (messages) edits() bool { return true }

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

// said is the content of a message.
type said struct {
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

// file is the name of what was sent; empty when no file was.
func (s said) file() string {
	switch s.Kind {
	case "m.image", "m.file", "m.audio", "m.video":
		if s.FileName != "" {
			return s.FileName
		}
		return s.Body
	}
	return ""
}

func (m messages) record(_ context.Context, room string, e event) (*connectorkit.Record, error) {
	out := messageRecord{ID: e.ID, Room: room, Sender: e.Sender, Mine: e.Sender == m.user, SentAt: moment(e.SentMS), Encrypted: e.Type == "m.room.encrypted"}
	record := connectorkit.Upsert(&out)
	if out.Encrypted {
		return &record, nil // what it says is not for us
	}
	var c said
	if err := json.Unmarshal(e.Content, &c); err != nil {
		fault := connectorkit.Unreadable(e.ID, err)
		return &fault, nil
	}
	out.ReplyTo = c.Relates.Reply.Event
	if c.Relates.Kind == "m.thread" {
		out.Thread = c.Relates.Event
	}
	if e.new != nil {
		c = said{}
		if err := json.Unmarshal(e.new, &c); err != nil {
			fault := connectorkit.Unreadable(e.ID, err)
			return &fault, nil
		}
		out.EditedAt = moment(e.editedMS)
	}
	out.Kind, out.Text, out.FileName = c.Kind, c.Body, c.file()
	if e.Type == "m.sticker" {
		out.Kind = e.Type
	}
	if c.Form == "org.matrix.custom.html" {
		out.HTML = c.HTML
	}
	return &record, nil
}
