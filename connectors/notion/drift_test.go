package notion_test

import (
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/providersim/notion"
)

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DetectDrift(t, target(t, notion.Config{Seed: 5, Pages: 12, Databases: 10, Blocks: 7, Nested: true,
		MaxPage: 3}))
}

// TestDriftPages asks in the body of the request how many things are wanted.
func TestDriftPages(t *testing.T) {
	t.Parallel()
	connectortest.DetectDriftPages(t, target(t, notion.Config{Seed: 5, Pages: 12, Databases: 10, Blocks: 3}), "v1/search",
		10)
}
