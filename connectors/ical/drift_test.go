package ical_test

import (
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/connectorkit/connectortest/davserver"
	"github.com/pdpp-go/pdpp/providersim"
)

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DetectDrift(t, davserver.CalendarFeedSuite.Target(t, davserver.CalendarFeedSuite.Brief))
}

func TestDriftMembers(t *testing.T) {
	t.Parallel()
	connectortest.DriftMembers(t, davserver.CalendarFeedSuite.Target(t, davserver.CalendarFeedSuite.Brief),
		providersim.Drifted{
			Remove: []string{"VCALENDAR/PRODID"},
		})
}
