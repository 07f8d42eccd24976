package notify

import (
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // so that a zone is known on a machine that has no database of them

	"github.com/pdpp-go/pdpp/internal/ops/fault"
)

// Quiet is a daily window of the owner's wall clock, such as 22:00 to 07:00 in
// Berlin. What is pending waits for its end, however urgent it is. The zero
// value never holds.
type Quiet struct {
	from, to int // minutes of the day; to is after midnight when it is not above from
	zone     *time.Location
}

// ParseQuiet reads "22:00-07:00 Europe/Berlin". Empty text is no quiet hours.
// The first minute is within the window, the last is not; 24:00 is midnight.
func ParseQuiet(text string) (Quiet, error) {
	if strings.TrimSpace(text) == "" {
		return Quiet{}, nil
	}
	wrong := func(what string) error {
		return fault.New("quiet_hours_invalid", what, "Write them like this: 22:00-07:00 Europe/Berlin")
	}
	window, zone, named := strings.Cut(strings.TrimSpace(text), " ")
	from, to, ranged := strings.Cut(window, "-")
	if !named || !ranged {
		return Quiet{}, wrong("quiet hours are two times of the day and a time zone")
	}
	var q Quiet
	var ok1, ok2 bool
	q.from, ok1 = minutes(from)
	q.to, ok2 = minutes(to)
	if !ok1 || !ok2 || q.from == 24*60 {
		return Quiet{}, wrong("a time of the day is not between 00:00 and 24:00")
	}
	if q.from == q.to {
		return Quiet{}, wrong("quiet hours begin and end at the same time")
	}
	zone = strings.TrimSpace(zone)
	loc, err := time.LoadLocation(zone)
	if err != nil || zone == "" || zone == "Local" {
		return Quiet{}, wrong(fmt.Sprintf("%.60q is not the name of a time zone", zone))
	}
	q.zone = loc
	return q, nil
}

// minutes reads hh:mm.
func minutes(text string) (int, bool) {
	digit := func(i int) int {
		if text[i] < '0' || text[i] > '9' {
			return 1 << 10 // beyond every time
		}
		return int(text[i] - '0')
	}
	if len(text) != 5 || text[2] != ':' {
		return 0, false
	}
	hour, minute := 10*digit(0)+digit(1), 10*digit(3)+digit(4)
	total := 60*hour + minute
	return total, minute < 60 && total <= 24*60
}

// Holds reports whether the owner's clock shows a time within the window. On
// the days on which clocks are changed, an hour that comes twice counts twice,
// and one that does not come counts not at all.
func (q Quiet) Holds(now time.Time) bool {
	if q.zone == nil {
		return false
	}
	wall := now.In(q.zone)
	m := 60*wall.Hour() + wall.Minute()
	if q.from < q.to {
		return q.from <= m && m < q.to
	}
	return q.from <= m || m < q.to
}

// String is the text that ParseQuiet reads.
func (q Quiet) String() string {
	if q.zone == nil {
		return ""
	}
	return fmt.Sprintf("%02d:%02d-%02d:%02d %s", q.from/60, q.from%60, q.to/60, q.to%60, q.zone)
}
