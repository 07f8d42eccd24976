package expression

import (
	"strconv"
	"strings"
	"time"
	"unicode"
)

// ParseTime reads a time in a format of the declarative language. A text without a zone is UTC.
func ParseTime(text, format string) (time.Time, error) {
	switch format {
	case "%s", "%ms", "%epoch_microseconds":
		n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
		if err != nil {
			return time.Time{}, valueError("%q is not a whole number of seconds or parts of them", text)
		}
		switch format {
		case "%s":
			return epochTime(n, 0)
		case "%ms":
			return epochTime(n/1e3, n%1e3*1e6)
		}
		return epochTime(n/1e6, n%1e6*1e3)
	case "%s_as_float":
		f, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || f-f != 0 || f > 1e12 || f < -1e12 {
			return time.Time{}, valueError("%q is not a number of seconds", text)
		}
		micros := roundHalfEven(f * 1e6)
		return epochTime(micros/1e6, micros%1e6*1e3)
	}
	m, err := strptime(text, strings.ReplaceAll(format, "%_ms", "%f"))
	if err != nil {
		return time.Time{}, err
	}
	return m.time, nil
}

func epochTime(seconds, nanos int64) (time.Time, error) {
	t := time.Unix(seconds, nanos).UTC()
	if t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}, valueError("%d is outside of the years 1 to 9999", seconds)
	}
	return t, nil
}

// timeFields are the parts of a time that strptime reads.
type timeFields struct {
	year, month, day, hour, minute, second, micros int
	yearDay                                        int
	half                                           byte // 'a' or 'p' of %p
	hour12, zoned                                  bool
	offset                                         int
	end                                            int // the place in the text after the match
}

// timeScanner matches a text with a format, trying shorter matches of a directive where longer ones fail.
type timeScanner struct {
	text, format string
	tries        int
}

// strptime reads a time as Python does.
func strptime(text, format string) (*moment, error) {
	for _, verb := range []string{"%c", "%x", "%X", "%D", "%T", "%R"} {
		if layout := compositeDirectives[verb[1]]; strings.Contains(format, verb) && strings.Contains("cxX", verb[1:]) {
			format = strings.ReplaceAll(format, verb, strings.ReplaceAll(layout, "%e", "%d"))
		}
	}
	if err := checkTimeFormat(format); err != nil {
		return nil, err
	}
	s := &timeScanner{text: text, format: format}
	fields, ok := s.match(0, 0, timeFields{year: 1900, month: 1, day: 1})
	if !ok || fields.end != len(text) {
		return nil, valueError("the time %q does not match the format %q", text, format)
	}
	return fields.moment(text)
}

func checkTimeFormat(format string) error {
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		if i++; i == len(format) || strings.IndexByte("aAbBdfHIjmMpSyYzZ%", format[i]) < 0 {
			return valueError("the format %q has a directive that cannot be read", format)
		}
	}
	return nil
}

// match matches the rest of the format with the rest of the text.
func (s *timeScanner) match(f, at int, fields timeFields) (timeFields, bool) {
	if s.tries++; s.tries > 10_000 {
		return fields, false
	}
	for f < len(s.format) {
		c := s.format[f]
		switch {
		case c == '%' && s.format[f+1] != '%':
			for _, length := range candidateLengths(s.format[f+1], s.text[at:]) {
				next := fields
				if !next.set(s.format[f+1], s.text[at:at+length]) {
					continue
				}
				if found, ok := s.match(f+2, at+length, next); ok {
					return found, true
				}
			}
			return fields, false
		case unicode.IsSpace(rune(c)):
			for f < len(s.format) && unicode.IsSpace(rune(s.format[f])) {
				f++
			}
			start := at
			for at < len(s.text) && unicode.IsSpace(rune(s.text[at])) {
				at++
			}
			if at == start {
				return fields, false
			}
		default:
			if c == '%' {
				f++
			}
			if at >= len(s.text) || !strings.EqualFold(s.text[at:at+1], s.format[f:f+1]) {
				return fields, false
			}
			f++
			at++
		}
	}
	fields.end = at
	return fields, true
}

// digitRanges are the values that a directive of one or two digits accepts, and whether one digit may be zero.
var digitRanges = map[byte]struct {
	low, high int
	zero      bool
}{'d': {1, 31, false}, 'H': {0, 23, true}, 'I': {1, 12, false}, 'm': {1, 12, false}, 'M': {0, 59, true},
	'S': {0, 61, true}}

