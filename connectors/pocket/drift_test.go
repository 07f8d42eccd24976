package pocket_test

import (
	"testing"

	"pdpp/connectorkit/connectortest"
	"pdpp/connectors/pocket"
)

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DriftFiles(t, target(t), pocket.Connector())
}
