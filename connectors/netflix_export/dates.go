package netflixexport

import (
	"strings"
	"time"
	"unicode"
)

// dayOrder finds out how a file writes its days: which of three numbers is the year, and
// whether day or month comes first.
type dayOrder struct {
	last           [2]time.Time // day first, month first
	breaks         [2]int       // how often days go against the file's order, newest first, by order
	rises          [2]int       // and against the other
	impossible     [2]int
	seen, yearHead int
	differ         int // days of which it matters
	order          string
}

func dayLayout(order string) *dayOrder { return &dayOrder{order: order} }

// numbers are the three numbers of a day, with digits of any script; false when it is none.
func numbers(text string) (n [3]int, dots, ok bool) {
	count, digits := 0, 0
	for _, r := range text {
		switch {
		case unicode.IsDigit(r):
			if digits++; digits > 4 || count > 2 {
				return n, false, false
			}
			n[count] = n[count]*10 + digitOf(r)
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

// digitOf is the value of a decimal digit: every script has its ten in a row.
func digitOf(r rune) int {
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
	_, _, ok := numbers(text)
	return ok
}

// see takes a day into account.
func (d *dayOrder) see(text string) {
	n, dots, ok := numbers(text)
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
	if dots { // nobody writes a month first with dots
		d.impossible[1]++
	}
	for order, at := range [2][2]int{{n[0], n[1]}, {n[1], n[0]}} {
		day, ok := date(n[2], at[1], at[0])
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

// decide settles the order; false when the file does not tell and neither does the owner.
func (d *dayOrder) decide(owner string) bool {
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

// day reads a day in the order that was decided.
func (d *dayOrder) day(text string) (time.Time, bool) {
	n, _, ok := numbers(text)
	switch {
	case !ok:
		return time.Time{}, false
	case d.order == "ymd" || n[0] > 31:
		return date(n[0], n[1], n[2])
	case d.order == "mdy":
		return date(n[2], n[0], n[1])
	}
	return date(n[2], n[1], n[0])
}

// date makes a day; a year of two digits is of this century.
func date(year, month, day int) (time.Time, bool) {
	if year < 100 {
		year += 2000
	}
	at := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	return at, at.Year() == year && int(at.Month()) == month && at.Day() == day && year >= 1990 && year < 2200
}
