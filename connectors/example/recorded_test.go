package example_test

import (
	"testing"

	"pdpp/connectorkit/connectortest/recorded"
	"pdpp/connectors/example"
)

// TestRecorded is the first tier: the connector on recorded answers.
func TestRecorded(t *testing.T) { recorded.Run(t, example.Connector(), "testdata/recorded.json") }
