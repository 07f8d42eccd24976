package records

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"
)

// kind is how a page shows a value of a record.
type kind int

const (
	kindText kind = iota
	kindTime
	kindLink
	kindNothing
	kindJSON
)

// value is one member of a record in readable form. Text comes from a source and is never markup; only web addresses
// become links.
type value struct {
	Name string
	Kind kind
	Text string
	Time time.Time
}

const (
	deepest     = 32      // nesting of JSON that is indented
	longestText = 1 << 16 // bytes of one value on a page
)

// members returns the members of a record in the order of the source. A record that is not an object has one member.
func members(data json.RawMessage) []value {
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		if len(data) == 0 {
			return nil
		}
		return []value{readable("value", data)}
	}
	var out []value
	for d.More() {
		name, err := d.Token()
		text, isName := name.(string)
		if err != nil || !isName {
			return out
		}
		var member json.RawMessage
		if d.Decode(&member) != nil {
			return out
		}
		out = append(out, readable(text, member))
	}
	return out
}

// readable returns a value in the form that a page shows.
func readable(name string, data json.RawMessage) value {
	v := value{Name: name}
	var line string
	switch {
	case len(data) == 0, string(data) == "null", string(data) == "{}", string(data) == "[]", string(data) == `""`:
		v.Kind = kindNothing
	case data[0] == '"' && json.Unmarshal(data, &line) == nil:
		v.Text = line
		if at, err := time.Parse(time.RFC3339, line); err == nil {
			v.Kind, v.Time = kindTime, at
		} else if isWebAddress(line) {
			v.Kind = kindLink
		}
	case data[0] == '[' || data[0] == '{':
		if v.Text = plainList(data); v.Text == "" {
			v.Kind, v.Text = kindJSON, indented(data)
		}
	default:
		v.Text = string(data)
	}
	v.Text = text.Cut(v.Text, longestText)
	return v
}

// isWebAddress reports whether a text is an http or https address without a user name.
func isWebAddress(text string) bool {
	if !strings.HasPrefix(text, "https://") && !strings.HasPrefix(text, "http://") ||
		strings.ContainsAny(text, " \t\r\n") {
		return false
	}
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && u.User == nil
}

// plainList returns a short list of texts and numbers as one line, and "" for anything else.
func plainList(data json.RawMessage) string {
	var list []json.RawMessage
	if json.Unmarshal(data, &list) != nil || len(list) > 40 {
		return ""
	}
	words := make([]string, 0, len(list))
	for _, one := range list {
		var text string
		switch {
		case len(one) == 0 || one[0] == '[' || one[0] == '{':
			return ""
		case json.Unmarshal(one, &text) == nil && one[0] == '"':
			if strings.ContainsRune(text, ',') || len(text) > 80 {
				return ""
			}
			words = append(words, text)
		default:
			words = append(words, string(one))
		}
	}
	return strings.Join(words, ", ")
}

// indented returns JSON with indentation. Deeply nested JSON stays on one line, because its indentation would grow
// quadratically.
func indented(data json.RawMessage) string {
	if depth(data) > deepest {
		return text.Cut(string(data), longestText)
	}
	var b bytes.Buffer
	if json.Indent(&b, data, "", "  ") != nil {
		return text.Cut(string(data), longestText)
	}
	return text.Cut(b.String(), longestText)
}

// depth returns an upper bound of the nesting. It also counts brackets inside strings.
func depth(data json.RawMessage) int {
	now, most := 0, 0
	for _, c := range data {
		switch c {
		case '[', '{':
			now++
			most = max(most, now)
		case ']', '}':
			now--
		}
	}
	return most
}
