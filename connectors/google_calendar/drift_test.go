package googlecalendar_test

import (
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/providersim/google"
)

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DetectDrift(t, target(t, google.Config{Seed: 5, Calendars: 4, Events: 17, MaxPage: 7}))
}

func TestDriftPages(t *testing.T) {
	t.Parallel()
	connectortest.DetectDriftPages(t, target(t, google.Config{Seed: 5, Calendars: 12, Events: 3}), "users/me/calendarList",
		10)
}
