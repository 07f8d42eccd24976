package whatsapp

import (
	"strings"
	"unicode/utf8"
)

// lineStyle is how a phone begins the lines of its messages.
type lineStyle byte

const (
	styleBracketed lineStyle = '[' // [02.01.26, 10:11:12] Ana: text
	styleDashed    lineStyle = '-' // 02/01/2026, 10:11 - Ana: text
	styleColon     lineStyle = ':' // 24/3/14, 13:59:59: Ana: text
)

// lineStamp is the parsed beginning of a message. The line does not reveal which of the first two numbers is the day.
type lineStamp struct {
	style     lineStyle
	separator rune
	date      [3]int
	yearFirst bool
	hour      int
	minute    int
	second    int
	seconds   bool // it has any
	american  bool // the time is one of twelve hours, with AM or PM as Americans write them
}

// hasSameForm reports whether two lines can be from one file. A line of another form is text, such as a pasted chat.
func (s lineStamp) hasSameForm(o lineStamp) bool {
	return s.style == o.style && s.separator == o.separator && s.yearFirst == o.yearFirst && s.seconds == o.seconds
}

// lineScanner reads a line without regard to what cannot be seen: marks of direction are
// passed over, every space is a space, and every digit one of ours.
type lineScanner struct{ rest string }

// scriptZeros are the zeros of other scripts; their other digits follow.
var scriptZeros = []rune{0x0660, 0x06f0, 0x0966, 0x09e6, 0x0a66, 0x0ae6, 0x0b66, 0x0be6, 0x0c66, 0x0ce6, 0x0d66, 0x0e50,
	0x1040, 0x17e0, 0xff10}

func isInvisible(r rune) bool {
	return r == 0x200e || r == 0x200f || r == 0x061c || r == 0xfeff || r >= 0x202a && r <= 0x202e || r >= 0x2066 &&
		r <= 0x2069
}

func plainRune(r rune) rune {
	switch {
	case r == 0x00a0 || r == 0x202f || r == 0x2009 || r == 0x2007 || r == 0x3000 || r == '\t':
		return ' '
	case r < 0x0660:
		return r
	}
	for _, zero := range scriptZeros {
		if r >= zero && r <= zero+9 {
			return '0' + r - zero
		}
	}
	return r
}

// peekRune is the next character; zero at the end.
func (l *lineScanner) peekRune() rune {
	for l.rest != "" {
		r, n := utf8.DecodeRuneInString(l.rest)
		if !isInvisible(r) {
			return plainRune(r)
		}
		l.rest = l.rest[n:]
	}
	return 0
}

func (l *lineScanner) nextRune() rune {
	r := l.peekRune()
	if r != 0 {
		_, n := utf8.DecodeRuneInString(l.rest)
		l.rest = l.rest[n:]
	}
	return r
}

func (l *lineScanner) acceptAny(set string) rune {
	if r := l.peekRune(); r != 0 && strings.ContainsRune(set, r) {
		return l.nextRune()
	}
	return 0
}

func (l *lineScanner) skipSpaces() (n int) {
	for l.peekRune() == ' ' {
		l.nextRune()
		n++
	}
	return n
}

// readNumber reads at most four digits, and returns how many there were.
func (l *lineScanner) readNumber() (value, digits int) {
	for digits < 4 {
		r := l.peekRune()
		if r < '0' || r > '9' {
			break
		}
		l.nextRune()
		value = 10*value + int(r-'0')
		digits++
	}
	return value, digits
}

// readLineStamp parses the beginning of a message, and returns the rest of the line; false when the line begins none.
func readLineStamp(line string) (s lineStamp, body string, ok bool) {
	l := &lineScanner{rest: line}
	s.style = styleDashed
	if l.acceptAny("[") != 0 {
		s.style = styleBracketed
	}
	if !l.readDate(&s) {
		return s, "", false
	}
	l.acceptAny(",،")
	l.skipSpaces()
	if l.readLongestWord(weekdayNames) != "" {
		l.skipSpaces()
	}
	before := l.rest
	half := l.readLongestWord(dayHalves)
	l.skipSpaces()
	if !l.readTime(&s) {
		return s, "", false
	}
	spaced := l.skipSpaces()
	if half == "" {
		before = l.rest
		if half = l.readLongestWord(dayHalves); half != "" {
			spaced = l.skipSpaces()
		}
	}
	if half != "" && !s.twelveHours(dayHalves[half]) {
		return s, "", false
	}
	s.american = half != "" && (strings.HasPrefix(before, "AM") || strings.HasPrefix(before, "PM"))
	switch r := l.nextRune(); {
	case s.style == styleBracketed:
		if r != ']' {
			return s, "", false
		}
	case r == ':' && spaced == 0:
		s.style = styleColon
	case (r == '-' || r == '–') && spaced > 0:
	default:
		return s, "", false
	}
	if l.rest != "" && l.acceptAny(" ") == 0 && s.style != styleBracketed {
		return s, "", false
	}
	return s, l.rest, true
}

