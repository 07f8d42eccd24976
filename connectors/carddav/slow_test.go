package carddav_test

import (
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest/davserver"
	"github.com/pdpp-go/pdpp/connectors/carddav"
)

func TestSlowServer(t *testing.T) { davserver.AddressBookSuite.RunSlowServer(t, carddav.Connector()) }
