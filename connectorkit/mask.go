package connectorkit

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"
	"reflect"

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

// masker finds secrets in encoded JSON. One look at each byte decides whether a shape can
// begin there.
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
	next := 0 // what begins before it has been looked at
	for at := 0; at < len(raw); at += stride {
		var x uint64
		if at+stride <= len(raw) {
			x = binary.LittleEndian.Uint64(raw[at:])
		} else {
			for i, c := range raw[at:] {
				x |= uint64(c) << (8 * i)
			}
		}
		for set := anchored(x); set != 0; set &= set - 1 {
			last := min(at+bits.TrailingZeros64(set)/8, len(raw)-1)
			for i := max(next, last+1-reach[raw[last]]); i <= last && i+1 < len(raw); i++ {
				next = i + 1
				if firsts[raw[i]]&seconds[raw[i+1]] == 0 {
					continue
				}
				if kind, from, to := find(raw, i); kind != "" && from >= kept {
					out = append(append(out, raw[kept:from]...), m.mark(kind, raw[from:to])...)
					count++
					kept, next = to, to
					i = to - 1
				}
			}
		}
	}
	if count > 0 {
		return append(out, raw[kept:]...), count
	}
	return raw, count
}

const stride = 8

// anchored is where in a stride of text seldom bytes are, by their highest bits: capitals and their
// neighbours, x and z, dash and nine and their like, colons. Others may be among them.
func anchored(x uint64) uint64 {
	capital, late, dash, colon := x&(0xe0*ones)^(0x40*ones), (x|0x02*ones)^('z'*ones), (x|0x14*ones)^(0x3d*ones), x^(':'*ones)
	return ((capital-ones)&^capital | (late-ones)&^late | (dash-ones)&^dash | (colon-ones)&^colon) & highs
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

// harmless reports whether nothing in a record is to be masked. Most texts tell it by themselves.
func (r *run) harmless(fields *quickRecord, v reflect.Value, raw jsontext.Value) bool {
	if r.masks == nil || !r.masks.strict && !fields.suspectIn(v) {
		return true
	}
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
