package expression

import (
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const microsPerDay = 24 * 60 * 60 * 1_000_000

// duration is a length of time. Years and months are those of the calendar.
type duration struct {
	years, months int64
	micros        int64
	calendar      bool // the text names years or months
	fractional    bool // it names a part of a year or month
}

// Duration is a length of time as an ISO 8601 text names it, such as P1M or PT12H.
type Duration struct{ of duration }

// ParseDuration reads an ISO 8601 duration.
func ParseDuration(text string) (Duration, error) {
	d, err := parseDuration(text)
	if err != nil {
		return Duration{}, err
	}
	return Duration{*d}, nil
}

// After returns the time that is d after t. A month is a month of the calendar.
func (d Duration) After(t time.Time) (time.Time, error) { return d.from(t, false) }

// Before returns the time that is d before t.
func (d Duration) Before(t time.Time) (time.Time, error) { return d.from(t, true) }

func (d Duration) from(t time.Time, back bool) (time.Time, error) {
	v, err := shift((&moment{time: t, aware: true}).value(), &d.of, back)
	if err != nil {
		return time.Time{}, err
	}
	return v.ref.(*moment).time, nil
}

func (d *duration) value() Value { return Value{kind: span, ref: d} }

func (d *duration) isZero() bool {
	return d.years == 0 && d.months == 0 && d.micros == 0 && !d.fractional
}

func (d *duration) negated() *duration {
	n := *d
	n.years, n.months, n.micros = -d.years, -d.months, -d.micros
	return &n
}

func (d *duration) equal(other *duration) bool {
	return d.years*12+d.months == other.years*12+other.months && d.micros == other.micros
}

// print returns the duration as the original prints it.
func (d *duration) print(quoted bool) string {
	days := floorDays(d.micros)
	rest := d.micros - days*microsPerDay
	if quoted {
		return d.literal(days, rest)
	}
	var parts []string
	if d.years != 0 {
		parts = append(parts, fmt.Sprintf("%d years", d.years))
	}
	switch {
	case d.months > 1:
		parts = append(parts, fmt.Sprintf("%d months", d.months))
	case d.months != 0:
		parts = append(parts, fmt.Sprintf("%d month", d.months))
	}
	clock := fmt.Sprintf("%d:%02d:%02d", rest/3_600_000_000, rest/60_000_000%60, rest/1_000_000%60)
	if micros := rest % 1_000_000; micros != 0 {
		clock += fmt.Sprintf(".%06d", micros)
	}
	switch days {
	case 0:
	case 1, -1:
		clock = fmt.Sprintf("%d day, %s", days, clock)
	default:
		clock = fmt.Sprintf("%d days, %s", days, clock)
	}
	return strings.Join(append(parts, clock), ", ")
}

func (d *duration) literal(days, rest int64) string {
	if d.calendar {
		return fmt.Sprintf("isodate.duration.Duration(%d, %d, %d, years=%d, months=%d)",
			days, rest/1e6, rest%1e6, d.years, d.months)
	}
	var parts []string
	for _, part := range []struct {
		name  string
		value int64
	}{{"days", days}, {"seconds", rest / 1e6}, {"microseconds", rest % 1e6}} {
		if part.value != 0 {
			parts = append(parts, fmt.Sprintf("%s=%d", part.name, part.value))
		}
	}
	if len(parts) == 0 {
		parts = []string{"0"}
	}
	return "datetime.timedelta(" + strings.Join(parts, ", ") + ")"
}

// durationText is the form P1Y2M3W4DT5H6M7S. Each part may have a fraction.
var durationText = regexp.MustCompile(`^([+-])?P(?:(\d+(?:[,.]\d+)?)Y)?(?:(\d+(?:[,.]\d+)?)M)?(?:(\d+(?:[,.]\d+)?)W)?` +
	`(?:(\d+(?:[,.]\d+)?)D)?(?:T(?:(\d+(?:[,.]\d+)?)H)?(?:(\d+(?:[,.]\d+)?)M)?(?:(\d+(?:[,.]\d+)?)S)?)?$`)

// microsOfPart are the lengths of the parts of durationText from weeks to seconds.
var microsOfPart = [...]float64{7 * microsPerDay, microsPerDay, 3600e6, 60e6, 1e6}

func parseDuration(text string) (*duration, error) {
	problem := valueError("%q is not an ISO 8601 duration such as P1D or PT1H", text)
	parts := durationText.FindStringSubmatch(text)
	if parts == nil || strings.HasSuffix(text, "P") {
		return nil, problem
	}
	d := &duration{}
	total := 0.0
	for i, part := range parts[2:] {
		if part == "" {
			continue
		}
		amount, err := strconv.ParseFloat(strings.Replace(part, ",", ".", 1), 64)
		if err != nil || amount > 1e12 {
			return nil, problem
		}
		switch i {
		case 0:
			d.years, d.fractional = int64(amount), amount != math.Trunc(amount)
		case 1:
			d.months, d.fractional = int64(amount), d.fractional || amount != math.Trunc(amount)
		default:
			total += amount * microsOfPart[i-2]
		}
	}
	if math.Abs(total) > 9e18 {
		return nil, problem
	}
	d.micros = roundHalfEven(total)
	d.calendar = d.years != 0 || d.months != 0 || d.fractional
	if parts[1] == "-" {
		return d.negated(), nil
	}
	return d, nil
}

func operateSpans(operator string, a, b *duration) (Value, bool, error) {
	switch operator {
	case "-":
		b = b.negated()
	case "+":
	case "/":
		if b.micros == 0 {
			return Value{}, true, valueError("a division by zero")
		}
		return FloatValue(float64(a.micros) / float64(b.micros)), true, nil
	case "//":
		if b.micros == 0 {
			return Value{}, true, valueError("a division by zero")
		}
		v, err := calculateBig("//", big.NewInt(a.micros), big.NewInt(b.micros))
		return v, true, err
	default:
		return Value{}, false, nil
	}
	return (&duration{years: a.years + b.years, months: a.months + b.months, micros: a.micros + b.micros,
		calendar: a.calendar || b.calendar, fractional: a.fractional || b.fractional}).value(), true, nil
}

// scaleSpan multiplies or divides a duration.
func scaleSpan(operator string, d *duration, by Value) (Value, bool, error) {
	factor := by.number()
	if d.calendar {
		if operator != "*" || !by.isInteger() {
			return Value{}, false, nil
		}
		return (&duration{years: d.years * by.num, months: d.months * by.num, micros: d.micros * by.num,
			calendar: true, fractional: d.fractional}).value(), true, nil
	}
	micros := float64(d.micros)
	switch operator {
	case "*":
		micros *= factor
	case "/", "//":
		if factor == 0 {
			return Value{}, true, valueError("a division by zero")
		}
		micros /= factor
		if operator == "//" {
			micros = math.Floor(micros)
		}
	default:
		return Value{}, false, nil
	}
	if math.Abs(micros) > 9e18 {
		return Value{}, true, valueError("the duration is too long")
	}
	return (&duration{micros: int64(math.RoundToEven(micros))}).value(), true, nil
}

// roundHalfEven returns the nearest integer, the even one of two.
func roundHalfEven(f float64) int64 { return int64(math.RoundToEven(f)) }
