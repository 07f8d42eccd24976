package caldav_test

import (
	"testing"

	"pdpp/connectorkit/connectortest/davserver"
	"pdpp/connectors/caldav"
)

func TestSlowServer(t *testing.T) { davserver.CalendarSuite.Slow(t, caldav.Connector()) }
