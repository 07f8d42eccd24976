package applehealth_test

import (
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	applehealth "github.com/pdpp-go/pdpp/connectors/apple_health"
)

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DetectDriftFiles(t, target(t), applehealth.Connector())
}