func (l *lineScanner) readDate(s *lineStamp) bool {
	widths := [3]int{}
	for i := range s.date {
		s.date[i], widths[i] = l.readNumber()
		if widths[i] == 0 {
			return false
		}
		if i == 2 {
			break
		}
		separator := l.acceptAny("/.-")
		if separator == 0 || i == 1 && separator != s.separator {
			return false
		}
		s.separator = separator
		if separator == '.' {
			l.skipSpaces()
		}
	}
	if s.separator == '.' {
		l.acceptAny(".")
	}
	switch {
	case widths[0] == 4 && widths[1] <= 2 && widths[2] <= 2:
		s.yearFirst = true
		s.date = [3]int{s.date[1], s.date[2], s.date[0]} // month, day, year
	case widths[0] <= 2 && widths[1] <= 2 && (widths[2] == 2 || widths[2] == 4):
		if widths[2] == 2 {
			s.date[2] += 2000
		}
	default:
		return false
	}
	switch year := s.date[2]; { // other calendars
	case year >= 2540 && year < 2700:
		s.date[2] -= 543 // Thai
	case year < 1990 || year > 2199:
		return false
	}
	return true
}

func (l *lineScanner) readTime(s *lineStamp) bool {
	var n int
	if s.hour, n = l.readNumber(); n == 0 || n > 2 {
		return false
	}
	separator := l.acceptAny(":.")
	if separator == 0 {
		return false
	}
	if s.minute, n = l.readNumber(); n != 2 {
		return false
	}
	saved := *l
	if l.acceptAny(string(separator)) != 0 {
		if s.second, n = l.readNumber(); n == 2 {
			s.seconds = true
		} else {
			*l, s.second = saved, 0
		}
	}
	return s.hour < 24 && s.minute < 60 && s.second < 60
}

// twelveHours makes a time of twelve hours one of twenty-four.
func (s *lineStamp) twelveHours(after bool) bool {
	if s.hour < 1 || s.hour > 12 {
		return !after || s.hour > 12 // some languages write both
	}
	s.hour %= 12
	if after {
		s.hour += 12
	}
	return true
}

// dayHalves of the day, as languages write them, and whether it is the second.
var dayHalves = map[string]bool{
	"am": false, "pm": true, "a.m.": false, "p.m.": true, "a. m.": false, "p. m.": true, "a.m": false, "p.m": true,
	"午前": false, "午後": true, "上午": false, "下午": true, "오전": false, "오후": true, "ص": false, "م": true,
	"dop.": false, "odp.": true, "de.": false, "du.": true, "sa": false, "ch": true, "öö": false, "ös": true,
	"पूर्वाह्न": false, "अपराह्न": true, "পূর্বাহ্ণ": false, "অপরাহ্ণ": true, "ق.ظ.": false, "ب.ظ.": true,
}

// weekdayNames that some languages put between date and time.
var weekdayNames = map[string]bool{
	"月曜日": true, "火曜日": true, "水曜日": true, "木曜日": true, "金曜日": true, "土曜日": true, "日曜日": true,
	"星期一": true, "星期二": true, "星期三": true, "星期四": true, "星期五": true, "星期六": true, "星期日": true,
}

// longestWord is that of the tables, in characters.
const longestWord = 12

// readLongestWord reads the longest matching word, in any case; empty when none matches.
func (l *lineScanner) readLongestWord(table map[string]bool) string {
	ahead := *l
	var text strings.Builder
	found, after := "", *l
	for range longestWord {
		r := ahead.nextRune()
		if r == 0 {
			break
		}
		text.WriteString(strings.ToLower(string(r)))
		if _, known := table[text.String()]; known {
			found, after = text.String(), ahead
		}
	}
	if found != "" {
		*l = after
	}
	return found
}
