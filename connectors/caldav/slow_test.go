package caldav_test

import (
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest/davserver"
	"github.com/pdpp-go/pdpp/connectors/caldav"
)

func TestSlowServer(t *testing.T) { davserver.CalendarSuite.RunSlowServer(t, caldav.Connector()) }
