package localfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Excerpt keeps the beginning of a text that may be long, and measures the whole of it.
type Excerpt struct {
	Limit int  // how many bytes are kept
	Sum   bool // whether the whole is hashed

	b     strings.Builder
	total int64
	hash  hash.Hash
}

// Text adds a text.
func (e *Excerpt) Text(text string) { e.appendBytes([]byte(text)) }

func (e *Excerpt) appendBytes(b []byte) {
	e.total += int64(len(b))
	if e.Sum {
		if e.hash == nil {
			e.hash = sha256.New()
		}
		_, _ = e.hash.Write(b) // a hash never fails
	}
	if room := e.Limit - e.b.Len(); room > 0 {
		e.b.Write(b[:min(room, len(b))])
	}
}

// Quoted adds a JSON text. Nothing of it is copied but what is kept.
func (e *Excerpt) Quoted(raw jsontext.Value) {
	if raw.Kind() != '"' {
		e.appendBytes(raw)
		return
	}
	rest := []byte(raw[1 : len(raw)-1])
	if room := e.Limit - e.b.Len(); room > 0 {
		e.b.Grow(min(room, len(rest)))
	}
	var char [utf8.UTFMax]byte
	for {
		i := bytes.IndexByte(rest, '\\')
		if i < 0 {
			e.appendBytes(rest)
			return
		}
		e.appendBytes(rest[:i])
		r, n := decodeEscape(rest[i:])
		e.appendBytes(utf8.AppendRune(char[:0], r))
		rest = rest[i+n:]
	}
}

// decodeEscape reads one escape of a valid JSON text.
func decodeEscape(b []byte) (r rune, n int) {
	if b[1] != 'u' {
		if i := strings.IndexByte(`bfnrt`, b[1]); i >= 0 {
			return rune("\b\f\n\r\t"[i]), 2
		}
		return rune(b[1]), 2
	}
	r = parseHexRune(b[2:6])
	if utf16.IsSurrogate(r) && len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
		if pair := utf16.DecodeRune(r, parseHexRune(b[8:12])); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return r, 6 // an unpaired surrogate is written as a replacement character
}

func parseHexRune(b []byte) rune {
	n, err := strconv.ParseUint(string(b), 16, 16)
	if err != nil {
		return utf8.RuneError
	}
	return rune(n)
}

// Total is the length of the whole.
func (e *Excerpt) Total() int64 { return e.total }

// Cut reports whether something is left out.
func (e *Excerpt) Cut() bool { return e.total > int64(e.b.Len()) }

// String is what is kept, ended at a whole character.
func (e *Excerpt) String() string {
	s := e.b.String()
	for i := 1; e.Cut() && i <= utf8.UTFMax && i <= len(s); i++ {
		if utf8.RuneStart(s[len(s)-i]) {
			if !utf8.FullRuneInString(s[len(s)-i:]) {
				s = s[:len(s)-i]
			}
			break
		}
	}
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// Marked returns String and, if text is left out, a mark with the length and hash of the whole.
func (e *Excerpt) Marked() string {
	if !e.Cut() {
		return e.String()
	}
	mark := fmt.Sprintf("\n[cut: %d bytes", e.total)
	if e.hash != nil {
		mark += ", sha256 " + hex.EncodeToString(e.hash.Sum(nil)[:16])
	}
	return e.String() + mark + "]"
}
