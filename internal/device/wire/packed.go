package wire

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/klauspost/compress/gzip"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/protocol"
)

// Packed is the records of a batch as they wait and as they go out: a JSON list, compressed by
// gzip. It is made once.
type Packed struct {
	Gzip  []byte
	Hash  string // BodyHash of the records
	Count int
	Bytes int64 // of the JSON
}

// Packer packs records. It reuses its memory.
type Packer struct {
	order  propertyOrderer
	gzip   *gzip.Writer
	hash   hash.Hash
	into   bytes.Buffer
	record []byte
}

// Pack packs records. Most are written in the form that is hashed, so that the server need not
// make that form of them again; one of which something would get lost by it goes out as it is.
func (p *Packer) Pack(records []slice.Record) (Packed, error) {
	if p.gzip == nil {
		p.hash = sha256.New()
		p.gzip, _ = gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level is a known one
	}
	p.into.Reset()
	p.gzip.Reset(&p.into)
	p.hash.Reset()
	out := Packed{Count: len(records)}
	both := func(sent, hashed []byte) {
		_, _ = p.gzip.Write(sent)   // into memory
		_, _ = p.hash.Write(hashed) // a hash never fails
		out.Bytes += int64(len(sent))
	}
	comma, end := []byte(","), []byte("]")
	both([]byte("["), []byte("["))
	for i := range records {
		if i > 0 {
			both(comma, comma)
		}
		sent, hashed, err := p.encode(&records[i])
		if err != nil {
			return Packed{}, err
		}
		both(sent, hashed)
	}
	both(end, end)
	if err := p.gzip.Close(); err != nil {
		return Packed{}, fmt.Errorf("pack records: %w", err)
	}
	out.Gzip, out.Hash = bytes.Clone(p.into.Bytes()), hex.EncodeToString(p.hash.Sum(nil))
	return out, nil
}

// keptRecord is the largest memory of one record that is kept for the next.
const keptRecord = 1 << 20

// encode returns a record as it is sent and as it is hashed. Both are valid until the next call.
func (p *Packer) encode(r *slice.Record) (sent, hashed []byte, err error) {
	if cap(p.record) > keptRecord {
		p.record, p.order.spare = nil, nil
	}
	if ordered, good := p.appendOrdered(p.record[:0], r); good {
		p.record = ordered
		return ordered, ordered, nil
	}
	if sent, err = json.Marshal(r); err != nil {
		return nil, nil, fmt.Errorf("encode records: %w", err)
	}
	if hashed, err = jsPropertyOrder(bytes.Clone(sent)); err != nil {
		return nil, nil, err
	}
	return sent, hashed, nil
}

// appendOrdered appends a record in JavaScript property order. It returns false if a value has to be respelled.
func (p *Packer) appendOrdered(b []byte, r *slice.Record) (out []byte, good bool) {
	good = true
	member := func(name string, value []byte) {
		b = append(b, name...)
		var same bool
		b, same = p.order.append(b, value)
		good = good && same
	}
	text := func(name, value string) {
		b = append(b, name...)
		var err error
		b, err = jsontext.AppendQuote(b, value)
		good = good && err == nil
	}
	b = append(b, '{')
	if r.Blobs != nil {
		blobs, err := json.Marshal(r.Blobs)
		good = err == nil
		member(`"blobs":`, blobs)
		b = append(b, ',')
	}
	if r.Data != nil {
		member(`"data":`, r.Data)
		b = append(b, ',')
	}
	text(`"emitted_at":`, r.EmittedAt)
	if r.Op != protocol.OpUpsert {
		text(`,"op":`, string(r.Op))
	}
	text(`,"record_key":`, r.Key)
	text(`,"stream":`, r.Stream)
	return append(b, '}'), good
}

// list returns the uncompressed JSON. An error is an *Error for a message that can never be sent.
func (p *Packed) list() (jsontext.Value, error) {
	r, err := gzip.NewReader(bytes.NewReader(p.Gzip))
	if err != nil {
		return nil, unsendable("the records cannot be read")
	}
	var into bytes.Buffer
	n, err := into.ReadFrom(io.LimitReader(r, p.Bytes+1))
	if err != nil || n != p.Bytes {
		return nil, unsendable("the records cannot be read")
	}
	return into.Bytes(), nil
}

// Records returns the packed records. An error is an *Error for a message that can never be sent.
func (p *Packed) Records() (records []slice.Record, err error) {
	list, err := p.list()
	if err != nil {
		return nil, err
	}
	if json.Unmarshal(list, &records) != nil || len(records) != p.Count {
		return nil, unsendable("the records cannot be read")
	}
	return records, nil
}
