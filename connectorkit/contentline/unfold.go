package contentline

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxLineBytes bounds an unfolded line: what is longer is an attachment, and is cut.
const maxLineBytes = 1 << 20

// unfoldLines returns the unfolded lines of a text. Bytes are put
// together before they are decoded, because a fold may be within a character.
func unfoldLines(text []byte) []string {
	text = decodeByteOrder(text)
	breaks := byte('\n')
	if !bytes.ContainsRune(text, '\n') {
		breaks = '\r'
	}
	var lines []string
	var line []byte
	held, soft := false, false
	flush := func() {
		if held {
			lines = append(lines, decodeLine(line))
		}
		line, held, soft = line[:0], false, false
	}
	for len(text) > 0 {
		var physical []byte
		if i := bytes.IndexByte(text, breaks); i >= 0 {
			physical, text = text[:i], text[i+1:]
		} else {
			physical, text = text, nil
		}
		physical = bytes.TrimRight(physical, "\r")
		switch {
		case held && soft:
			line = append(line, physical...)
		case held && len(physical) > 0 && (physical[0] == ' ' || physical[0] == '\t'):
			line = append(line, physical[1:]...)
		default:
			flush()
			line, held = append(line, physical...), len(physical) > 0
		}
		if len(line) > maxLineBytes {
			line = line[:maxLineBytes]
		}
		soft = held && hasSoftBreak(line)
		if soft {
			line = line[:len(line)-1]
		}
	}
	flush()
	return lines
}

// hasSoftBreak reports whether a line ends with a soft break of quoted-printable.
func hasSoftBreak(line []byte) bool {
	if len(line) == 0 || line[len(line)-1] != '=' {
		return false
	}
	head, _, found := bytes.Cut(line[:min(len(line), 256)], []byte(":"))
	return found && bytes.Contains(bytes.ToUpper(head), []byte("QUOTED-PRINTABLE"))
}

// decodeByteOrder takes a byte order mark away, and UTF-16 with it.
func decodeByteOrder(text []byte) []byte {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(text, []byte{0xef, 0xbb, 0xbf}):
		return text[3:]
	case bytes.HasPrefix(text, []byte{0xff, 0xfe}):
		order = binary.LittleEndian
	case bytes.HasPrefix(text, []byte{0xfe, 0xff}):
		order = binary.BigEndian
	default:
		return text
	}
	units := make([]uint16, 0, len(text)/2)
	for i := 2; i+1 < len(text); i += 2 {
		units = append(units, order.Uint16(text[i:]))
	}
	return []byte(string(utf16.Decode(units)))
}

// windows1252High are the characters of Windows-1252 from 0x80 on that are not those of Latin-1.
var windows1252High = [32]rune{
	0x20ac, 0xfffd, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0xfffd, 0x017d,
	0xfffd,
	0xfffd, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0xfffd, 0x017e,
	0x0178,
}

// decodeLine reads bytes as characters and leaves out those that control a terminal.
func decodeLine(line []byte) string {
	if utf8.Valid(line) {
		if bytes.IndexFunc(line, isControl) < 0 {
			return string(line)
		}
		return strings.Map(printableRune, string(line))
	}
	var out strings.Builder
	for _, b := range line {
		r := rune(b)
		if b >= 0x80 && b < 0xa0 {
			r = windows1252High[b-0x80]
		}
		if r = printableRune(r); r >= 0 {
			out.WriteRune(r)
		}
	}
	return out.String()
}

func isControl(r rune) bool { return r < ' ' && r != '\t' && r != '\r' && r != '\n' || r == 0x7f }

func printableRune(r rune) rune {
	if isControl(r) {
		return -1
	}
	return r
}
