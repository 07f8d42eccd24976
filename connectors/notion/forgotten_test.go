package notion_test

import (
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/notion"
)

// TestForgottenSources trashes databases with their data sources while no bookmark remembers them.
func TestForgottenSources(t *testing.T) {
	cfg := notion.Config{Seed: 5, Pages: 4, Databases: 8, Blocks: 2, MaxPage: 3}
	connectortest.ForgottenStream(t, target(t, cfg), notion.StreamSources,
		providersim.Mutation{Op: "trash_database", N: 1})
}
