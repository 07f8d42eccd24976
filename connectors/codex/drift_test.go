package codex_test

import (
	"testing"

	"pdpp/connectorkit/connectortest"
	"pdpp/connectors/codex"
)

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DriftFiles(t, target(t), codex.Connector())
}
