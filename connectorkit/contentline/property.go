package contentline

import (
	"io"
	"mime/quotedprintable"
	"strings"
)

// Property is one line.
type Property struct {
	Group  string // part before a dot in the name, as in vCards
	Name   string // in capitals, without the group
	Params []Param
	Value  string // unchanged; see Text
}

// Param is one value of a parameter. A parameter with several is several of these.
type Param struct{ Name, Value string }

// Param returns the first value of a parameter, or "" if there is none.
func (p Property) Param(name string) string {
	for _, q := range p.Params {
		if q.Name == name {
			return q.Value
		}
	}
	return ""
}

// Types are the values of TYPE, small, each once. The oldest vCards write them without the name.
func (p Property) Types() []string {
	var types []string
	seen := map[string]bool{"": true, "internet": true, "pref": true}
	for _, q := range p.Params {
		if q.Name != "TYPE" {
			continue
		}
		for t := range strings.SplitSeq(strings.ToLower(q.Value), ",") {
			if t = strings.TrimSpace(t); !seen[t] {
				seen[t] = true
				types = append(types, t)
			}
		}
	}
	return types
}

// Text is the value with its escapes undone.
func (p Property) Text() string { return unescapeText(p.Value) }

// List is the value as texts with commas between them.
func (p Property) List() []string { return splitUnescaped(p.Value, ',') }

// Fields is the value as texts with semicolons between them.
func (p Property) Fields() []string { return splitUnescaped(p.Value, ';') }

// parseProperty reads a line; false when it is none.
func parseProperty(line string) (Property, bool) {
	name, rest, ok := splitName(line)
	if !ok {
		return Property{}, false
	}
	var p Property
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		p.Group, name = name[:i], name[i+1:]
	}
	p.Name = strings.ToUpper(name)
	head, value, ok := splitValue(rest)
	if !ok || p.Name == "" {
		return Property{}, false
	}
	p.Params, p.Value = parseParams(head), value
	if p.quotedPrintable() {
		p.Value = p.decodeQuotedPrintable()
	}
	return p, true
}

// splitName splits off what can be a name: letters, digits, hyphens, dots.
func splitName(line string) (name, rest string, ok bool) {
	for i := range len(line) {
		switch c := line[i]; {
		case c == ':' || c == ';':
			return line[:i], line[i:], i > 0
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '.', c == '_':
		default:
			return "", "", false
		}
	}
	return "", "", false
}

// splitValue splits at the first colon outside of quotes; where a quote does not end, at
// the first colon.
func splitValue(rest string) (head, value string, ok bool) {
	quoted := false
	for i := range len(rest) {
		switch {
		case rest[i] == '"':
			quoted = !quoted
		case rest[i] == ':' && !quoted:
			return rest[:i], rest[i+1:], true
		}
	}
	return strings.Cut(rest, ":")
}

// parseParams reads ;NAME=value,"value";NAME=value. One without a name is a TYPE or an
// ENCODING, as the oldest vCards write them.
func parseParams(head string) []Param {
	var params []Param
	for _, part := range splitOutsideQuotes(head, ';') {
		name, value, named := strings.Cut(part, "=")
		if !named {
			name, value = "TYPE", name
			if quoting := strings.ToUpper(value); quoting == "QUOTED-PRINTABLE" || quoting == "BASE64" {
				name = "ENCODING"
			}
		}
		name = strings.ToUpper(strings.TrimSpace(name))
		if name == "" || part == "" {
			continue
		}
		for _, v := range splitOutsideQuotes(value, ',') {
			params = append(params, Param{Name: name,
				Value: unescapeParameter(strings.ReplaceAll(strings.TrimSpace(v), `"`, ""))})
		}
	}
	return params
}

// splitOutsideQuotes splits at a separator outside of quotes.
func splitOutsideQuotes(s string, at byte) []string {
	var parts []string
	quoted, from := false, 0
	for i := range len(s) {
		switch {
		case s[i] == '"':
			quoted = !quoted
		case s[i] == at && !quoted:
			parts, from = append(parts, s[from:i]), i+1
		}
	}
	return append(parts, s[from:])
}

// unescapeParameter undoes the escapes of parameter values (RFC 6868).
func unescapeParameter(s string) string {
	if !strings.Contains(s, "^") {
		return s
	}
	return strings.NewReplacer("^n", "\n", "^N", "\n", "^'", `"`, "^^", "^").Replace(s)
}

var textEscapes = strings.NewReplacer(`\\`, `\`, `\,`, `,`, `\;`, `;`, `\:`, `:`, `\n`, "\n", `\N`, "\n")

func unescapeText(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	return textEscapes.Replace(s)
}

// splitUnescaped takes a value apart at a separator that is not escaped.
func splitUnescaped(s string, at byte) []string {
	var parts []string
	from := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case at:
			parts, from = append(parts, unescapeText(s[from:i])), i+1
		}
	}
	return append(parts, unescapeText(s[from:]))
}

func (p Property) quotedPrintable() bool {
	return strings.EqualFold(p.Param("ENCODING"), "QUOTED-PRINTABLE")
}

// decodeQuotedPrintable undoes quoted-printable as far as it can be read. Its line breaks become those
// of a text here.
func (p Property) decodeQuotedPrintable() string {
	b, _ := io.ReadAll(quotedprintable.NewReader(strings.NewReader(p.Value))) // what was read before a fault counts
	return strings.NewReplacer("\r\n", `\n`, "\n", `\n`, "\r", `\n`).Replace(decodeLine(b))
}
