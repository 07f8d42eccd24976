package wire

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"

	"pdpp/internal/slice"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// BodyHash is the SHA-256, in hex, of the records' JSON in script order. Spacing, the
// order of members and the spelling of a number do not change it.
func BodyHash(records []slice.Record) (string, error) {
	packed, err := new(Packer).Pack(records)
	return packed.Hash, err
}

// inScriptOrderOf takes the value for itself.
func inScriptOrderOf(v jsontext.Value) (jsontext.Value, error) {
	if err := v.Canonicalize(); err != nil {
		return nil, fmt.Errorf("canonicalize: %w", err)
	}
	return scriptOrder(v)
}

// Hash is the SHA-256, in hex, of the canonical form (RFC 8785) of a JSON value. It
// leaves v alone.
func Hash(v jsontext.Value) (string, error) {
	canonical := v.Clone()
	if err := canonical.Canonicalize(); err != nil {
		return "", fmt.Errorf("canonicalize: %w", err)
	}
	return digest(canonical), nil
}

// HashFits reports whether the batch's hash is that of its records, in any of the forms
// in which clients make it: RFC 8785, script order, or script order of the records with
// the batch's ids in each of them. Records are given as they came.
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
	if ordered, err := scriptOrder(canonical); err != nil || digest(ordered) == b.BodyHash {
		return err == nil
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
		own, err := inScriptOrder(content{b.ConnectorID, r.Data, r.EmittedAt, string(r.Op), r.Key, r.Stream})
		if err != nil {
			return nil, err
		}
		all[i] = envelope{b.BatchID, b.BatchSeq, digest(own), b.ConnectorID, r.Data, b.DeviceID, r.EmittedAt, string(r.Op), r.Key, b.SourceInstanceID, r.Stream}
	}
	return inScriptOrder(all)
}

func inScriptOrder(v any) (jsontext.Value, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return inScriptOrderOf(body)
}

// scriptOrder rewrites canonical JSON in the order that a JavaScript object gives to
// members that were added in the order of their names: those that are array indices come
// first, by number, and a member of the name __proto__ is not there at all.
func scriptOrder(canonical jsontext.Value) (jsontext.Value, error) {
	if !indexLike(canonical) {
		return canonical, nil
	}
	return appendScript(make(jsontext.Value, 0, len(canonical)), canonical)
}

// indexLike reports whether a member's name may need another place. It may be wrong
// about a text that looks like one, which costs time alone.
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

type member struct {
	name  string
	quote jsontext.Value
	value jsontext.Value
}

func appendScript(out, v jsontext.Value) (jsontext.Value, error) {
	dec := jsontext.NewDecoder(bytes.NewReader(v))
	switch v.Kind() {
	case '[':
		if _, err := dec.ReadToken(); err != nil {
			return nil, err
		}
		out = append(out, '[')
		for n := 0; dec.PeekKind() != ']'; n++ {
			element, err := dec.ReadValue()
			if err != nil {
				return nil, err
			}
			if n > 0 {
				out = append(out, ',')
			}
			if out, err = appendScript(out, element); err != nil {
				return nil, err
			}
		}
		return append(out, ']'), nil
	case '{':
		members, err := membersOf(dec)
		if err != nil {
			return nil, err
		}
		out = append(out, '{')
		for n, m := range members {
			if n > 0 {
				out = append(out, ',')
			}
			out = append(append(out, m.quote...), ':')
			if out, err = appendScript(out, m.value); err != nil {
				return nil, err
			}
		}
		return append(out, '}'), nil
	default:
		return append(out, v...), nil
	}
}

// membersOf reads an object's members, in script order.
func membersOf(dec *jsontext.Decoder) ([]member, error) {
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	var members []member
	for dec.PeekKind() != '}' {
		quote, err := dec.ReadValue()
		if err != nil {
			return nil, err
		}
		m := member{quote: quote.Clone()}
		if err := json.Unmarshal(m.quote, &m.name); err != nil {
			return nil, err
		}
		value, err := dec.ReadValue()
		if err != nil {
			return nil, err
		}
		if m.value = value.Clone(); m.name != "__proto__" {
			members = append(members, m)
		}
	}
	slices.SortStableFunc(members, func(a, b member) int {
		x, isX := arrayIndex(a.name)
		y, isY := arrayIndex(b.name)
		switch {
		case isX && isY:
			return cmp.Compare(x, y)
		case isX:
			return -1
		case isY:
			return 1
		}
		return 0
	})
	return members, nil
}
