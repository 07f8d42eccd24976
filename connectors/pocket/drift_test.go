package pocket_test

import (
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/connectors/pocket"
)

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DetectDriftFiles(t, target(t), pocket.Connector())
}
