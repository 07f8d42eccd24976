package chatgpt_test

import (
	_ "embed"
	"testing"

	"pdpp/connectorkit/connectortest"
)

// sheet is what the shipped program has.
//
//go:embed answers.txt
var sheet string

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.Drift(t, target(t, account))
}
