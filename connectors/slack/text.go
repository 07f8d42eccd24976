package slack

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// attachmentText returns what an attachment shows, a line for each part. The fallback is for clients that show
// nothing else.
func attachmentText(raw jsontext.Value) string {
	var w struct {
		Pretext  string           `json:"pretext"`
		Author   string           `json:"author_name"`
		Title    string           `json:"title"`
		Text     string           `json:"text"`
		Fallback string           `json:"fallback"`
		Blocks   []jsontext.Value `json:"blocks"`
		Fields   []struct {
			Title string `json:"title"`
			Value string `json:"value"`
		} `json:"fields"`
	}
	if json.Unmarshal(raw, &w) != nil {
		return ""
	}
	lines := []string{w.Pretext, w.Author, w.Title, w.Text}
	for _, f := range w.Fields {
		lines = append(lines, strings.Trim(f.Title+": "+f.Value, ": "))
	}
	for _, block := range w.Blocks {
		lines = append(lines, textOfBlock(block))
	}
	if text := joinLines(lines); text != "" {
		return text
	}
	return w.Fallback
}

// textOfBlock returns all texts of a block, in order.
func textOfBlock(raw jsontext.Value) string {
	var w struct {
		Type     string           `json:"type"`
		Text     jsontext.Value   `json:"text"`
		Title    jsontext.Value   `json:"title"`
		AltText  string           `json:"alt_text"`
		Name     string           `json:"name"`    // of an emoji
		User     string           `json:"user_id"` // of a mention
		URL      string           `json:"url"`
		Fields   []jsontext.Value `json:"fields"`
		Elements []jsontext.Value `json:"elements"`
		Rows     []jsontext.Value `json:"rows"`
	}
	if raw.Kind() == '"' {
		var text string
		_ = json.Unmarshal(raw, &text) // it is a text
		return text
	}
	if raw.Kind() == '[' { // a row of a table
		var cells []jsontext.Value
		_ = json.Unmarshal(raw, &cells) // it is an array
		return joinTexts(cells, " ")
	}
	if json.Unmarshal(raw, &w) != nil {
		return ""
	}
	switch w.Type {
	case "emoji":
		return ":" + w.Name + ":"
	case "user":
		return "<@" + w.User + ">"
	case "link":
		if w.Text.Kind() != '"' {
			return w.URL
		}
	}
	between := "\n"
	if strings.HasPrefix(w.Type, "rich_text_") && w.Type != "rich_text_list" {
		between = "" // its elements are parts of one line
	}
	return joinLines([]string{textOfBlock(w.Title), textOfBlock(w.Text), w.AltText, joinTexts(w.Fields, "\n"),
		joinTexts(w.Elements, between), joinTexts(w.Rows, "\n")})
}

func joinTexts(parts []jsontext.Value, between string) string {
	var texts []string
	for _, part := range parts {
		if text := textOfBlock(part); text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, between)
}

func joinLines(lines []string) string {
	var kept []string
	for _, line := range lines {
		if line != "" {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

// isTypedRichText reports whether blocks are typed text, which the message text repeats.
func isTypedRichText(blocks []jsontext.Value) bool {
	for _, raw := range blocks {
		var w struct {
			Type string `json:"type"`
		}
		if json.Unmarshal(raw, &w) != nil || w.Type != "rich_text" {
			return false
		}
	}
	return true
}
