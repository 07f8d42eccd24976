package googletakeout_test

import (
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	googletakeout "github.com/pdpp-go/pdpp/connectors/google_takeout"
)

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DetectDriftFiles(t, target(t), googletakeout.Connector())
}
