package connectorkit

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Masking replaces secrets in the texts of records, before anything leaves the process. It
// knows shapes, not meanings: keys of clouds and of models, tokens, private keys,
// Authorization values, passwords in addresses. A secret becomes [redacted:kind:tag]; the
// tag is keyed by source, so that equal secrets look equal and none can be guessed from it.
type Masking string

const (
	MaskOff      Masking = "off"
	MaskStandard Masking = "standard"
	// MaskStrict also takes words that look random, addresses of mail and telephone numbers.
	MaskStrict Masking = "strict"
)

// maskedField counts how many secrets of a record were replaced, if the schema has it.
const maskedField = "redactions"

// Mask makes the run replace secrets, as the owner chose; anything but off and strict is
// standard. It belongs into Open.
func (s *Setup) Mask(choice string) {
	key := s.r.p.Env("PDPP_SOURCE_KEY")
	if key == "" {
		key = s.r.p.Env("PDPP_CONNECTOR_INSTANCE_ID")
	}
	switch Masking(choice) {
	case MaskOff:
		s.r.masks = nil
	default:
		s.r.masks = newMasker([]byte(key), Masking(choice) == MaskStrict)
	}
}

// secretMasker replaces secrets in encoded JSON.
type secretMasker struct {
	key     []byte
	strict  bool
	scanner *secretScanner
}

func newMasker(key []byte, strict bool) *secretMasker {
	return &secretMasker{key: key, strict: strict, scanner: sharedScanner()}
}

// mask replaces the secrets in the texts of a JSON value and counts them. The value itself
// is returned when it has none.
func (m *secretMasker) mask(raw jsontext.Value) (jsontext.Value, int) {
	var out []byte
	count, kept := 0, 0
	for i, at := m.scanner.next(raw, 0); i < len(raw); i, at = m.scanner.next(raw, max(at+scanStride, kept)) {
		if kind, from, to := m.scanner.find(raw, i); kind != "" && i >= kept && from >= kept {
			out = append(append(out, raw[kept:from]...), m.mark(kind, raw[from:to])...)
			count++
			kept = to
		}
	}
	if count > 0 {
		return append(out, raw[kept:]...), count
	}
	return raw, count
}

// mark returns what replaces a secret.
func (m *secretMasker) mark(kind string, secret []byte) string {
	tag := hmac.New(sha256.New, m.key)
	_, _ = tag.Write(secret) // a hash never fails
	return "[redacted:" + kind + ":" + hex.EncodeToString(tag.Sum(nil)[:4]) + "]"
}

// masked returns the record without its secrets. Keys and times never have the form of a
// secret.
func (r *runState) masked(
	stream string, raw jsontext.Value, tree map[string]any,
) (jsontext.Value, map[string]any, error) {
	clean, n, err := r.secretsIn(raw)
	if err != nil {
		return nil, nil, err
	}
	if n == 0 {
		return raw, tree, nil
	}
	if r.scope[stream].stream.HasField(maskedField) {
		clean = fmt.Appendf(clean[:len(clean)-1:len(clean)-1], `,%q:%d}`, maskedField, n)
	}
	tree, err = r.trees.decode(clean)
	return clean, tree, err
}

// harmless reports whether nothing in a record is to be masked.
func (r *runState) harmless(raw jsontext.Value) bool {
	_, n, err := r.secretsIn(raw)
	return err == nil && n == 0
}

// secretsIn returns a record without its secrets, and how many there were.
func (r *runState) secretsIn(raw jsontext.Value) (jsontext.Value, int, error) {
	if r.masks == nil {
		return raw, 0, nil
	}
	clean, n := r.masks.mask(raw)
	if !r.masks.strict {
		return clean, n, nil
	}
	more, m, err := r.masks.maskMembers(clean)
	return more, n + m, err
}

// maskMembers is the strict form, for every member that identifies nothing.
func (m *secretMasker) maskMembers(raw jsontext.Value) (jsontext.Value, int, error) {
	var members map[string]jsontext.Value
	if err := json.Unmarshal(raw, &members); err != nil {
		return raw, 0, err
	}
	count := 0
	for name, value := range members {
		if identifies(name) {
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

// identifies reports whether a member of this name holds an id, a time or a path.
func identifies(name string) bool {
	return name == "id" || name == "timestamp" ||
		slices.ContainsFunc([]string{"_id", "_uuid", "_hash", "_at", "path"}, func(end string) bool {
			return strings.HasSuffix(name, end)
		})
}

// maskWords takes words that look random, addresses of mail and telephone numbers.
func (m *secretMasker) maskWords(raw jsontext.Value) (jsontext.Value, int) {
	var out []byte
	count, kept := 0, 0
	for i := 0; i < len(raw); {
		if !encoded[raw[i]] || !begins(raw, i) {
			if raw[i] == '\\' {
				i++ // what is escaped is no word
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

// strictKind is what a word is taken for; empty when it may stay.
func strictKind(word []byte) string {
	if at := bytes.IndexByte(word, '@'); at > 0 && bytes.IndexByte(word[at:], '.') > 1 {
		return "email"
	}
	if n := countDigits(word); word[0] == '+' && n >= 8 && n <= 15 &&
		wordEnd(word, 1, charset("0123456789-")) == len(word) {
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
