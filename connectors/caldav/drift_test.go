package caldav_test

import (
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/connectorkit/connectortest/davserver"
	"github.com/pdpp-go/pdpp/providersim"
)

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DetectDrift(t, davserver.CalendarSuite.Target(t, davserver.CalendarSuite.Brief))
}

func TestDriftMembers(t *testing.T) {
	t.Parallel()
	connectortest.DriftMembers(t, davserver.CalendarSuite.Target(t, davserver.CalendarSuite.Brief), providersim.Drifted{
		Remove: []string{"multistatus/response/propstat/prop/getetag"},
	})
}
