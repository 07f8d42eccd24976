package carddav_test

import (
	"testing"

	"pdpp/connectorkit/connectortest"
	"pdpp/connectorkit/connectortest/davserver"
	"pdpp/providersim"
)

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.Drift(t, davserver.BookSuite.Target(t, davserver.BookSuite.Brief))
}

func TestDriftMembers(t *testing.T) {
	t.Parallel()
	connectortest.DriftMembers(t, davserver.BookSuite.Target(t, davserver.BookSuite.Brief), providersim.Drifted{
		Remove: []string{"multistatus/response/propstat/prop/getetag"},
	})
}
