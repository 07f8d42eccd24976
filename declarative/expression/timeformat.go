package expression

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// FormatTime writes t in a format of the declarative language: the directives of strftime, and %s (seconds), %ms
// (milliseconds), %_ms (three digits), %s_as_float and %epoch_microseconds.
func FormatTime(t time.Time, format string) (string, error) {
	return formatMoment(&moment{time: t.Truncate(time.Microsecond), aware: true}, format)
}

func formatMoment(m *moment, format string) (string, error) {
	switch format {
	case "%s":
		return strconv.FormatInt(int64(m.seconds()), 10), nil
	case "%s_as_float":
		return printText(FloatValue(m.seconds())), nil
	case "%epoch_microseconds":
		return strconv.FormatInt(int64(m.seconds()*1_000_000), 10), nil
	case "%ms":
		return strconv.FormatInt(int64(m.seconds()*1000), 10), nil
	}
	if !strings.Contains(format, "%_ms") {
		return strftime(m, false, format)
	}
	text, err := strftime(m, false, strings.ReplaceAll(format, "%_ms", "%f"))
	if err != nil {
		return "", err
	}
	micros := fmt.Sprintf("%06d", m.micros())
	return strings.ReplaceAll(text, micros, fmt.Sprintf("%03d", m.micros()/1000)), nil
}

var dayNames = [...]string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"}

var monthNames = [...]string{"", "January", "February", "March", "April", "May", "June", "July", "August", "September",
	"October", "November", "December"}

// strftime writes m as Python and the C library do. An unknown directive stays as it is.
func strftime(m *moment, onlyDate bool, format string) (string, error) {
	var b []byte
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			b = append(b, format[i])
			continue
		}
		end := i + 1
		var flag byte
		width := 0
		for end < len(format) && strings.IndexByte("_-0^#", format[end]) >= 0 {
			flag = format[end]
			end++
		}
		for end < len(format) && format[end] >= '0' && format[end] <= '9' && width < 100 {
			width = width*10 + int(format[end]-'0')
			end++
		}
		if end < len(format) && (format[end] == 'E' || format[end] == 'O') {
			end++
		}
		if end == len(format) {
			return string(append(b, format[i:]...)), nil
		}
		text, ok := directive(m, onlyDate, format[end], flag, width)
		if !ok {
			text = format[i : end+1]
		}
		b = append(b, text...)
		if len(b) > MaxResult {
			return "", errResult
		}
		i = end
	}
	return string(b), nil
}

// compositeDirectives are the directives that other directives spell out.
var compositeDirectives = map[byte]string{'c': "%a %b %e %H:%M:%S %Y", 'D': "%m/%d/%y", 'x': "%m/%d/%y",
	'F': "%Y-%m-%d", 'r': "%I:%M:%S %p", 'R': "%H:%M", 'T': "%H:%M:%S", 'X': "%H:%M:%S"}

// directive writes one directive.
func directive(m *moment, onlyDate bool, verb, flag byte, width int) (string, bool) {
	if layout, ok := compositeDirectives[verb]; ok {
		text, _ := strftime(m, onlyDate, layout)
		return padText(text, flag, width), true
	}
	if text, ok := textDirective(m, onlyDate, verb); ok {
		return padText(text, flag, width), true
	}
	n, digits, pad, ok := numberDirective(m, verb)
	if !ok {
		return "", false
	}
	switch flag {
	case '_':
		pad = ' '
	case '0':
		pad = '0'
	case '-':
		digits = 0
	}
	text := strconv.Itoa(n)
	for len(text) < max(digits, width) {
		text = string(pad) + text
	}
	return text, true
}

func padText(text string, flag byte, width int) string {
	switch flag {
	case '^':
		text = strings.ToUpper(text)
	case '#':
		if text == "AM" || text == "PM" {
			text = strings.ToLower(text)
		} else {
			text = strings.ToUpper(text)
		}
	}
	pad := " "
	if flag == '0' {
		pad = "0"
	}
	for len(text) < width {
		text = pad + text
	}
	return text
}

func textDirective(m *moment, onlyDate bool, verb byte) (string, bool) {
	t := m.time
	switch verb {
	case 'a':
		return dayNames[t.Weekday()][:3], true
	case 'A':
		return dayNames[t.Weekday()], true
	case 'b', 'h':
		return monthNames[t.Month()][:3], true
	case 'B':
		return monthNames[t.Month()], true
	case 'p', 'P':
		half := "AM"
		if t.Hour() >= 12 {
			half = "PM"
		}
		if verb == 'P' {
			half = strings.ToLower(half)
		}
		return half, true
	case 'f':
		return fmt.Sprintf("%06d", m.micros()), true
	case 'z', 'Z':
		if onlyDate {
			return "", true
		}
		if verb == 'z' {
			return m.offset(false), true
		}
		return m.zoneName(), true
	case 'n':
		return "\n", true
	case 't':
		return "\t", true
	case '%':
		return "%", true
	}
	return "", false
}

// numberDirective returns a number with its usual digits and padding.
func numberDirective(m *moment, verb byte) (n, digits int, pad byte, ok bool) {
	t := m.time
	hour12 := (t.Hour()+11)%12 + 1
	isoYear, isoWeek := t.ISOWeek()
	weekday := int(t.Weekday())
	switch verb {
	case 'd':
		return t.Day(), 2, '0', true
	case 'e':
		return t.Day(), 2, ' ', true
	case 'H':
		return t.Hour(), 2, '0', true
	case 'k':
		return t.Hour(), 2, ' ', true
	case 'I':
		return hour12, 2, '0', true
	case 'l':
		return hour12, 2, ' ', true
	case 'j':
		return t.YearDay(), 3, '0', true
	case 'm':
		return int(t.Month()), 2, '0', true
	case 'M':
		return t.Minute(), 2, '0', true
	case 'S':
		return t.Second(), 2, '0', true
	case 'Y':
		return t.Year(), 1, '0', true
	case 'C':
		return t.Year() / 100, 2, '0', true
	case 'y':
		return t.Year() % 100, 2, '0', true
	case 'G':
		return isoYear, 1, '0', true
	case 'g':
		return isoYear % 100, 2, '0', true
	case 'V':
		return isoWeek, 2, '0', true
	case 'u':
		return (weekday+6)%7 + 1, 1, '0', true
	case 'w':
		return weekday, 1, '0', true
	case 'U':
		return (t.YearDay() + 6 - weekday) / 7, 2, '0', true
	case 'W':
		return (t.YearDay() + 6 - (weekday+6)%7) / 7, 2, '0', true
	case 's':
		// The C library ignores the zone and reads the clock as local time, which is UTC here.
		_, offset := t.Zone()
		return int(t.Unix()) + offset, 1, '0', true
	}
	return 0, 0, 0, false
}
