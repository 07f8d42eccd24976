//pdpp:tier programs

package readwise_test

import (
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/readwise"
)

const token = "token_under_test"

// small is an account for most tests.
func small() readwise.Config {
	return readwise.Config{Seed: 5, Token: token, Books: 7, Highlights: 24, MaxPage: 2, Rate: 1 << 20}
}

// TestConformance runs the connector through the suite.
func TestConformance(t *testing.T) {
	large := small()
	large.Books, large.Highlights, large.MaxPage = 40, 200, 5
	connectortest.RunSuite(t, target(t, small()), target(t, large))
}

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DetectDrift(t, target(t, small()))
}

func target(t *testing.T, cfg readwise.Config) connectortest.Target {
	t.Helper()
	return connectortest.Target{
		Connector: connectortest.BuiltInConnector(t, "readwise"), Credential: "READWISE_TOKEN", Snapshot: true,
		Start: connectortest.StartOf(func() providersim.Simulator { return readwise.New(cfg) },
			func(base string) map[string]string {
				return map[string]string{"READWISE_TOKEN": token, "PDPP_READWISE_BASE_URL": base + "/api/v2"}
			}),
		Changes: []providersim.Mutation{{Op: "add_highlights", N: 3}, {Op: "change_highlights", N: 2},
			{Op: "add_books", N: 1}, {Op: "change_books", N: 1}, {Op: "late_highlights", N: 1}},
		Deletion: providersim.Mutation{Op: "delete_highlights", N: 2}, DeletedStream: readwise.StreamHighlights,
		Scoped: readwise.StreamHighlights, OptionalField: "note",
		Stored: connectortest.RecordMembers{
			readwise.StreamBooks: "id=#user_book_id title author readable_title source cover_image_url unique_url " +
				"tags=book_tags.*.name category document_note summary readwise_url source_url asin",
			readwise.StreamHighlights: "id=#id book_id=#book_id text note location location_type end_location color " +
				"highlighted_at created_at updated_at external_id url tags=tags.*.name is_favorite is_discard readwise_url",
		}.StoredWith(func(stream, _ string, record map[string]any) {
			if stream == readwise.StreamHighlights && record["highlighted_at"] == nil {
				record["highlighted_at"] = record["created_at"]
			}
		}),
	}
}

// A deleted book takes its highlights with it.
func TestDeletedBook(t *testing.T) {
	t.Parallel()
	b := connectortest.NewHarness(t, target(t, small()))
	b.Succeed(t)
	b.Sim.MutateData(t, providersim.Mutation{Op: "drop_book", N: 2})
	b.Succeed(t)
	b.VerifyComplete(t)
}

// A highlight without the time at which it was marked has the time at which it came to Readwise.
func TestUndated(t *testing.T) {
	t.Parallel()
	cfg := small()
	cfg.Undated = 4
	b := connectortest.NewHarness(t, target(t, cfg))
	b.Succeed(t)
	b.VerifyComplete(t)
}
