package imessage

import (
	"encoding/binary"
	"errors"
	"math"
	"unicode/utf16"
)

// errInvalidPlist means that a binary property list cannot be read.
var errInvalidPlist = errors.New("not a binary property list")

const (
	plistSignature = "bplist00"
	plistTrailer   = 32
	plistDepth     = 16
	plistValues    = 10_000 // of one list, those that occur more than once counted each time
)

// propertyList is a binary property list: objects that refer to each other by number, a table of their offsets, and a
// trailer with the offset of the table.
type propertyList struct {
	data    []byte
	offsets []byte // of objects
	size    int    // of an offset
	refs    int    // size of a reference
	objects uint64
	left    int
}

// parsePlist reads a list into maps, slices, texts, data, numbers and booleans.
func parsePlist(data []byte) (any, error) {
	if len(data) < len(plistSignature)+plistTrailer || string(data[:len(plistSignature)]) != plistSignature {
		return nil, errInvalidPlist
	}
	trailer := data[len(data)-plistTrailer:]
	body := data[:len(data)-plistTrailer]
	p := &propertyList{data: body, size: int(trailer[6]), refs: int(trailer[7]),
		objects: binary.BigEndian.Uint64(trailer[8:]),
		left:    plistValues}
	top, table := binary.BigEndian.Uint64(trailer[16:]), binary.BigEndian.Uint64(trailer[24:])
	if p.size < 1 || p.size > 8 || p.refs < 1 || p.refs > 8 || table > uint64(len(body)) ||
		p.objects > uint64(len(body)-int(table))/uint64(p.size) {
		return nil, errInvalidPlist
	}
	p.offsets = body[table:]
	return p.readObject(top, 0)
}

func (p *propertyList) readObject(number uint64, depth int) (any, error) {
	if p.left--; number >= p.objects || depth > plistDepth || p.left < 0 {
		return nil, errInvalidPlist
	}
	at := bigEndianNumber(p.offsets[int(number)*p.size:][:p.size])
	if at >= uint64(len(p.data)) {
		return nil, errInvalidPlist
	}
	marker, rest := p.data[at], p.data[at+1:]
	n := uint64(marker & 0x0f)
	switch marker >> 4 {
	case 0x0:
		return marker == 0x09, nil
	case 0x1:
		b, err := takeBytes(rest, 1<<n)
		if err != nil || n > 3 {
			return nil, errInvalidPlist
		}
		return int64(bigEndianNumber(b)), nil
	case 0x2, 0x3: // numbers with a fraction, and dates
		b, err := takeBytes(rest, 1<<n)
		switch {
		case err != nil:
			return nil, err
		case n == 2:
			return float64(math.Float32frombits(uint32(bigEndianNumber(b)))), nil
		case n == 3:
			return math.Float64frombits(bigEndianNumber(b)), nil
		}
		return nil, errInvalidPlist
	}
	if n == 0x0f { // the count does not fit, and follows as a number
		if len(rest) == 0 || rest[0]>>4 != 1 || rest[0]&0x0f > 3 {
			return nil, errInvalidPlist
		}
		b, err := takeBytes(rest[1:], 1<<(rest[0]&0x0f))
		if err != nil {
			return nil, err
		}
		n, rest = bigEndianNumber(b), rest[1+len(b):]
	}
	if n > uint64(len(rest)) {
		return nil, errInvalidPlist
	}
	switch marker >> 4 {
	case 0x4:
		return rest[:n], nil
	case 0x5:
		return string(rest[:n]), nil
	case 0x6:
		return p.readWideText(rest, n)
	case 0xa:
		return p.readObjectList(rest, n, depth)
	case 0xd:
		return p.dictionary(rest, n, depth)
	}
	return nil, errInvalidPlist
}

func (p *propertyList) readWideText(rest []byte, n uint64) (any, error) {
	b, err := takeBytes(rest, 2*n)
	if err != nil {
		return nil, err
	}
	units := make([]uint16, n)
	for i := range units {
		units[i] = binary.BigEndian.Uint16(b[2*i:])
	}
	return string(utf16.Decode(units)), nil
}

func (p *propertyList) readObjectList(rest []byte, n uint64, depth int) (any, error) {
	b, err := takeBytes(rest, n*uint64(p.refs))
	if err != nil {
		return nil, err
	}
	var list []any
	for i := range int(n) {
		v, err := p.readObject(bigEndianNumber(b[i*p.refs:][:p.refs]), depth+1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

func (p *propertyList) dictionary(rest []byte, n uint64, depth int) (any, error) {
	b, err := takeBytes(rest, 2*n*uint64(p.refs))
	if err != nil {
		return nil, err
	}
	members := map[string]any{}
	for i := range int(n) {
		name, err := p.readObject(bigEndianNumber(b[i*p.refs:][:p.refs]), depth+1)
		if err != nil {
			return nil, err
		}
		v, err := p.readObject(bigEndianNumber(b[(int(n)+i)*p.refs:][:p.refs]), depth+1)
		if err != nil {
			return nil, err
		}
		if name, ok := name.(string); ok {
			members[name] = v
		}
	}
	return members, nil
}

func takeBytes(b []byte, n uint64) ([]byte, error) {
	if n > uint64(len(b)) {
		return nil, errInvalidPlist
	}
	return b[:n], nil
}

// bigEndianNumber is a number of up to eight bytes, the largest first.
func bigEndianNumber(b []byte) (n uint64) {
	for _, c := range b {
		n = n<<8 | uint64(c)
	}
	return n
}
