//pdpp:tier programs

package example_test

import (
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
)

// TestConformance runs the whole suite against the built connector host.
func TestConformance(t *testing.T) { connectortest.Run(t, connectortest.LumenTarget(t, "example")) }
