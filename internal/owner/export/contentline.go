package export

import (
	"io"
	"strings"
	"unicode/utf8"
)

// contentLines writes the lines of calendars and of cards: folded at 75 bytes, each ended by CRLF.
type contentLines struct {
	to  io.Writer
	err error
}

// line writes a property. The value is written as it is: escape texts with escapeValue.
func (c *contentLines) line(name, value string) {
	if value == "" || c.err != nil {
		return
	}
	c.raw(name + ":" + value)
}

func (c *contentLines) raw(line string) {
	var folded strings.Builder
	room := 75
	for _, r := range line {
		if r < ' ' && r != '\t' || r == utf8.RuneError || r == 0x7f {
			continue
		}
		if n := utf8.RuneLen(r); n > room {
			folded.WriteString("\r\n ")
			room = 74 - n
		} else {
			room -= n
		}
		folded.WriteRune(r)
	}
	folded.WriteString("\r\n")
	if c.err == nil {
		_, c.err = io.WriteString(c.to, folded.String())
	}
}

var valueSigns = strings.NewReplacer(`\`, `\\`, ";", `\;`, ",", `\,`, "\r\n", `\n`, "\n", `\n`, "\r", `\n`)

// escapeValue escapes a text for a property.
func escapeValue(text string) string { return valueSigns.Replace(text) }

// escapeParameter makes a text a quoted parameter.
func escapeParameter(text string) string {
	return `"` + strings.Map(func(r rune) rune {
		if r == '"' || r < ' ' {
			return '\''
		}
		return r
	}, text) + `"`
}

// plainWord keeps a word of a parameter from ending it.
func plainWord(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return -1
	}, text)
}

// oneValue keeps a value, such as an address or a rule, from beginning a line of its own.
func oneValue(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, text)
}
