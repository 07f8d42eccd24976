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

// decoded gives bytes of a character set as text. An unknown set, or none, is UTF-8 where it can
// be, and Windows's Latin otherwise.
func decoded(b []byte, charset string) string {
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
	return strings.NewReader(decoded(b, charset)), nil
}}

// plain decodes the words of a header; bytes that are no ASCII are read as text where they can be.
func plain(value string) string {
	text := decoded([]byte(value), "")
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

// hidden are elements whose text nobody sees; lines are those that stand on lines of their own.
var (
	hidden = map[string]bool{"script": true, "style": true, "head": true, "title": true, "template": true, "noscript": true}
	lines  = map[string]bool{
		"p": true, "div": true, "br": true, "tr": true, "li": true, "ul": true, "ol": true, "table": true, "blockquote": true, "pre": true, "hr": true,
		"h1": true, "h2": true, "h3": true, "h4": true, "h5": true, "h6": true, "section": true, "article": true, "header": true, "footer": true,
	}
)

// reduced gives the text of an HTML page as somebody would read it.
func reduced(page string) string {
	z := html.NewTokenizer(strings.NewReader(page))
	var b strings.Builder
	skip := ""
	fresh := true // at the beginning of a line
	for {
		switch z.Next() {
		case html.ErrorToken:
			return strings.TrimSpace(b.String())
		case html.StartTagToken, html.SelfClosingTagToken:
			raw, _ := z.TagName()
			name := string(raw)
			if hidden[name] && skip == "" && name != "noscript" {
				skip = name
			}
			if name == "body" {
				skip = ""
			}
			if lines[name] && !fresh {
				b.WriteByte('\n')
				fresh = true
			}
			if name == "td" && !fresh {
				b.WriteByte(' ')
			}
		case html.EndTagToken:
			raw, _ := z.TagName()
			name := string(raw)
			if name == skip {
				skip = ""
			}
			if lines[name] && !fresh {
				b.WriteByte('\n')
				fresh = true
			}
		case html.TextToken:
			if skip != "" {
				continue
			}
			text := z.Text()
			words := bytes.Fields(text)
			if len(words) == 0 {
				if !fresh && len(text) > 0 && !strings.HasSuffix(b.String(), " ") {
					b.WriteByte(' ')
				}
				continue
			}
			if !fresh && (text[0] == ' ' || text[0] == '\n' || text[0] == '\t' || text[0] == '\r') {
				b.WriteByte(' ')
			}
			b.Write(bytes.Join(words, []byte(" ")))
			if last := text[len(text)-1]; last == ' ' || last == '\n' || last == '\t' || last == '\r' {
				b.WriteByte(' ')
			}
			fresh = false
		}
	}
}
