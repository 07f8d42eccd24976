package carddav_test

import (
	"testing"

	"pdpp/connectorkit/connectortest/davserver"
	"pdpp/connectors/carddav"
)

func TestSlowServer(t *testing.T) { davserver.BookSuite.Slow(t, carddav.Connector()) }
