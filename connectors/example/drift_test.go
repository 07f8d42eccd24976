package example_test

import (
	"testing"

	"pdpp/connectorkit/connectortest"
)

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.Drift(t, connectortest.LumenTarget(t, "example"))
}
