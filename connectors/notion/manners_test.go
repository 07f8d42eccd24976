package notion_test

import (
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/protocol"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/notion"
)

// Search is an index. What it loses is not deleted while Notion still has it, and what it shows late is collected,
// although its time lies far back.
func TestSearchIsAnIndex(t *testing.T) {
	t.Parallel()
	b := connectortest.NewHarness(t, target(t, notion.Config{Seed: 2, Pages: 7, Databases: 1, Blocks: 2, MaxPage: 3}))
	b.Succeed(t)
	b.Sim.MutateData(t, providersim.Mutation{Op: "unlist", N: 2})
	b.Sim.MutateData(t, providersim.Mutation{Op: "import", N: 2})
	b.Succeed(t)
	b.VerifyComplete(t)
	b.Sim.MutateData(t, providersim.Mutation{Op: "index", N: 1})
	b.Succeed(t)
	b.VerifyComplete(t)
}

// A row that search never shows is found by a query of its data source, and so is its edit.
func TestRowsThatSearchLacks(t *testing.T) {
	t.Parallel()
	b := connectortest.NewHarness(t, target(t, notion.Config{Seed: 7, Pages: 9, Databases: 4, Blocks: 2, MaxPage: 3}))
	b.Sim.MutateData(t, providersim.Mutation{Op: "hide_row", N: 4})
	b.Succeed(t)
	b.VerifyComplete(t)
	b.Sim.MutateData(t, providersim.Mutation{Op: "hide_row", N: 2})
	b.Sim.MutateData(t, providersim.Mutation{Op: "edit_hidden", N: 1})
	b.Succeed(t)
	b.VerifyComplete(t)
}

// A page that no list shows is found by the page that holds it: the next whole list has it. Its edits are noticed
// from then on.
func TestPagesWithinPages(t *testing.T) {
	t.Parallel()
	b := connectortest.NewHarness(t, target(t, notion.Config{Seed: 8, Pages: 5, Databases: 1, Blocks: 2, MaxPage: 3}))
	b.Sim.MutateData(t, providersim.Mutation{Op: "nest", N: 2})
	b.Succeed(t)
	b.Succeed(t)
	b.VerifyComplete(t)
	b.Sim.MutateData(t, providersim.Mutation{Op: "edit_hidden", N: 1})
	b.Succeed(t)
	b.VerifyComplete(t)
}

// Pages with slow content are read several at once.
func TestSlowPages(t *testing.T) {
	t.Parallel()
	connectortest.SlowDetails(t, target(t, notion.Config{Seed: 6, Pages: 40, Databases: 2, Blocks: 4, MaxPage: 20}))
}

// A page that is not shared any more is deleted with its content.
func TestUnshared(t *testing.T) {
	t.Parallel()
	b := connectortest.NewHarness(t, target(t, notion.Config{Seed: 3, Pages: 5, Blocks: 2}))
	b.Succeed(t)
	b.Sim.MutateData(t, providersim.Mutation{Op: "unshare", N: 2})
	b.Succeed(t)
	b.VerifyComplete(t)
}

// A part of a page that is not shared is declared, and the rest of the page is stored.
func TestUnsharedPart(t *testing.T) {
	t.Parallel()
	b := connectortest.NewHarness(t, target(t, notion.Config{Seed: 4, Pages: 2, Blocks: 9, Nested: true}))
	b.Sim.MutateData(t, providersim.Mutation{Op: "close", N: 4})
	b.Succeed(t)
	if len(b.Gaps(t, protocol.GapPending)) == 0 {
		t.Error("a part is missing, and the run does not tell")
	}
	if n := b.NewestChange(t, notion.StreamContents); n == 0 {
		t.Error("nothing of the pages is stored")
	}
	b.Verify(t)
}

// A token that may not read content has its own message.
func TestCapability(t *testing.T) {
	t.Parallel()
	b := connectortest.NewHarness(t, target(t, notion.Config{Seed: 1, Pages: 1, Blocks: 1}))
	b.Sim.MutateData(t, providersim.Mutation{Op: "blind", N: 1})
	r := b.Run(t, launch.RunRequest{})
	if e := r.DoneError; r.Status != runner.Failed || e == nil || e.Code == "auth_failure" ||
		!strings.Contains(e.Message, "Read content") {
		t.Errorf("%s %+v", r.Status, e)
	}
}
