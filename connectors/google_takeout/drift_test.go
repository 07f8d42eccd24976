package googletakeout_test

import (
	"testing"

	"pdpp/connectorkit/connectortest"
	googletakeout "pdpp/connectors/google_takeout"
)

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DriftFiles(t, target(t), googletakeout.Connector())
}
