package chatgpt

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// maxContent bounds the words of one message; what is longer is cut and says so.
const (
	maxContent = 1 << 20
	cutMarker  = "\n[cut: the message is longer than 1 MiB]"
)

// content is what a message says. Every kind of content fills some of the members; the
// whole is kept raw, so that a kind that nobody knows yet costs nothing.
type content struct {
	Type string
	raw  jsontext.Value
}

func (c *content) UnmarshalJSON(raw []byte) error {
	*c = content{}
	var kind struct {
		Type jsontext.Value `json:"content_type"`
	}
	if jsontext.Value(raw).Kind() != '{' || decode(raw, &kind) != nil {
		return nil
	}
	_ = decode(kind.Type, &c.Type) // no text is no kind
	c.raw = jsontext.Value(raw).Clone()
	return nil
}

// words are the text of a message in reading order, and the files that it shows.
type words struct {
	parts []string
	files []string
}

func (w *words) add(texts ...string) {
	for _, t := range texts {
		if t != "" {
			w.parts = append(w.parts, t)
		}
	}
}

// text joins the parts within the bound; nil when there is none.
func (w *words) text() *string {
	if len(w.parts) == 0 {
		return nil
	}
	s := strings.ToValidUTF8(strings.Join(w.parts, "\n"), "\uFFFD")
	if len(s) > maxContent {
		s = strings.ToValidUTF8(s[:maxContent-len(cutMarker)], "") // a character that was cut through goes
		s += cutMarker
	}
	return &s
}

// read gives the words of the content. Members are read one by one: one of another type
// than expected is left out alone.
func (c *content) read() words {
	var w words
	members := map[string]jsontext.Value{}
	if len(c.raw) == 0 || decode(c.raw, &members) != nil {
		return w
	}
	text := func(names ...string) {
		for _, name := range names {
			var s string
			if v := members[name]; v.Kind() == '"' && decode(v, &s) == nil {
				w.add(s)
			}
		}
	}
	switch c.Type {
	case "thoughts":
		var list []struct {
			Summary string `json:"summary"`
			Content string `json:"content"`
		}
		if decode(members["thoughts"], &list) == nil {
			for _, t := range list {
				w.add(t.Summary, t.Content)
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
		w.readParts(members["parts"])
		text("text")
	}
	return w
}

// readParts reads texts, pictures and sound in their order.
func (w *words) readParts(raw jsontext.Value) {
	var parts []jsontext.Value
	if raw.Kind() != '[' || decode(raw, &parts) != nil {
		return
	}
	for _, p := range parts {
		var s string
		if p.Kind() == '"' && decode(p, &s) == nil {
			w.add(s)
			continue
		}
		var object struct {
			Asset jsontext.Value `json:"asset_pointer"`
			Text  jsontext.Value `json:"text"`
		}
		if p.Kind() != '{' || decode(p, &object) != nil {
			continue
		}
		if object.Text.Kind() == '"' && decode(object.Text, &s) == nil {
			w.add(s)
		}
		if object.Asset.Kind() == '"' && decode(object.Asset, &s) == nil && s != "" {
			w.files = append(w.files, fileID(s))
		}
	}
}

// fileID is the id in a pointer such as file-service://file-abc or sediment://file_abc.
func fileID(pointer string) string {
	if _, id, ok := strings.Cut(pointer, "://"); ok {
		return id
	}
	return pointer
}
