package notion_test

import (
	"testing"

	"pdpp/connectorkit/connectortest"
	"pdpp/providersim/notion"
)

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.Drift(t, target(t, notion.Config{Seed: 5, Pages: 12, Databases: 10, Blocks: 7, Nested: true,
		MaxPage: 3}))
}
