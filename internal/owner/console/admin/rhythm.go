package admin

import (
	"math"
	"strconv"
	"strings"
)

// unit is a span of time that an owner chooses a rhythm in.
type unit struct {
	Name    string
	Seconds int64
}

var units = []unit{{"minutes", 60}, {"hours", 3600}, {"days", 86400}}

// rhythm is an interval as a form shows it.
type rhythm struct {
	Every string // what was typed
	Unit  string
}

// rhythmOf is an interval in the largest unit that expresses it.
func rhythmOf(seconds int64) rhythm {
	for i := len(units) - 1; i >= 0; i-- {
		if u := units[i]; seconds >= u.Seconds && seconds%u.Seconds == 0 {
			return rhythm{strconv.FormatInt(seconds/u.Seconds, 10), u.Name}
		}
	}
	if seconds <= 0 {
		return rhythm{Unit: "hours"}
	}
	return rhythm{strconv.FormatFloat(float64(seconds)/60, 'f', -1, 64), "minutes"}
}

// seconds is the interval that was typed; false when it is none.
func (r rhythm) seconds() (int64, bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(r.Every), 64)
	if err != nil {
		return 0, false
	}
	for _, u := range units {
		if u.Name == r.Unit {
			s := n * float64(u.Seconds)
			const century = 100 * 366 * 86400
			return int64(math.Round(s)), s >= 1 && s <= century // which what is no number is not
		}
	}
	return 0, false
}
