package connectorkit

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// Masking replaces secrets in the texts of records before they leave the process. It detects formats, not
// meanings: keys of cloud services and models, tokens, private keys, Authorization values, passwords in URLs. A
// secret becomes [redacted:kind:tag]. The tag is keyed by source, so that equal secrets look equal and none can
// be guessed from it.
type Masking string

const (
	MaskOff      Masking = "off"
	MaskStandard Masking = "standard"
	// MaskStrict also replaces words that look random, mail addresses and telephone numbers.
	MaskStrict Masking = "strict"
)

// maskedField counts the replaced secrets of a record, if its schema has the field.
const maskedField = "redactions"

// Mask makes the run replace secrets, as the owner chose. Any value except off and strict means standard. Call it
// in Open.
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

// secretMasker finds secrets in encoded JSON, near their traces.
type secretMasker struct {
	key    []byte
	strict bool
}

func newMasker(key []byte, strict bool) *secretMasker { return &secretMasker{key: key, strict: strict} }

// mask replaces the secrets in the texts of a JSON value and counts them. It returns the value itself if there
// are none.
func (m *secretMasker) mask(raw jsontext.Value) (jsontext.Value, int) {
	var out []byte
	count, kept := 0, 0
	for i, at := nextTrace(raw, 0); i < len(raw); i, at = nextTrace(raw, max(at+traceStride, kept)) {
		if kind, from, to := findSecret(raw, i); kind != "" && i >= kept && from >= kept {
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

// mark returns the replacement of a secret.
func (m *secretMasker) mark(kind string, secret []byte) string {
	tag := hmac.New(sha256.New, m.key)
	_, _ = tag.Write(secret) // a hash never fails
	return "[redacted:" + kind + ":" + hex.EncodeToString(tag.Sum(nil)[:4]) + "]"
}

// masked returns the record without its secrets. Keys and times do not have such formats.
func (r *runState) masked(
	stream string,
	raw jsontext.Value,
	tree map[string]any,
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

// harmless reports whether a record contains nothing to mask.
func (r *runState) harmless(raw jsontext.Value) bool {
	_, n, err := r.secretsIn(raw)
	return err == nil && n == 0
}

// secretsIn returns a record without its secrets, and their number.
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
