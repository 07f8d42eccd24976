package message

import (
	"bytes"
	"io"
	"mime"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/transform"
)

// decodeCharset returns bytes of a character set as text. An unknown set, or none, is UTF-8 where it can
// be, and Windows's Latin otherwise.
func decodeCharset(b []byte, charset string) string {
	charset = strings.ToLower(strings.TrimSpace(charset))
	if charset == "" || charset == "us-ascii" || charset == "utf-8" || charset == "utf8" {
		if utf8.Valid(b) {
			return string(b)
		}
		if charset == "utf-8" || charset == "utf8" {
			return strings.ToValidUTF8(string(b), "\uFFFD")
		}
		charset = "windows-1252"
	}
	set, err := htmlindex.Get(charset)
	if err != nil {
		if utf8.Valid(b) {
			return string(b)
		}
		if set, err = htmlindex.Get("windows-1252"); err != nil {
			return strings.ToValidUTF8(string(b), "\uFFFD")
		}
	}
	out, _, err := transform.Bytes(set.NewDecoder(), b)
	if err != nil {
		return strings.ToValidUTF8(string(b), "\uFFFD")
	}
	return strings.ToValidUTF8(string(out), "\uFFFD")
}

var wordDecoder = mime.WordDecoder{CharsetReader: func(charset string, r io.Reader) (io.Reader, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	return strings.NewReader(decodeCharset(b, charset)), nil
}}

// decodeHeaderWords decodes the words of a header; bytes that are no ASCII are read as text where they can be.
func decodeHeaderWords(value string) string {
	text := decodeCharset([]byte(value), "")
	if out, err := wordDecoder.DecodeHeader(text); err == nil {
		text = out
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r == '\n' || r == '\r' || r == '\t' {
			return ' '
		}
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, text))
}

// hidden are elements without visible text; blockElements begin a new line.
var (
	hiddenElements = map[string]bool{"script": true, "style": true, "head": true, "title": true, "template": true,
		"noscript": true}
	blockElements = map[string]bool{
		"p": true, "div": true, "br": true, "tr": true, "li": true, "ul": true, "ol": true, "table": true, "blockquote": true,
		"pre": true, "hr": true,
		"h1": true, "h2": true, "h3": true, "h4": true, "h5": true, "h6": true, "section": true, "article": true,
		"header": true, "footer": true,
	}
)

// htmlToText returns the visible text of an HTML page.
func htmlToText(page string) string {
	z := html.NewTokenizer(strings.NewReader(page))
	t := visibleText{} // space before the first word is trimmed at the end
	for {
		switch z.Next() {
		case html.ErrorToken:
			return strings.TrimSpace(t.b.String())
		case html.StartTagToken, html.SelfClosingTagToken:
			name, _ := z.TagName()
			t.startElement(string(name))
		case html.EndTagToken:
			name, _ := z.TagName()
			t.endElement(string(name))
		case html.TextToken:
			t.addText(z.Text())
		}
	}
}

// visibleText collects the visible text of a page.
type visibleText struct {
	b     strings.Builder
	skip  string // the hidden element
	fresh bool   // at the beginning of a line
}

func (t *visibleText) startElement(name string) {
	if hiddenElements[name] && t.skip == "" && name != "noscript" {
		t.skip = name
	}
	if name == "body" {
		t.skip = ""
	}
	t.breakLine(name)
	if name == "td" && !t.fresh {
		t.b.WriteByte(' ')
	}
}

func (t *visibleText) endElement(name string) {
	if name == t.skip {
		t.skip = ""
	}
	t.breakLine(name)
}

// breakLine begins a line if the element does.
func (t *visibleText) breakLine(name string) {
	if blockElements[name] && !t.fresh {
		t.b.WriteByte('\n')
		t.fresh = true
	}
}

// addText adds text with single spaces.
func (t *visibleText) addText(text []byte) {
	if t.skip != "" || len(text) == 0 {
		return
	}
	words := bytes.Fields(text)
	if len(words) == 0 {
		if !t.fresh && !strings.HasSuffix(t.b.String(), " ") {
			t.b.WriteByte(' ')
		}
		return
	}
	if !t.fresh && isSpace(text[0]) {
		t.b.WriteByte(' ')
	}
	t.b.Write(bytes.Join(words, []byte(" ")))
	if isSpace(text[len(text)-1]) {
		t.b.WriteByte(' ')
	}
	t.fresh = false
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }
