package netflixexport_test

import (
	"testing"

	"pdpp/connectorkit/connectortest"
	netflixexport "pdpp/connectors/netflix_export"
)

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DriftFiles(t, target(t), netflixexport.Connector())
}
