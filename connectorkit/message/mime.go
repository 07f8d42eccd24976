package message

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"strings"
)

const (
	maxPartNesting = 12
	maxPartCount   = 1000
)

// mimeParser takes the lines of a message as they pass and keeps nothing of them that is not asked for:
// a message may be larger than memory.
type mimeParser struct {
	top        partHeader
	boundaries []string  // of the parts that are open, the innermost last
	part       *mimePart // the leaf at work; nil between parts
	inHead     bool
	head       partHeader
	parts      int
	malformed  bool
	leaf       func(*partHeader) contentWriter // what a leaf is written to
	unended    contentWriter                   // that of the leaf at work when the lines ended

	begin bool // the next piece begins a line
}

// mimePart is a leaf being decoded.
type mimePart struct {
	to      contentWriter
	decode  string
	quantum []byte // of base64, not decoded yet
	ended   bool
	newline []byte // the end of the last line, which belongs to a boundary if one follows
}

// contentWriter takes the content of a leaf.
type contentWriter interface {
	io.Writer
	closeContent()
}

// parseLines reads lines, each whole or in pieces, until io.EOF.
func (p *mimeParser) parseLines(next func() (piece []byte, whole bool, err error)) error {
	p.inHead, p.begin = true, true
	for {
		piece, whole, err := next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			p.finishPart()
			return err
		}
		p.takePiece(piece, p.begin)
		p.begin = whole
	}
	if p.inHead && p.part == nil {
		p.beginBody()
	}
	if len(p.boundaries) > 0 {
		p.malformed = true // its last part has no end
	}
	if p.part != nil {
		p.unended = p.part.to
	}
	p.finishPart()
	return nil
}

// takePiece reads a piece of a line. First reports that the line begins with it.
func (p *mimeParser) takePiece(piece []byte, first bool) {
	bare := bytes.TrimRight(piece, "\r\n")
	if first && len(p.boundaries) > 0 && bytes.HasPrefix(bare, []byte("--")) &&
		p.matchBoundary(bytes.TrimRight(bare[2:], " \t")) {
		return
	}
	if p.inHead {
		h := p.currentHeader()
		if !h.addLine(bare, first) {
			p.beginBody()
		}
		return
	}
	if p.part != nil {
		p.part.decodePiece(bare, piece[len(bare):])
	}
}

// currentHeader is the head that is being read.
func (p *mimeParser) currentHeader() *partHeader {
	if p.parts == 0 && len(p.boundaries) == 0 {
		return &p.top
	}
	return &p.head
}

// matchBoundary closes open parts if the line is one of their boundaries.
func (p *mimeParser) matchBoundary(line []byte) bool {
	for i := len(p.boundaries) - 1; i >= 0; i-- {
		rest, ok := bytes.CutPrefix(line, []byte(p.boundaries[i]))
		if !ok || len(rest) > 0 && !bytes.Equal(rest, []byte("--")) {
			continue
		}
		if p.inHead {
			p.malformed = true
		}
		p.finishPart()
		p.inHead = false
		if len(rest) > 0 {
			p.boundaries = p.boundaries[:i]
			return true
		}
		p.boundaries = p.boundaries[:i+1]
		p.head, p.inHead = partHeader{}, true
		return true
	}
	return false
}

// beginBody begins what the head describes.
func (p *mimeParser) beginBody() {
	h := p.currentHeader()
	p.inHead = false
	p.malformed = p.malformed || h.broken
	kind, params := parseParameters(h.firstValue("content-type"))
	if b := params["boundary"]; strings.HasPrefix(kind, "multipart/") && b != "" && len(b) <= 200 &&
		len(p.boundaries) < maxPartNesting {
		p.boundaries = append(p.boundaries, b)
		return
	}
	if p.parts++; p.parts > maxPartCount {
		p.malformed = true
		return
	}
	p.part = &mimePart{to: p.leaf(h),
		decode: strings.ToLower(strings.TrimSpace(h.firstValue("content-transfer-encoding")))}
}

func (p *mimeParser) finishPart() {
	if p.part != nil {
		p.part.closePart()
		p.part = nil
	}
}

// decodePiece decodes a line, or a piece of one.
func (q *mimePart) decodePiece(line, end []byte) {
	switch q.decode {
	case "base64":
		q.decodeBase64(line)
	case "quoted-printable":
		_, _ = q.to.Write(q.newline)
		soft := bytes.HasSuffix(bytes.TrimRight(line, " \t"), []byte("=")) && len(end) > 0
		if len(end) > 0 {
			line = bytes.TrimRight(line, " \t")
		}
		if soft {
			line, end = line[:len(line)-1], nil
		}
		_, _ = q.to.Write(decodeQuotedPrintable(line))
		q.newline = lineEnding(end)
	default:
		_, _ = q.to.Write(q.newline)
		_, _ = q.to.Write(line)
		q.newline = lineEnding(end)
	}
}

func lineEnding(end []byte) []byte {
	if len(end) == 0 {
		return nil
	}
	return []byte("\n")
}

// decodeBase64 decodes what is of its alphabet and passes over everything else, until it is padded.
func (q *mimePart) decodeBase64(line []byte) {
	var out []byte
	for _, c := range line {
		switch {
		case q.ended:
		case c == '=':
			q.flushBase64(&out)
			q.ended = true
		case c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '+', c == '/':
			if q.quantum = append(q.quantum, c); len(q.quantum) == 4 {
				q.flushBase64(&out)
			}
		}
	}
	_, _ = q.to.Write(out)
}

func (q *mimePart) flushBase64(out *[]byte) {
	if len(q.quantum) > 1 {
		decoded, err := base64.RawStdEncoding.AppendDecode(*out, q.quantum)
		if err == nil {
			*out = decoded
		}
	}
	q.quantum = q.quantum[:0]
}

func (q *mimePart) closePart() {
	var out []byte
	q.flushBase64(&out)
	_, _ = q.to.Write(out)
	q.to.closeContent()
}

// decodeQuotedPrintable decodes =XX; what is no such code stays.
func decodeQuotedPrintable(line []byte) []byte {
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
