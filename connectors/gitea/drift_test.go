package gitea_test

import (
	"testing"

	"pdpp/connectorkit/connectortest"
)

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.Drift(t, target(t, simulated))
}
