package wire

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"

	"github.com/pdpp-go/pdpp/internal/slice"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// BodyHash is the SHA-256, in hex, of the records' JSON in JavaScript property order. Spacing, the
// order of members and the spelling of a number do not change it.
func BodyHash(records []slice.Record) (string, error) {
	packed, err := new(Packer).Pack(records)
	return packed.Hash, err
}

// jsPropertyOrder returns a JSON value in JavaScript property order. It overwrites v.
func jsPropertyOrder(v jsontext.Value) (jsontext.Value, error) {
	if err := v.Canonicalize(); err != nil {
		return nil, fmt.Errorf("canonicalize: %w", err)
	}
	return reorderCanonical(v), nil
}

// Hash returns the SHA-256, in hex, of the canonical form (RFC 8785) of a JSON value. It does not change v.
func Hash(v jsontext.Value) (string, error) {
	canonical := v.Clone()
	if err := canonical.Canonicalize(); err != nil {
		return "", fmt.Errorf("canonicalize: %w", err)
	}
	return digest(canonical), nil
}

// HashFits reports whether the batch's hash is that of its records, in any form that clients use: RFC 8785, JavaScript
// property order, or JavaScript property order of the records with the batch's ids in each of them. records is the
// text that was received.
func (b *Batch) HashFits(records jsontext.Value) bool {
	if digest(records) == b.BodyHash { // they came in the form that was hashed
		return true
	}
	canonical := records.Clone()
	if err := canonical.Canonicalize(); err != nil {
		return false
	}
	if digest(canonical) == b.BodyHash {
		return true
	}
	if digest(reorderCanonical(canonical)) == b.BodyHash {
		return true
	}
	ordered, err := b.envelopes(records)
	return err == nil && digest(ordered) == b.BodyHash
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// envelopes is the records as other clients hash them: each with the ids of its batch
// and a hash of its own.
func (b *Batch) envelopes(raw jsontext.Value) (jsontext.Value, error) {
	var records []slice.Record
	if err := json.Unmarshal(raw, &records); err != nil {
		return nil, err
	}
	type envelope struct {
		BatchID          string         `json:"batch_id"`
		BatchSeq         int64          `json:"batch_seq"`
		BodyHash         string         `json:"body_hash"`
		ConnectorID      string         `json:"connector_id"`
		Data             jsontext.Value `json:"data,omitzero"`
		DeviceID         string         `json:"device_id"`
		EmittedAt        string         `json:"emitted_at"`
		Op               string         `json:"op,omitzero"`
		RecordKey        string         `json:"record_key"`
		SourceInstanceID string         `json:"source_instance_id"`
		Stream           string         `json:"stream"`
	}
	type content struct {
		ConnectorID string         `json:"connector_id"`
		Data        jsontext.Value `json:"data,omitzero"`
		EmittedAt   string         `json:"emitted_at"`
		Op          string         `json:"op,omitzero"`
		RecordKey   string         `json:"record_key"`
		Stream      string         `json:"stream"`
	}
	all := make([]envelope, len(records))
	for i, r := range records {
		own, err := encodeInPropertyOrder(content{b.ConnectorID, r.Data, r.EmittedAt, string(r.Op), r.Key, r.Stream})
		if err != nil {
			return nil, err
		}
		all[i] = envelope{b.BatchID, b.BatchSeq, digest(own), b.ConnectorID, r.Data, b.DeviceID, r.EmittedAt,
			string(r.Op), r.Key, b.SourceInstanceID, r.Stream}
	}
	return encodeInPropertyOrder(all)
}

func encodeInPropertyOrder(v any) (jsontext.Value, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return jsPropertyOrder(body)
}

// reorderCanonical rewrites canonical JSON in the property order of a JavaScript object with members
// added by name. Array indices come first, in numeric order. A member named __proto__ is left out.
func reorderCanonical(canonical jsontext.Value) jsontext.Value {
	if !indexLike(canonical) {
		return canonical
	}
	w := propertyOrderWriter{raw: canonical, out: make(jsontext.Value, 0, len(canonical))}
	w.value()
	return w.out
}

// indexLike reports whether the order of a member may change. A false positive is possible for text
// that looks like a name, and only costs time.
func indexLike(canonical []byte) bool {
	for rest := canonical; ; {
		i := bytes.Index(rest, []byte(`":`))
		if i < 0 {
			return false
		}
		name := rest[bytes.LastIndexByte(rest[:i], '"')+1 : i]
		if _, isIndex := arrayIndex(string(name)); isIndex || string(name) == "__proto__" {
			return true
		}
		rest = rest[i+2:]
	}
}

// arrayIndex is the number that a name is the plain spelling of, if it is an array's index.
func arrayIndex(name string) (uint64, bool) {
	if name == "" || name[0] < '0' || name[0] > '9' {
		return 0, false
	}
	n, err := strconv.ParseUint(name, 10, 32)
	return n, err == nil && n < 1<<32-1 && strconv.FormatUint(n, 10) == name
}

// propertyOrderWriter copies canonical JSON in JavaScript property order. It reads each byte once, and moves the
// members of an object only where their order changes.
type propertyOrderWriter struct {
	raw     []byte
	i       int
	out     []byte
	members []scriptMember // of the objects that are open
	spare   []byte
}

// scriptMember is where a member lies in out.
type scriptMember struct {
	from, to int
	index    uint64
	isIndex  bool
}

// value copies one value. The text is valid and canonical, so that nothing is checked again.
func (w *propertyOrderWriter) value() {
	switch w.raw[w.i] {
	case '{':
		w.object()
	case '[':
		w.one()
		for w.raw[w.i] != ']' {
			if w.raw[w.i] == ',' {
				w.one()
			}
			w.value()
		}
		w.one()
	case '"':
		w.text()
	default:
		end := bytes.IndexAny(w.raw[w.i:], ",]}")
		if end < 0 {
			end = len(w.raw) - w.i
		}
		w.out = append(w.out, w.raw[w.i:w.i+end]...)
		w.i += end
	}
}

// one copies one byte.
func (w *propertyOrderWriter) one() {
	w.out = append(w.out, w.raw[w.i])
	w.i++
}

// text copies a string.
func (w *propertyOrderWriter) text() {
	end := w.i + 1
	for ; w.raw[end] != '"'; end++ {
		if w.raw[end] == '\\' {
			end++
		}
	}
	w.out = append(w.out, w.raw[w.i:end+1]...)
	w.i = end + 1
}

func (w *propertyOrderWriter) object() {
	w.one()
	base, start, moved := len(w.members), len(w.out), false
	for w.raw[w.i] != '}' {
		if w.raw[w.i] == ',' {
			w.i++
		}
		before := len(w.out)
		if before > start {
			w.out = append(w.out, ',')
		}
		m := scriptMember{from: len(w.out)}
		w.text()
		name := string(w.out[m.from+1 : len(w.out)-1]) // canonical: neither digits nor _ are escaped
		m.index, m.isIndex = arrayIndex(name)
		w.one()
		w.value()
		if name == "__proto__" {
			w.out = w.out[:before]
			continue
		}
		m.to = len(w.out)
		moved = moved || len(w.members) > base && compareMembers(w.members[len(w.members)-1], m) > 0
		w.members = append(w.members, m)
	}
	if moved {
		w.reorder(w.members[base:], start)
	}
	w.members = w.members[:base]
	w.one()
}

// reorder puts the members of an object that begins at start into JavaScript property order.
func (w *propertyOrderWriter) reorder(members []scriptMember, start int) {
	w.spare = append(w.spare[:0], w.out[start:]...)
	slices.SortStableFunc(members, compareMembers)
	w.out = w.out[:start]
	for n, m := range members {
		if n > 0 {
			w.out = append(w.out, ',')
		}
		w.out = append(w.out, w.spare[m.from-start:m.to-start]...)
	}
}

// compareMembers orders array indices by number before all other names, which stay as they are.
func compareMembers(a, b scriptMember) int {
	switch {
	case a.isIndex && b.isIndex:
		return cmp.Compare(a.index, b.index)
	case a.isIndex:
		return -1
	case b.isIndex:
		return 1
	}
	return 0
}
