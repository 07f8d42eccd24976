package carddav_test

import (
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/connectorkit/connectortest/davserver"
	"github.com/pdpp-go/pdpp/providersim"
)

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DetectDrift(t, davserver.AddressBookSuite.Target(t, davserver.AddressBookSuite.Brief))
}

func TestDriftMembers(t *testing.T) {
	t.Parallel()
	connectortest.DriftMembers(t, davserver.AddressBookSuite.Target(t, davserver.AddressBookSuite.Brief),
		providersim.Drifted{
			Remove: []string{"multistatus/response/propstat/prop/getetag"},
		})
}
