package notify

import (
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // for machines without a time zone database

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
)

// Quiet is a daily window of the owner's local time, such as 22:00 to 07:00 in Berlin. Pending notifications wait for
// its end, however urgent. The zero value is never active.
type Quiet struct {
	from, to int // minutes of the day; to is on the next day unless it is greater than from
	zone     *time.Location
}

// ParseQuiet parses "22:00-07:00 Europe/Berlin". Empty text means no quiet hours. The first minute is within the
// window, the last is not; 24:00 is midnight.
func ParseQuiet(text string) (Quiet, error) {
	if strings.TrimSpace(text) == "" {
		return Quiet{}, nil
	}
	wrong := func(what string) error {
		return usererr.New("quiet_hours_invalid", what, "Write them like this: 22:00-07:00 Europe/Berlin")
	}
	window, zone, named := strings.Cut(strings.TrimSpace(text), " ")
	from, to, ranged := strings.Cut(window, "-")
	if !named || !ranged {
		return Quiet{}, wrong("quiet hours are two times of the day and a time zone")
	}
	var q Quiet
	var ok1, ok2 bool
	q.from, ok1 = parseMinutes(from)
	q.to, ok2 = parseMinutes(to)
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

// parseMinutes parses hh:mm.
func parseMinutes(text string) (int, bool) {
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

// Holds reports whether the owner's local time is within the window. When clocks change, a repeated hour counts twice
// and a skipped hour not at all.
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

// String returns the text that ParseQuiet parses.
func (q Quiet) String() string {
	if q.zone == nil {
		return ""
	}
	return fmt.Sprintf("%02d:%02d-%02d:%02d %s", q.from/60, q.from%60, q.to/60, q.to%60, q.zone)
}
