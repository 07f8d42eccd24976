package message

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"strings"
)

const (
	maxNesting = 12
	maxParts   = 1000
)

// parser takes the lines of a message as they pass and keeps nothing of them that is not asked for:
// a message may be larger than memory.
type parser struct {
	top        header
	boundaries []string // of the parts that are open, the innermost last
	part       *part    // the leaf at work; nil between parts
	inHead     bool
	head       header
	parts      int
	malformed  bool
	leaf       func(*header) sink // what a leaf is written to
	unended    sink               // that of the leaf at work when the lines ended

	begin bool // the next piece begins a line
}

// part is a leaf being decoded.
type part struct {
	to      sink
	decode  string
	quantum []byte // of base64, not decoded yet
	ended   bool
	newline []byte // the end of the last line, which belongs to a boundary if one follows
}

// sink takes the content of a leaf.
type sink interface {
	io.Writer
	close()
}

// parse reads lines, each whole or in pieces, until io.EOF.
func (p *parser) parse(next func() (piece []byte, whole bool, err error)) error {
	p.inHead, p.begin = true, true
	for {
		piece, whole, err := next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			p.endPart()
			return err
		}
		p.take(piece, p.begin)
		p.begin = whole
	}
	if p.inHead && p.part == nil {
		p.startBody()
	}
	if len(p.boundaries) > 0 {
		p.malformed = true // its last part has no end
	}
	if p.part != nil {
		p.unended = p.part.to
	}
	p.endPart()
	return nil
}

// take reads a piece of a line; first says that the line begins with it.
func (p *parser) take(piece []byte, first bool) {
	bare := bytes.TrimRight(piece, "\r\n")
	if first && len(p.boundaries) > 0 && bytes.HasPrefix(bare, []byte("--")) && p.boundary(bytes.TrimRight(bare[2:], " \t")) {
		return
	}
	if p.inHead {
		h := p.current()
		if !h.line(bare, first) {
			p.startBody()
		}
		return
	}
	if p.part != nil {
		p.part.write(bare, piece[len(bare):])
	}
}

// current is the head that is being read.
func (p *parser) current() *header {
	if p.parts == 0 && len(p.boundaries) == 0 {
		return &p.top
	}
	return &p.head
}

// boundary ends what is open when the line says so.
func (p *parser) boundary(line []byte) bool {
	for i := len(p.boundaries) - 1; i >= 0; i-- {
		rest, ok := bytes.CutPrefix(line, []byte(p.boundaries[i]))
		if !ok || len(rest) > 0 && !bytes.Equal(rest, []byte("--")) {
			continue
		}
		if p.inHead {
			p.malformed = true
		}
		p.endPart()
		p.inHead = false
		if len(rest) > 0 {
			p.boundaries = p.boundaries[:i]
			return true
		}
		p.boundaries = p.boundaries[:i+1]
		p.head, p.inHead = header{}, true
		return true
	}
	return false
}

// startBody begins what the head describes.
func (p *parser) startBody() {
	h := p.current()
	p.inHead = false
	p.malformed = p.malformed || h.broken
	kind, params := parameters(h.get("content-type"))
	if b := params["boundary"]; strings.HasPrefix(kind, "multipart/") && b != "" && len(b) <= 200 && len(p.boundaries) < maxNesting {
		p.boundaries = append(p.boundaries, b)
		return
	}
	if p.parts++; p.parts > maxParts {
		p.malformed = true
		return
	}
	p.part = &part{to: p.leaf(h), decode: strings.ToLower(strings.TrimSpace(h.get("content-transfer-encoding")))}
}

func (p *parser) endPart() {
	if p.part != nil {
		p.part.close()
		p.part = nil
	}
}

// write decodes a line, or a piece of one.
func (q *part) write(line, end []byte) {
	switch q.decode {
	case "base64":
		q.base64(line)
	case "quoted-printable":
		_, _ = q.to.Write(q.newline)
		soft := bytes.HasSuffix(bytes.TrimRight(line, " \t"), []byte("=")) && len(end) > 0
		if len(end) > 0 {
			line = bytes.TrimRight(line, " \t")
		}
		if soft {
			line, end = line[:len(line)-1], nil
		}
		_, _ = q.to.Write(unquoted(line))
		q.newline = newlineOf(end)
	default:
		_, _ = q.to.Write(q.newline)
		_, _ = q.to.Write(line)
		q.newline = newlineOf(end)
	}
}

func newlineOf(end []byte) []byte {
	if len(end) == 0 {
		return nil
	}
	return []byte("\n")
}

// base64 decodes what is of its alphabet and passes over everything else, until it is padded.
func (q *part) base64(line []byte) {
	var out []byte
	for _, c := range line {
		switch {
		case q.ended:
		case c == '=':
			q.flush(&out)
			q.ended = true
		case c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '+', c == '/':
			if q.quantum = append(q.quantum, c); len(q.quantum) == 4 {
				q.flush(&out)
			}
		}
	}
	_, _ = q.to.Write(out)
}

func (q *part) flush(out *[]byte) {
	if len(q.quantum) > 1 {
		decoded, err := base64.RawStdEncoding.AppendDecode(*out, q.quantum)
		if err == nil {
			*out = decoded
		}
	}
	q.quantum = q.quantum[:0]
}

func (q *part) close() {
	var out []byte
	q.flush(&out)
	_, _ = q.to.Write(out)
	q.to.close()
}

// unquoted decodes =XX; what is no such code stays.
func unquoted(line []byte) []byte {
	if bytes.IndexByte(line, '=') < 0 {
		return line
	}
	out := make([]byte, 0, len(line))
	for i := 0; i < len(line); i++ {
		if line[i] == '=' && i+2 < len(line) {
			hi, ok1 := hexDigit(line[i+1])
			lo, ok2 := hexDigit(line[i+2])
			if ok1 && ok2 {
				out = append(out, hi<<4|lo)
				i += 2
				continue
			}
		}
		out = append(out, line[i])
	}
	return out
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	}
	return 0, false
}
