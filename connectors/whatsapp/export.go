package whatsapp

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// exportLine is a message of an export as it was written.
type exportLine struct {
	stamp  lineStamp
	author string // empty for system events
	text   string
	own    bool // the app marks the text as its own
}

// parsedExport is an export.
type parsedExport struct {
	lines    []exportLine
	dayFirst bool
	rejected int // lines before the first message
}

// dayMonthOrder is which part of a date comes first, from the owner's setting.
type dayMonthOrder int

const (
	orderUnknown dayMonthOrder = iota
	orderDayFirst
	monthFirst
)

// parseExport reads the text of an export. What begins no message belongs to the one before.
func parseExport(text string, order dayMonthOrder) parsedExport {
	var heads []lineHead
	form, known := lineStamp{}, false
	offset := 0
	for row := range strings.Lines(text) {
		start := offset
		offset += len(row)
		s, body, ok := readLineStamp(strings.TrimRight(row, "\r\n"))
		if !ok || known && !s.hasSameForm(form) {
			continue
		}
		if !known {
			form, known = s, true
		}
		heads = append(heads, lineHead{start, offset, s, body})
	}
	p := parsedExport{dayFirst: decideDayFirst(heads, order)}
	heads = slices.DeleteFunc(heads, func(h lineHead) bool {
		_, valid := h.stamp.dateTime(p.dayFirst)
		return !valid
	})
	before := text
	if len(heads) > 0 {
		before = text[:heads[0].start]
	}
	for row := range strings.Lines(before) {
		if readableText(row) != "" {
			p.rejected++
		}
	}
	for i, h := range heads {
		end := len(text)
		if i+1 < len(heads) {
			end = heads[i+1].start
		}
		m := splitAuthor(h.stamp, h.body)
		if more := strings.TrimRight(strings.ReplaceAll(text[h.end:end], "\r\n", "\n"), "\n"); more != "" {
			m.text += "\n" + more
		}
		p.lines = append(p.lines, m)
	}
	return p
}

// lineHead is where a message may begin.
type lineHead struct {
	start, end int // of its line
	stamp      lineStamp
	body       string
}

// decideDayFirst decides for the whole file whether days come before months. It uses dates that are valid in only one
// order, then the order in which time moves forward, then the owner's setting, then the default of the line style.
func decideDayFirst(heads []lineHead, reported dayMonthOrder) bool {
	if len(heads) == 0 {
		return true
	}
	form := heads[0].stamp
	if form.yearFirst {
		return false // the month follows
	}
	var possible, breaks [2]int
	for i, first := range []bool{true, false} {
		var before time.Time
		for _, h := range heads {
			day, valid := h.stamp.dateTime(first)
			if !valid {
				continue
			}
			possible[i]++
			if day.Before(before) {
				breaks[i]++
			}
			before = day
		}
	}
	switch {
	case possible[0] != possible[1]:
		return possible[0] > possible[1]
	case breaks[0] != breaks[1]:
		return breaks[0] < breaks[1]
	case reported != orderUnknown:
		return reported == orderDayFirst
	}
	return form.separator != '/' || !form.american
}

// dateTime is the date at its time of day, by the clock of the phone; false when there is no such
// day.
func (s lineStamp) dateTime(first bool) (time.Time, bool) {
	month, day := s.date[0], s.date[1]
	if first {
		month, day = day, month
	}
	at := time.Date(s.date[2], time.Month(month), day, s.hour, s.minute, s.second, 0, time.UTC)
	return at, month >= 1 && month <= 12 && day >= 1 && at.Day() == day
}

// longestAuthor is that of a name, in characters.
const longestAuthor = 100

// splitAuthor separates the author from the text. A line without an author is a system event.
func splitAuthor(s lineStamp, body string) exportLine {
	marked := func(text string) bool {
		r, _ := utf8.DecodeRuneInString(text)
		return r == 0x200e || r == 0x200f
	}
	author, text, found := strings.Cut(body, ": ")
	if !found {
		author, found = strings.CutSuffix(body, ":")
		text = ""
	}
	name := readableText(author)
	name = strings.TrimSpace(strings.TrimPrefix(name, "~"))
	if !found || name == "" || utf8.RuneCountInString(name) > longestAuthor || containsAny(eventPhrases, name) {
		return exportLine{stamp: s, text: body, own: true}
	}
	return exportLine{stamp: s, author: name, text: text, own: marked(text)}
}