// candidateLengths returns the lengths that a directive can match, the preferred one first.
func candidateLengths(verb byte, text string) []int {
	digits := 0
	for digits < len(text) && digits < 6 && text[digits] >= '0' && text[digits] <= '9' {
		digits++
	}
	var lengths []int
	switch verb {
	case 'Y':
		if digits >= 4 {
			return []int{4}
		}
	case 'y':
		if digits >= 2 {
			return []int{2}
		}
	case 'f', 'j':
		most := min(digits, map[byte]int{'f': 6, 'j': 3}[verb])
		for n := most; n > 0; n-- {
			lengths = append(lengths, n)
		}
	case 'a', 'A', 'b', 'B', 'p', 'Z':
		return nameLengths(verb, text)
	case 'z':
		return zoneLengths(text)
	default:
		r := digitRanges[verb]
		if digits >= 2 {
			if n, _ := strconv.Atoi(text[:2]); n >= r.low && n <= r.high {
				lengths = append(lengths, 2)
			}
		}
		if digits >= 1 && (text[0] != '0' || r.zero) {
			lengths = append(lengths, 1)
		}
		if verb == 'd' && len(text) >= 2 && text[0] == ' ' && text[1] >= '1' && text[1] <= '9' {
			lengths = append(lengths, 2)
		}
	}
	return lengths
}

func nameLengths(verb byte, text string) []int {
	var names []string
	switch verb {
	case 'a', 'A':
		names = dayNames[:]
	case 'b', 'B':
		names = monthNames[1:]
	case 'p':
		names = []string{"AM", "PM"}
	case 'Z':
		names = []string{"UTC", "GMT"}
	}
	for _, name := range names {
		if verb == 'a' || verb == 'b' {
			name = name[:3]
		}
		if len(text) >= len(name) && strings.EqualFold(text[:len(name)], name) {
			return []int{len(name)}
		}
	}
	return nil
}

// zoneLengths returns how much of text is Z, or an offset such as +0100, +01:00 and +01:00:30.
func zoneLengths(text string) []int {
	if strings.HasPrefix(text, "Z") {
		return []int{1}
	}
	if text == "" || text[0] != '+' && text[0] != '-' {
		return nil
	}
	var lengths []int
	at := 1
	for part := range 3 {
		from := at
		if part > 0 && from < len(text) && text[from] == ':' {
			from++
		}
		if from+2 > len(text) || !isDigits(text[from:from+2]) || part > 0 && text[from] > '5' {
			break
		}
		if at = from + 2; part > 0 {
			lengths = append([]int{at}, lengths...)
		}
	}
	return lengths
}

func isDigits(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return text != ""
}

// set stores what a directive matched.
func (t *timeFields) set(verb byte, text string) bool {
	n, _ := strconv.Atoi(strings.TrimSpace(text))
	switch verb {
	case 'Y':
		t.year = n
	case 'y':
		t.year = 1900 + n
		if n <= 68 {
			t.year += 100
		}
	case 'm':
		t.month = n
	case 'b', 'B':
		for i, name := range monthNames[1:] {
			if strings.EqualFold(text[:3], name[:3]) {
				t.month = i + 1
			}
		}
	case 'd':
		t.day = n
	case 'j':
		t.yearDay = n
		return n >= 1 && n <= 366
	case 'H':
		t.hour, t.hour12 = n, false
	case 'I':
		t.hour, t.hour12 = n, true
	case 'M':
		t.minute = n
	case 'S':
		t.second = n
	case 'f':
		t.micros, _ = strconv.Atoi(text + strings.Repeat("0", 6-len(text)))
	case 'p':
		t.half = text[0] | 0x20
	case 'z':
		t.zoned, t.offset = true, zoneSeconds(text)
	}
	return true
}

// zoneSeconds returns the seconds of an offset.
func zoneSeconds(text string) int {
	if text == "Z" {
		return 0
	}
	digits := strings.ReplaceAll(text[1:], ":", "") + "0000"
	hours, _ := strconv.Atoi(digits[:2])
	minutes, _ := strconv.Atoi(digits[2:4])
	seconds, _ := strconv.Atoi(digits[4:6])
	total := hours*3600 + minutes*60 + seconds
	if text[0] == '-' {
		return -total
	}
	return total
}

// moment returns the time of the fields.
func (t *timeFields) moment(text string) (*moment, error) {
	if t.hour12 {
		t.hour %= 12
		if t.half == 'p' {
			t.hour += 12
		}
	}
	if t.yearDay > 0 {
		day := time.Date(t.year, 1, t.yearDay, 0, 0, 0, 0, time.UTC)
		t.year, t.month, t.day = day.Year(), int(day.Month()), day.Day()
	}
	return t.checked(text)
}

func (t *timeFields) checked(text string) (*moment, error) {
	location := time.UTC
	if t.offset != 0 {
		location = time.FixedZone("", t.offset)
	}
	made := time.Date(t.year, time.Month(t.month), t.day, t.hour, t.minute, t.second, t.micros*1000, location)
	if made.Year() != t.year || int(made.Month()) != t.month || made.Day() != t.day || t.hour > 23 || t.minute > 59 ||
		t.second > 59 || t.year < 1 || t.year > 9999 {
		return nil, valueError("the calendar has no time %q", text)
	}
	return &moment{time: made, aware: t.zoned}, nil
}
