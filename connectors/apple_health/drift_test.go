package applehealth_test

import (
	"testing"

	"pdpp/connectorkit/connectortest"
	applehealth "pdpp/connectors/apple_health"
)

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DriftFiles(t, target(t), applehealth.Connector())
}
