package connectorkit

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

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

// maskedField counts, in a record whose schema has it, how many secrets were replaced.
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

// masker finds secrets in encoded JSON, near their traces.
type masker struct {
	key    []byte
	strict bool
}

func newMasker(key []byte, strict bool) *masker { return &masker{key: key, strict: strict} }

// mask replaces the secrets in the texts of a JSON value and counts them. The value itself
// is returned when it has none.
func (m *masker) mask(raw jsontext.Value) (jsontext.Value, int) {
	var out []byte
	count, kept := 0, 0
	for i, at := nextTrace(raw, 0); i < len(raw); i, at = nextTrace(raw, max(at+traceStride, kept)) {
		if kind, from, to := find(raw, i); kind != "" && i >= kept && from >= kept {
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

// mark stands for a secret.
func (m *masker) mark(kind string, secret []byte) string {
	tag := hmac.New(sha256.New, m.key)
	_, _ = tag.Write(secret) // a hash never fails
	return "[redacted:" + kind + ":" + hex.EncodeToString(tag.Sum(nil)[:4]) + "]"
}

// masked gives the record without its secrets. What its keys and times are made of has no
// such shape.
func (r *run) masked(stream string, raw jsontext.Value, tree map[string]any) (jsontext.Value, map[string]any, error) {
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
func (r *run) harmless(raw jsontext.Value) bool {
	_, n, err := r.secretsIn(raw)
	return err == nil && n == 0
}

// secretsIn gives a record without its secrets, and how many there were.
func (r *run) secretsIn(raw jsontext.Value) (jsontext.Value, int, error) {
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
