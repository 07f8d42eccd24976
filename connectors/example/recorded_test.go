package example_test

import (
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest/recorded"
	"github.com/pdpp-go/pdpp/connectors/example"
)

// TestRecorded is the first tier: the connector on recorded answers.
func TestRecorded(t *testing.T) { recorded.Run(t, example.Connector(), "testdata/recorded.json") }
