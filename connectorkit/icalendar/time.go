package icalendar

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/contentline"
)

// What a time is.
const (
	timeKindUTC    = "utc"
	timeKindZoned  = "zoned"
	kindFloating   = "floating"
	timeKindDate   = "date"
	kindUnresolved = "unresolved"
)

// parsedTime is a time as far as it can be read; its zero value when it cannot.
type parsedTime struct {
	text string // RFC 3339, or a plain date
	raw  string
	kind string
	zone string // as it was named
	at   time.Time
}

// parseTime reads a date or a date with a time. A date stays a date: as an instant it would
// fall on another day elsewhere.
func (z *zoneResolver) parseTime(p contentline.Property) parsedTime {
	raw := strings.TrimSpace(p.Value)
	if raw == "" {
		return parsedTime{}
	}
	m := parsedTime{raw: raw}
	if at, err := time.Parse("20060102", raw); err == nil {
		m.at, m.kind, m.text = at, timeKindDate, at.Format(time.DateOnly)
		return m
	}
	wall, utc := strings.CutSuffix(strings.ToUpper(raw), "Z")
	at, err := time.Parse("20060102T150405", wall)
	if err != nil {
		return m
	}
	m.zone = p.Param("TZID")
	switch {
	case utc:
		m.at, m.kind = at, timeKindUTC
	case m.zone == "":
		m.at, m.kind = at, kindFloating
	default:
		var known bool
		if m.at, known = z.timeInZone(m.zone, at); known {
			m.kind = timeKindZoned
		} else {
			m.kind = kindUnresolved
		}
	}
	m.text = m.at.Format(time.RFC3339)
	return m
}

var durationPattern = regexp.MustCompile(`^([+-]?)P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$`)

// addDuration is the moment that comes a duration later. Days are those of the calendar.
func (m parsedTime) addDuration(length string) string {
	parts := durationPattern.FindStringSubmatch(strings.ToUpper(strings.TrimSpace(length)))
	if parts == nil || m.kind == "" {
		return ""
	}
	var n [5]int
	for i := range n {
		v, err := strconv.Atoi(parts[i+2])
		if parts[i+2] != "" && (err != nil || v > 1_000_000) {
			return ""
		}
		n[i] = v
		if parts[1] == "-" {
			n[i] = -v
		}
	}
	end := m.at.AddDate(0, 0, 7*n[0]+n[1]).Add(time.Duration(n[2])*time.Hour + time.Duration(n[3])*time.Minute +
		time.Duration(n[4])*time.Second)
	if y := end.Year(); y < 0 || y > 9999 {
		return ""
	}
	if m.kind == timeKindDate && n[2] == 0 && n[3] == 0 && n[4] == 0 {
		return end.Format(time.DateOnly)
	}
	return end.Format(time.RFC3339)
}
