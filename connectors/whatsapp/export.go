package whatsapp

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// line is a message of an export as it was written.
type line struct {
	stamp  stamp
	author string // empty for what nobody wrote
	text   string
	own    bool // the app marks the text as its own
}

// parsed is an export.
type parsed struct {
	lines    []line
	dayFirst bool
	rejected int // lines before the first message
}

// order is which part of a date comes first, where the owner says it.
type order int

const (
	unsaid order = iota
	dayFirst
	monthFirst
)

// parse reads the text of an export. What begins no message belongs to the one before.
func parse(text string, said order) parsed {
	var heads []head
	form, known := stamp{}, false
	offset := 0
	for row := range strings.Lines(text) {
		start := offset
		offset += len(row)
		s, body, ok := readStamp(strings.TrimRight(row, "\r\n"))
		if !ok || known && !s.sameForm(form) {
			continue
		}
		if !known {
			form, known = s, true
		}
		heads = append(heads, head{start, offset, s, body})
	}
	p := parsed{dayFirst: decide(heads, said)}
	heads = slices.DeleteFunc(heads, func(h head) bool {
		_, valid := h.stamp.day(p.dayFirst)
		return !valid
	})
	before := text
	if len(heads) > 0 {
		before = text[:heads[0].start]
	}
	for row := range strings.Lines(before) {
		if clean(row) != "" {
			p.rejected++
		}
	}
	for i, h := range heads {
		end := len(text)
		if i+1 < len(heads) {
			end = heads[i+1].start
		}
		m := split(h.stamp, h.body)
		if more := strings.TrimRight(strings.ReplaceAll(text[h.end:end], "\r\n", "\n"), "\n"); more != "" {
			m.text += "\n" + more
		}
		p.lines = append(p.lines, m)
	}
	return p
}

// head is where a message may begin.
type head struct {
	start, end int // of its line
	stamp      stamp
	body       string
}

// decide finds out over the whole file whether days come before months: by dates that are
// possible in one order alone, else by the order in which time goes forward, else by what
// the owner said, else by what goes with the form.
func decide(heads []head, said order) bool {
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
			day, valid := h.stamp.day(first)
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
	case said != unsaid:
		return said == dayFirst
	}
	return form.separator != '/' || !form.american
}

// day is the date at its time of day, by the clock of the phone; false when there is no such
// day.
func (s stamp) day(first bool) (time.Time, bool) {
	month, day := s.date[0], s.date[1]
	if first {
		month, day = day, month
	}
	at := time.Date(s.date[2], time.Month(month), day, s.hour, s.minute, s.second, 0, time.UTC)
	return at, month >= 1 && month <= 12 && day >= 1 && at.Day() == day
}

// longestAuthor is that of a name, in characters.
const longestAuthor = 100

// split tells who wrote a message from what it says. Where a line has no author, nobody did.
func split(s stamp, body string) line {
	marked := func(text string) bool {
		r, _ := utf8.DecodeRuneInString(text)
		return r == 0x200e || r == 0x200f
	}
	author, text, found := strings.Cut(body, ": ")
	if !found {
		author, found = strings.CutSuffix(body, ":")
		text = ""
	}
	name := clean(author)
	name = strings.TrimSpace(strings.TrimPrefix(name, "~"))
	if !found || name == "" || utf8.RuneCountInString(name) > longestAuthor || contains(events, name) {
		return line{stamp: s, text: body, own: true}
	}
	return line{stamp: s, author: name, text: text, own: marked(text)}
}
