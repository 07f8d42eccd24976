package message

import (
	"bytes"
	"mime"
	"strings"
)

const (
	maxHeaderCount = 512
	maxHeaderBytes = 64 << 10 // of one value
	maxHeadBytes   = 1 << 20  // of all of them
)

// partHeader are the lines before a body, by their names in small letters.
type partHeader struct {
	values map[string][]string
	last   string
	count  int
	bytes  int
	broken bool // something was no header
}

// addLine reads one line without its end. It returns false for the end of the head.
func (h *partHeader) addLine(line []byte, first bool) bool {
	if len(line) == 0 {
		return false
	}
	if h.values == nil {
		h.values = map[string][]string{}
	}
	if h.bytes += len(line); h.bytes > maxHeadBytes {
		h.broken = true
		return true
	}
	if line[0] == ' ' || line[0] == '\t' || !first {
		if list := h.values[h.last]; len(list) > 0 && len(list[len(list)-1]) < maxHeaderBytes {
			list[len(list)-1] += " " + strings.TrimSpace(string(line[:min(len(line), maxHeaderBytes)]))
		}
		return true
	}
	name, value, ok := bytes.Cut(line, []byte(":"))
	if !ok || len(name) == 0 || len(name) > 100 || bytes.ContainsAny(bytes.TrimRight(name, " \t"), " \t") {
		h.last, h.broken = "", true
		return true
	}
	if h.count++; h.count > maxHeaderCount {
		h.last, h.broken = "", true
		return true
	}
	h.last = strings.ToLower(strings.TrimSpace(string(name)))
	h.values[h.last] = append(h.values[h.last], strings.TrimSpace(string(value[:min(len(value), maxHeaderBytes)])))
	return true
}

// firstValue is the first value of a name.
func (h *partHeader) firstValue(name string) string {
	if list := h.values[name]; len(list) > 0 {
		return list[0]
	}
	return ""
}

// parseParameters reads a value with parameters. What the standard library refuses is read as far as it
// goes.
func parseParameters(value string) (kind string, params map[string]string) {
	kind, params, err := mime.ParseMediaType(value)
	if err == nil {
		return kind, params
	}
	params = map[string]string{}
	parts := strings.Split(value, ";")
	for _, part := range parts[1:] {
		if name, v, ok := strings.Cut(part, "="); ok {
			params[strings.ToLower(strings.TrimSpace(name))] = strings.Trim(strings.TrimSpace(v), `"`)
		}
	}
	return strings.ToLower(strings.TrimSpace(parts[0])), params
}
