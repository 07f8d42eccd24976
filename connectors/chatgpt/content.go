package chatgpt

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// maxContent bounds the text of one message. Longer text is cut and ends with a marker.
const (
	maxContent       = 1 << 20
	truncationMarker = "\n[cut: the message is longer than 1 MiB]"
)

// messageContent is the content of a message. Every kind of content fills some of the members. The raw value is kept,
// so that unknown kinds are stored too.
type messageContent struct {
	Type string
	raw  jsontext.Value
}

func (c *messageContent) UnmarshalJSON(raw []byte) error {
	*c = messageContent{}
	var kind struct {
		Type jsontext.Value `json:"content_type"`
	}
	if jsontext.Value(raw).Kind() != '{' || decodeLenient(raw, &kind) != nil {
		return nil
	}
	_ = decodeLenient(kind.Type, &c.Type) // no text is no kind
	c.raw = jsontext.Value(raw).Clone()
	return nil
}

// contentText are the text of a message in reading order, and the files that it shows.
type contentText struct {
	parts []string
	files []string
}

func (w *contentText) addTexts(texts ...string) {
	for _, t := range texts {
		if t != "" {
			w.parts = append(w.parts, t)
		}
	}
}

// joinedText joins the parts within the bound; nil when there are none.
func (w *contentText) joinedText() *string {
	if len(w.parts) == 0 {
		return nil
	}
	s := strings.ToValidUTF8(strings.Join(w.parts, "\n"), "\uFFFD")
	if len(s) > maxContent {
		s = strings.ToValidUTF8(s[:maxContent-len(truncationMarker)], "") // a character that was cut through goes
		s += truncationMarker
	}
	return &s
}

// readContentText returns the text of the content. Members are decoded one by one, so that a member of an unexpected
// type is the only one left out.
func (c *messageContent) readContentText() contentText {
	var w contentText
	members := map[string]jsontext.Value{}
	if len(c.raw) == 0 || decodeLenient(c.raw, &members) != nil {
		return w
	}
	text := func(names ...string) {
		for _, name := range names {
			var s string
			if v := members[name]; v.Kind() == '"' && decodeLenient(v, &s) == nil {
				w.addTexts(s)
			}
		}
	}
	switch c.Type {
	case "thoughts":
		var list []struct {
			Summary string `json:"summary"`
			Content string `json:"content"`
		}
		if decodeLenient(members["thoughts"], &list) == nil {
			for _, t := range list {
				w.addTexts(t.Summary, t.Content)
			}
		}
	case "reasoning_recap":
		text("content")
	case "tether_quote":
		text("title", "text", "url")
	case "tether_browsing_display":
		text("result", "summary")
	case "model_editable_context":
		text("model_set_context")
	case "user_editable_context":
		text("user_profile", "user_instructions")
	case "system_error":
		text("name", "text")
	default: // text, multimodal_text, code, execution_output, and what is not known yet
		w.readContentParts(members["parts"])
		text("text")
	}
	return w
}

// readContentParts reads texts, pictures and sound in their order.
func (w *contentText) readContentParts(raw jsontext.Value) {
	var parts []jsontext.Value
	if raw.Kind() != '[' || decodeLenient(raw, &parts) != nil {
		return
	}
	for _, p := range parts {
		var s string
		if p.Kind() == '"' && decodeLenient(p, &s) == nil {
			w.addTexts(s)
			continue
		}
		var object struct {
			Asset jsontext.Value `json:"asset_pointer"`
			Text  jsontext.Value `json:"text"`
		}
		if p.Kind() != '{' || decodeLenient(p, &object) != nil {
			continue
		}
		if object.Text.Kind() == '"' && decodeLenient(object.Text, &s) == nil {
			w.addTexts(s)
		}
		if object.Asset.Kind() == '"' && decodeLenient(object.Asset, &s) == nil && s != "" {
			w.files = append(w.files, fileIDOfPointer(s))
		}
	}
}

// fileIDOfPointer is the id in a pointer such as file-service://file-abc or sediment://file_abc.
func fileIDOfPointer(pointer string) string {
	if _, id, ok := strings.Cut(pointer, "://"); ok {
		return id
	}
	return pointer
}
