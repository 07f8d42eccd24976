package caldav_test

import (
	"testing"

	"pdpp/connectorkit/connectortest"
	"pdpp/connectorkit/connectortest/davserver"
)

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.Drift(t, davserver.CalendarSuite.Target(t, davserver.CalendarSuite.Brief))
}
