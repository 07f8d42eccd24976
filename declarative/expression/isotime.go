package expression

import (
	"strconv"
	"strings"
	"time"
)

// parseISO reads an ISO 8601 date with an optional time. A text without a zone is UTC; the result is in UTC.
func parseISO(text string) (*moment, error) {
	fields := timeFields{month: 1, day: 1}
	rest, ok := fields.isoDate(text)
	if ok && rest != "" {
		ok = fields.isoTime(rest[1:])
	}
	if !ok {
		return nil, valueError("%q is not an ISO 8601 time", text)
	}
	next := fields.hour == 24
	if next {
		if fields.minute != 0 || fields.second != 0 || fields.micros != 0 {
			return nil, valueError("%q is not an ISO 8601 time", text)
		}
		fields.hour = 0
	}
	m, err := fields.checked(text)
	if err != nil {
		return nil, err
	}
	if next {
		m.time = m.time.AddDate(0, 0, 1)
	}
	m.time, m.aware = m.time.UTC(), true
	if m.time.Year() < 1 || m.time.Year() > 9999 {
		return nil, valueError("%q is outside of the years 1 to 9999", text)
	}
	return m, nil
}

// isoDate reads a date and returns what follows it.
func (t *timeFields) isoDate(text string) (string, bool) {
	if len(text) < 4 || !isDigits(text[:4]) {
		return "", false
	}
	t.year, _ = strconv.Atoi(text[:4])
	rest := text[4:]
	if rest == "" {
		return "", true
	}
	if after, ok := t.isoMonth(rest); ok {
		return after, true
	}
	return t.isoWeekOrDay(rest)
}

// isoMonth reads -MM, -MM-DD or MMDD.
func (t *timeFields) isoMonth(rest string) (string, bool) {
	dashed := rest[0] == '-'
	if dashed {
		rest = rest[1:]
	}
	if len(rest) < 2 || !isDigits(rest[:2]) {
		return "", false
	}
	month, _ := strconv.Atoi(rest[:2])
	rest = rest[2:]
	day := 1
	switch {
	case rest == "" && !dashed:
		return "", false
	case rest != "":
		if dashed {
			if rest[0] != '-' {
				return "", false
			}
			rest = rest[1:]
		}
		if len(rest) < 2 || !isDigits(rest[:2]) {
			return "", false
		}
		day, _ = strconv.Atoi(rest[:2])
		rest = rest[2:]
	}
	t.month, t.day = month, day
	return rest, true
}

// isoWeekOrDay reads -Www, -Www-D or a day of the year.
func (t *timeFields) isoWeekOrDay(rest string) (string, bool) {
	dashed := strings.HasPrefix(rest, "-")
	rest = strings.TrimPrefix(rest, "-")
	var day time.Time
	if strings.HasPrefix(rest, "W") {
		if len(rest) < 3 || !isDigits(rest[1:3]) {
			return "", false
		}
		week, _ := strconv.Atoi(rest[1:3])
		rest = rest[3:]
		weekday := 1
		if rest != "" {
			if strings.HasPrefix(rest, "-") != dashed {
				return "", false
			}
			rest = strings.TrimPrefix(rest, "-")
			if rest == "" || !isDigits(rest[:1]) {
				return "", false
			}
			weekday = int(rest[0] - '0')
			rest = rest[1:]
		}
		if week < 1 || week > 53 || weekday < 1 || weekday > 7 {
			return "", false
		}
		fourth := time.Date(t.year, 1, 4, 0, 0, 0, 0, time.UTC)
		day = fourth.AddDate(0, 0, (week-1)*7+weekday-1-(int(fourth.Weekday())+6)%7)
	} else {
		if len(rest) < 3 || !isDigits(rest[:3]) {
			return "", false
		}
		number, _ := strconv.Atoi(rest[:3])
		rest = rest[3:]
		day = time.Date(t.year, 1, number, 0, 0, 0, 0, time.UTC)
		if number < 1 || day.Year() != t.year {
			return "", false
		}
	}
	t.year, t.month, t.day = day.Year(), int(day.Month()), day.Day()
	return rest, true
}

// isoTime reads hh, hh:mm, hh:mm:ss or the same without colons, a fraction, and a zone.
func (t *timeFields) isoTime(rest string) bool {
	if len(rest) < 2 {
		return false
	}
	colons := false
	for part := 0; rest != "" && part < 6; part++ {
		if strings.IndexByte("-+Zz", rest[0]) >= 0 {
			return t.isoZone(rest)
		}
		switch {
		case part == 1 && rest[0] == ':':
			colons = true
			rest = rest[1:]
		case part == 2 && colons:
			if rest[0] != ':' {
				return false
			}
			rest = rest[1:]
		}
		if part < 3 {
			length := min(2, len(rest))
			if !isDigits(rest[:length]) {
				return false
			}
			n, _ := strconv.Atoi(rest[:length])
			*[]*int{&t.hour, &t.minute, &t.second}[part] = n
			rest = rest[length:]
		}
		if part == 3 && (rest[0] == '.' || rest[0] == ',') {
			end := 1
			for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
				end++
			}
			if end > 1 {
				digits := rest[1:min(end, 7)]
				t.micros, _ = strconv.Atoi(digits + strings.Repeat("0", 6-len(digits)))
				rest = rest[end:]
			}
		}
	}
	return rest == ""
}

func (t *timeFields) isoZone(text string) bool {
	t.zoned = true
	if text == "Z" || text == "z" {
		return true
	}
	digits := strings.Replace(text[1:], ":", "", 1)
	switch {
	case text[0] != '+' && text[0] != '-':
		return false
	case len(text) != 3 && len(text) != 5 && len(text) != 6:
		return false
	case len(text) == 6 && text[3] != ':', len(text) == 5 && strings.Contains(text, ":") && text[3] != ':':
		return false
	case !isDigits(digits):
		return false
	}
	hours, _ := strconv.Atoi(digits[:2])
	minutes := 0
	if len(digits) > 2 {
		minutes, _ = strconv.Atoi(digits[2:])
	}
	if hours > 23 || minutes > 59 {
		return false
	}
	t.offset = hours*3600 + minutes*60
	if text[0] == '-' {
		t.offset = -t.offset
	}
	return true
}
