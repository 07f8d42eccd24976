package admin

import (
	"strconv"
	"strings"
	"time"
)

// parseDate reads what a date input sends, in the zone of the page. Empty is nil.
func parseDate(text string, zone *time.Location) (*time.Time, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, nil
	}
	day, err := time.ParseInLocation(time.DateOnly, text, zone)
	if err != nil {
		return nil, err
	}
	return &day, nil
}

// endOf is the moment at which a day is over.
func endOf(day *time.Time) *time.Time {
	if day == nil {
		return nil
	}
	next := day.AddDate(0, 0, 1)
	return &next
}

// sharingLede returns how many apps may read.
func sharingLede(active int) string {
	switch active {
	case 0:
		return "No app may read anything."
	case 1:
		return "One app may read some of your things. Nobody else can. Every read is written down here."
	default:
		return strconv.Itoa(active) + " apps may read some of your things. Nobody else can. Every read is written down here."
	}
}
