// Package secretmask replaces secrets in the texts of encoded records. It knows shapes, not meanings.
//
//	kinds.go    the table of secrets: prefixes, and where a secret ends
//	scanner.go  finds prefixes, fast enough for every record
//	masker.go   replaces what was found
//	known.go    the credentials of a run, in any message
package secretmask

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Masker replaces secrets in encoded JSON.
type Masker struct {
	key     []byte
	strict  bool
	scanner *secretScanner
}

// NewMasker returns a masker. The key tags equal secrets alike. Strict also masks random words, mail addresses and
// telephone numbers.
func NewMasker(key []byte, strict bool) *Masker {
	return &Masker{key: key, strict: strict, scanner: sharedScanner()}
}

// MaskRecord returns a record without its secrets, and how many there were. A nil masker replaces nothing.
func (m *Masker) MaskRecord(raw jsontext.Value) (jsontext.Value, int, error) {
	if m == nil {
		return raw, 0, nil
	}
	clean, n := m.maskShapes(raw)
	if !m.strict {
		return clean, n, nil
	}
	more, extra, err := m.maskMembers(clean)
	return more, n + extra, err
}

// maskShapes replaces the secrets in the texts of a JSON value and counts them. The value itself
// is returned when it has none.
func (m *Masker) maskShapes(raw jsontext.Value) (jsontext.Value, int) {
	var out []byte
	count, kept := 0, 0
	for i, at := m.scanner.nextPrefix(raw, 0); i < len(raw); i, at = m.scanner.nextPrefix(raw, max(at+scanStride, kept)) {
		if kind, from, to := m.scanner.findSecret(raw, i); kind != "" && i >= kept && from >= kept {
			out = append(append(out, raw[kept:from]...), m.replacementFor(kind, raw[from:to])...)
			count++
			kept = to
		}
	}
	if count > 0 {
		return append(out, raw[kept:]...), count
	}
	return raw, count
}

// replacementFor returns what replaces a secret.
func (m *Masker) replacementFor(kind string, secret []byte) string {
	return replacement(m.key, kind, secret)
}

// replacement returns what replaces a secret of a kind. Equal secrets have equal replacements under a key.
func replacement(key []byte, kind string, secret []byte) string {
	tag := hmac.New(sha256.New, key)
	_, _ = tag.Write(secret) // a hash never fails
	return "[redacted:" + kind + ":" + hex.EncodeToString(tag.Sum(nil)[:4]) + "]"
}

// maskMembers is the strict form, for every member that identifies nothing.
func (m *Masker) maskMembers(raw jsontext.Value) (jsontext.Value, int, error) {
	var members map[string]jsontext.Value
	if err := json.Unmarshal(raw, &members); err != nil {
		return raw, 0, err
	}
	count := 0
	for name, value := range members {
		if isIdentifying(name) {
			continue
		}
		clean, n := m.maskRandomWords(value)
		members[name] = clean
		count += n
	}
	if count == 0 {
		return raw, 0, nil
	}
	clean, err := json.Marshal(members, json.Deterministic(true))
	return clean, count, err
}

// isIdentifying reports whether a member of this name holds an id, a time or a path.
func isIdentifying(name string) bool {
	return name == "id" || name == "timestamp" ||
		slices.ContainsFunc([]string{"_id", "_uuid", "_hash", "_at", "path"}, func(end string) bool {
			return strings.HasSuffix(name, end)
		})
}

// maskRandomWords takes words that look random, addresses of mail and telephone numbers.
func (m *Masker) maskRandomWords(raw jsontext.Value) (jsontext.Value, int) {
	var out []byte
	count, kept := 0, 0
	for i := 0; i < len(raw); {
		if !encodedCharacters[raw[i]] || !wordBeginsAt(raw, i) {
			if raw[i] == '\\' {
				i++ // what is escaped is no word
			}
			i++
			continue
		}
		end := i
		for end < len(raw) && (encodedCharacters[raw[end]] || raw[end] == '@') {
			end++
		}
		word := raw[i:end]
		if kind := strictKind(word); kind != "" && !bytes.HasPrefix(raw[max(0, i-1):], []byte("[redacted:")) {
			out = append(append(out, raw[kept:i]...), m.replacementFor(kind, word)...)
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

// strictKind is what a word is taken for; empty when it may stay.
func strictKind(word []byte) string {
	if at := bytes.IndexByte(word, '@'); at > 0 && bytes.IndexByte(word[at:], '.') > 1 {
		return "email"
	}
	if n := countDigits(word); word[0] == '+' && n >= 8 && n <= 15 &&
		endOfWord(word, 1, characterSet("0123456789-")) == len(word) {
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
