package localfile

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// maxFrontMatter bounds what is read as the head of a document.
const maxFrontMatter = 64 << 10

// FrontMatter takes the YAML head off a Markdown document. Without a readable one, head is
// nil and the body is the whole document.
func FrontMatter(content []byte) (head map[string]any, body string) {
	content = bytes.TrimPrefix(content, []byte("\xef\xbb\xbf"))
	text := strings.ToValidUTF8(strings.ReplaceAll(string(content), "\r\n", "\n"), "\uFFFD")
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return nil, text
	}
	yamlText, after, ok := strings.Cut("\n"+rest, "\n---\n")
	if !ok {
		if yamlText, ok = strings.CutSuffix("\n"+rest, "\n---"); !ok {
			return nil, text
		}
	}
	var raw map[string]any
	if len(yamlText) > maxFrontMatter || yaml.Unmarshal([]byte(yamlText), &raw) != nil || raw == nil {
		return nil, text
	}
	return plainYAML(raw, 8).(map[string]any), strings.TrimPrefix(after, "\n")
}

// plainYAML converts a YAML value to one that JSON can represent.
func plainYAML(v any, depth int) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, inner := range v {
			if depth > 0 {
				out[name] = plainYAML(inner, depth-1)
			}
		}
		return out
	case map[any]any:
		out := map[string]any{}
		for name, inner := range v {
			if depth > 0 {
				out[fmt.Sprint(name)] = plainYAML(inner, depth-1)
			}
		}
		return out
	case []any:
		out := []any{}
		for _, inner := range v {
			if depth > 0 {
				out = append(out, plainYAML(inner, depth-1))
			}
		}
		return out
	case time.Time:
		return v.Format(time.RFC3339)
	case float64:
		if v != v || v-v != 0 { // not a number, or infinite
			return fmt.Sprint(v)
		}
		return v
	case string, bool, int, nil:
		return v
	default:
		return fmt.Sprint(v)
	}
}

// HeadText is a text of a document's head; empty when it has none of that name.
func HeadText(head map[string]any, name string) string {
	switch v := head[name].(type) {
	case string:
		return v
	case nil, map[string]any, []any:
		return ""
	default:
		return fmt.Sprint(v)
	}
}
