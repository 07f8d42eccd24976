package expression

import (
	"fmt"
	"time"
)

// moment is a date and time, or a date. A naive moment has no time zone and is kept as if it were UTC.
type moment struct {
	time  time.Time
	aware bool
	zone  string // the name of the zone for %Z; "" derives it from the offset
}

func (m *moment) value() Value { return Value{kind: dateTime, ref: m} }

// awareMoment returns t, cut to microseconds, as a value.
func awareMoment(t time.Time) Value {
	return (&moment{time: t.Truncate(time.Microsecond), aware: true}).value()
}

func dateValue(t time.Time) Value {
	year, month, day := t.Date()
	return Value{kind: date, ref: &moment{time: time.Date(year, month, day, 0, 0, 0, 0, time.UTC)}}
}

// withTime returns m at another time, if the calendar has it.
func (m *moment) withTime(t time.Time) (*moment, error) {
	if t.Year() < 1 || t.Year() > 9999 {
		return nil, valueError("the date is outside of the years 1 to 9999")
	}
	return &moment{time: t, aware: m.aware, zone: m.zone}, nil
}

func (m *moment) micros() int { return m.time.Nanosecond() / 1000 }

// seconds returns the Unix time with its fraction.
func (m *moment) seconds() float64 { return float64(m.time.UnixMicro()) / 1e6 }

// offset returns the zone as +01:00, or "" for a naive moment.
func (m *moment) offset(colon bool) string {
	if !m.aware {
		return ""
	}
	_, seconds := m.time.Zone()
	mark := '+'
	if seconds < 0 {
		mark, seconds = '-', -seconds
	}
	layout := "%c%02d%02d"
	if colon {
		layout = "%c%02d:%02d"
	}
	text := fmt.Sprintf(layout, mark, seconds/3600, seconds/60%60)
	if rest := seconds % 60; rest != 0 {
		if colon {
			text += ":"
		}
		text += fmt.Sprintf("%02d", rest)
	}
	return text
}

// zoneName returns the name for %Z.
func (m *moment) zoneName() string {
	switch _, seconds := m.time.Zone(); {
	case !m.aware:
		return ""
	case m.zone != "":
		return m.zone
	case seconds == 0:
		return "UTC"
	}
	return "UTC" + m.offset(true)
}

// String prints m, as a date or with its time.
func (m *moment) String(onlyDate bool) string {
	if onlyDate {
		return m.day()
	}
	return m.iso(" ")
}

func (m *moment) day() string {
	return fmt.Sprintf("%04d-%02d-%02d", m.time.Year(), m.time.Month(), m.time.Day())
}

// iso prints m in the form of ISO 8601 with a separator between date and time.
func (m *moment) iso(separator string) string {
	text := fmt.Sprintf("%s%s%02d:%02d:%02d", m.day(), separator, m.time.Hour(), m.time.Minute(), m.time.Second())
	if m.micros() != 0 {
		text += fmt.Sprintf(".%06d", m.micros())
	}
	return text + m.offset(true)
}

// literal prints m as it appears inside a list.
func (m *moment) literal(onlyDate bool) string {
	t := m.time
	if onlyDate {
		return fmt.Sprintf("datetime.date(%d, %d, %d)", t.Year(), t.Month(), t.Day())
	}
	text := fmt.Sprintf("datetime.datetime(%d, %d, %d, %d, %d", t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute())
	if t.Second() != 0 || m.micros() != 0 {
		text += fmt.Sprintf(", %d", t.Second())
	}
	if m.micros() != 0 {
		text += fmt.Sprintf(", %d", m.micros())
	}
	if m.aware {
		text += ", tzinfo=datetime.timezone.utc"
	}
	return text + ")"
}

// operateTimes evaluates an operation with a time or a duration. The second result is false if there is none.
func operateTimes(operator string, a, b Value) (Value, bool, error) {
	isTime := func(v Value) bool { return v.kind == dateTime || v.kind == date }
	switch {
	case isTime(a) && b.kind == span && (operator == "+" || operator == "-"):
		v, err := shift(a, b.ref.(*duration), operator == "-")
		return v, true, err
	case a.kind == span && isTime(b) && operator == "+":
		v, err := shift(b, a.ref.(*duration), false)
		return v, true, err
	case isTime(a) && a.kind == b.kind && operator == "-":
		x, y := a.ref.(*moment), b.ref.(*moment)
		if x.aware != y.aware {
			return Value{}, false, nil
		}
		return (&duration{micros: x.time.UnixMicro() - y.time.UnixMicro()}).value(), true, nil
	case a.kind == span && b.kind == span:
		return operateSpans(operator, a.ref.(*duration), b.ref.(*duration))
	case a.kind == span && b.isNumber():
		return scaleSpan(operator, a.ref.(*duration), b)
	case b.kind == span && a.isNumber() && operator == "*":
		return scaleSpan(operator, b.ref.(*duration), a)
	}
	return Value{}, false, nil
}

// shift adds a duration to a time or subtracts it. Months and years are those of the calendar; a day that the month
// does not have becomes its last day.
func shift(v Value, d *duration, back bool) (Value, error) {
	m := v.ref.(*moment)
	months, micros := d.years*12+d.months, d.micros
	if d.fractional {
		return Value{}, valueError("a part of a month or year cannot be added to a date")
	}
	if v.kind == date {
		micros = floorDays(micros) * microsPerDay
	}
	if back {
		months, micros = -months, -micros
	}
	t := m.time
	if months != 0 {
		year, month, day := t.Date()
		first := time.Date(year, month+time.Month(months), 1, 0, 0, 0, 0, time.UTC)
		day = min(day, first.AddDate(0, 1, -1).Day())
		t = time.Date(first.Year(), first.Month(), day, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), t.Location())
		if _, err := m.withTime(t); err != nil {
			return Value{}, err
		}
	}
	seconds := micros / 1e6
	t = time.Unix(t.Unix()+seconds, int64(t.Nanosecond())+(micros-seconds*1e6)*1000).In(t.Location())
	shifted, err := m.withTime(t)
	if err != nil {
		return Value{}, err
	}
	return Value{kind: v.kind, ref: shifted}, nil
}

func floorDays(micros int64) int64 {
	days := micros / microsPerDay
	if micros%microsPerDay < 0 {
		days--
	}
	return days
}
