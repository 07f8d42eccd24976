package contentline

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxLine bounds an unfolded line: what is longer is an attachment, and is cut.
const maxLine = 1 << 20

// unfold gives the lines of a text as they were before they were folded. Bytes are put
// together first and read as characters then, because a fold may stand within one.
func unfold(text []byte) []string {
	text = plain(text)
	breaks := byte('\n')
	if !bytes.ContainsRune(text, '\n') {
		breaks = '\r'
	}
	var lines []string
	var line []byte
	held, soft := false, false
	flush := func() {
		if held {
			lines = append(lines, decode(line))
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
		if len(line) > maxLine {
			line = line[:maxLine]
		}
		soft = held && softened(line)
		if soft {
			line = line[:len(line)-1]
		}
	}
	flush()
	return lines
}

// softened tells whether a line goes on because quoted-printable broke it.
func softened(line []byte) bool {
	if len(line) == 0 || line[len(line)-1] != '=' {
		return false
	}
	head, _, found := bytes.Cut(line[:min(len(line), 256)], []byte(":"))
	return found && bytes.Contains(bytes.ToUpper(head), []byte("QUOTED-PRINTABLE"))
}

// plain takes a byte order mark away, and UTF-16 with it.
func plain(text []byte) []byte {
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

// high are the characters of Windows-1252 from 0x80 on that are not those of Latin-1.
var high = [32]rune{
	0x20ac, 0xfffd, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0xfffd, 0x017d, 0xfffd,
	0xfffd, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0xfffd, 0x017e, 0x0178,
}

// decode reads bytes as characters and leaves out those that control a terminal.
func decode(line []byte) string {
	if utf8.Valid(line) {
		if bytes.IndexFunc(line, controls) < 0 {
			return string(line)
		}
		return strings.Map(printed, string(line))
	}
	var out strings.Builder
	for _, b := range line {
		r := rune(b)
		if b >= 0x80 && b < 0xa0 {
			r = high[b-0x80]
		}
		if r = printed(r); r >= 0 {
			out.WriteRune(r)
		}
	}
	return out.String()
}

func controls(r rune) bool { return r < ' ' && r != '\t' && r != '\r' && r != '\n' || r == 0x7f }

func printed(r rune) rune {
	if controls(r) {
		return -1
	}
	return r
}
