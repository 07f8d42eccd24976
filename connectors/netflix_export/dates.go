package netflixexport

import (
	"strings"
	"time"
	"unicode"
)

// dateOrder finds out how a file writes its days: which of three numbers is the year, and
// whether day or month comes first.
type dateOrder struct {
	last           [2]time.Time // day first, month first
	breaks         [2]int       // how often days go against the file's order, newest first, by order
	rises          [2]int       // and against the other
	impossible     [2]int
	seen, yearHead int
	differ         int // days of which it matters
	order          string
}

func dateOrderFromOwner(order string) *dateOrder { return &dateOrder{order: order} }

// dateNumbers returns the three numbers of a date, with digits of any script; false when the text is no date.
func dateNumbers(text string) (n [3]int, dots, ok bool) {
	count, digits := 0, 0
	for _, r := range text {
		switch {
		case unicode.IsDigit(r):
			if digits++; digits > 4 || count > 2 {
				return n, false, false
			}
			n[count] = n[count]*10 + digitValue(r)
		case strings.ContainsRune("/.-年月. ", r):
			if digits > 0 {
				count, digits = count+1, 0
			}
			dots = dots || r == '.'
		case unicode.In(r, unicode.Cf) || r == '日' || r == '년' || r == '월' || r == '일':
			if r == '년' || r == '월' {
				count, digits = count+1, 0
			}
		default:
			return n, false, false
		}
	}
	if digits > 0 {
		count++
	}
	return n, dots, count == 3
}

// digitValue is the value of a decimal digit: every script has its ten in a row.
func digitValue(r rune) int {
	zero := r
	for zero > 0 && unicode.IsDigit(zero-1) && r-zero < 9 {
		zero--
	}
	if r < 0x80 {
		zero = '0'
	}
	return int(r-zero) % 10
}

func looksLikeADay(text string) bool {
	_, _, ok := dateNumbers(text)
	return ok
}

// observeDate updates the possible orders with a date.
func (d *dateOrder) observeDate(text string) {
	n, dots, ok := dateNumbers(text)
	if !ok {
		return
	}
	d.seen++
	if n[0] > 31 {
		d.yearHead++
		return
	}
	if n[0] != n[1] {
		d.differ++
	}
	if dots { // dates with dots never start with the month
		d.impossible[1]++
	}
	for order, at := range [2][2]int{{n[0], n[1]}, {n[1], n[0]}} {
		day, ok := makeDate(n[2], at[1], at[0])
		if !ok {
			d.impossible[order]++
			continue
		}
		if last := d.last[order]; !last.IsZero() {
			if day.After(last) {
				d.breaks[order]++
			}
			if day.Before(last) {
				d.rises[order]++
			}
		}
		d.last[order] = day
	}
}

// decideOrder sets the order of day and month. It returns false when neither the file nor the owner reveals it.
func (d *dateOrder) decideOrder(owner string) bool {
	switch owner {
	case "dmy", "mdy", "ymd":
		d.order = owner
		return true
	}
	disorder := [2]int{min(d.breaks[0], d.rises[0]), min(d.breaks[1], d.rises[1])}
	switch {
	case d.differ == 0 && d.yearHead == 0:
		d.order = "dmy"
	case d.yearHead > d.seen/2:
		d.order = "ymd"
	case d.impossible[0] > d.impossible[1]:
		d.order = "mdy"
	case d.impossible[1] > d.impossible[0]:
		d.order = "dmy"
	case disorder[0] > disorder[1]:
		d.order = "mdy"
	case disorder[1] > disorder[0]:
		d.order = "dmy"
	}
	return d.order != ""
}

// parseDate reads a day in the order that was decided.
func (d *dateOrder) parseDate(text string) (time.Time, bool) {
	n, _, ok := dateNumbers(text)
	switch {
	case !ok:
		return time.Time{}, false
	case d.order == "ymd" || n[0] > 31:
		return makeDate(n[0], n[1], n[2])
	case d.order == "mdy":
		return makeDate(n[2], n[0], n[1])
	}
	return makeDate(n[2], n[1], n[0])
}

// makeDate makes a day; a year of two digits is of this century.
func makeDate(year, month, day int) (time.Time, bool) {
	if year < 100 {
		year += 2000
	}
	at := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	return at, at.Year() == year && int(at.Month()) == month && at.Day() == day && year >= 1990 && year < 2200
}
