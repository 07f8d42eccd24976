package connectorkit

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maskMembers masks strictly, except members that identify something.
func (m *secretMasker) maskMembers(raw jsontext.Value) (jsontext.Value, int, error) {
	var members map[string]jsontext.Value
	if err := json.Unmarshal(raw, &members); err != nil {
		return raw, 0, err
	}
	count := 0
	for name, value := range members {
		if name == "id" || name == "timestamp" ||
			slices.ContainsFunc(
				[]string{"_id", "_uuid", "_hash", "_at", "path"},
				func(end string) bool { return strings.HasSuffix(name, end) },
			) {
			continue
		}
		clean, n := m.maskWords(value)
		members[name] = clean
		count += n
	}
	if count == 0 {
		return raw, 0, nil
	}
	clean, err := json.Marshal(members, json.Deterministic(true))
	return clean, count, err
}

// maskWords replaces words that look random, mail addresses and telephone numbers.
func (m *secretMasker) maskWords(raw jsontext.Value) (jsontext.Value, int) {
	var out []byte
	count, kept := 0, 0
	for i := 0; i < len(raw); {
		if !encoded[raw[i]] || !wordBegins(raw, i) {
			if raw[i] == '\\' {
				i++ // an escape is not a word
			}
			i++
			continue
		}
		end := i
		for end < len(raw) && (encoded[raw[end]] || raw[end] == '@') {
			end++
		}
		word := raw[i:end]
		if kind := strictKind(word); kind != "" && !bytes.HasPrefix(raw[max(0, i-1):], []byte("[redacted:")) {
			out = append(append(out, raw[kept:i]...), m.mark(kind, word)...)
			kept = end
			count++
		}
		i = end
	}
	if count == 0 {
		return raw, 0
	}
	return append(out, raw[kept:]...), count
}

// strictKind returns the kind of secret that a word looks like, or "".
func strictKind(word []byte) string {
	if at := bytes.IndexByte(word, '@'); at > 0 && bytes.IndexByte(word[at:], '.') > 1 {
		return "email"
	}
	if n := digits(word); word[0] == '+' && n >= 8 && n <= 15 && wordEnd(word, 1, charset("0123456789-")) == len(word) {
		return "phone"
	}
	if len(word) < 24 || bytes.Count(word, []byte("/")) > 2 || bytes.Count(word, []byte("-")) == 4 && len(word) == 36 {
		return "" // short, a path, or a UUID
	}
	var lower, capital, digit int
	for _, c := range word {
		switch {
		case c >= 'a' && c <= 'z':
			lower++
		case c >= 'A' && c <= 'Z':
			capital++
		case c >= '0' && c <= '9':
			digit++
		}
	}
	if digit >= 3 && lower >= 3 && capital >= 3 || digit >= 6 && len(word) >= 32 && bytes.IndexByte(word, '.') < 0 {
		return "random"
	}
	return ""
}
