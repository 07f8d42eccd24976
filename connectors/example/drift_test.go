package example_test

import (
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/providersim"
)

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DetectDrift(t, connectortest.LumenTarget(t, "example"))
}

func TestDriftMembers(t *testing.T) {
	t.Parallel()
	connectortest.DriftMembers(t, connectortest.LumenTarget(t, "example"), providersim.Drifted{
		Route: "v1/events", Remove: []string{"events/[]/device"}, Retype: []string{"events/[]/kind"},
	})
}
