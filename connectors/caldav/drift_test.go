package caldav_test

import (
	"testing"

	"pdpp/connectorkit/connectortest"
	"pdpp/connectorkit/connectortest/davserver"
	"pdpp/providersim"
)

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.Drift(t, davserver.CalendarSuite.Target(t, davserver.CalendarSuite.Brief))
}

func TestDriftMembers(t *testing.T) {
	t.Parallel()
	connectortest.DriftMembers(t, davserver.CalendarSuite.Target(t, davserver.CalendarSuite.Brief), providersim.Drifted{
		Remove: []string{"multistatus/response/propstat/prop/getetag"},
	})
}
