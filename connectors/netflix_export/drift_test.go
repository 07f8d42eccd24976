package netflixexport_test

import (
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	netflixexport "github.com/pdpp-go/pdpp/connectors/netflix_export"
)

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DetectDriftFiles(t, target(t), netflixexport.Connector())
}
