//pdpp:tier programs

package trakt_test

import (
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/trakt"
)

const token = "token_under_test"

func small() trakt.Config {
	return trakt.Config{Seed: 5, Token: token, Plays: 9, Each: 6, MaxPage: 4}
}

// TestConformance runs the connector through the suite.
func TestConformance(t *testing.T) {
	large := small()
	large.Plays, large.Each, large.MaxPage = 90, 20, 9
	connectortest.RunSuite(t, target(t, small()), target(t, large))
}

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DetectDrift(t, target(t, small()))
}

const (
	media  = "type title year show_title season episode ids "
	listed = media + "id=#id listed_at rank notes "
)

func target(t *testing.T, cfg trakt.Config) connectortest.Target {
	t.Helper()
	return connectortest.Target{
		Connector: connectortest.BuiltInConnector(t, "trakt"), Credential: "TRAKT_ACCESS_TOKEN", Snapshot: true,
		Start: connectortest.StartOf(func() providersim.Simulator { return trakt.New(cfg) },
			func(base string) map[string]string {
				return map[string]string{"TRAKT_ACCESS_TOKEN": token, "TRAKT_CLIENT_ID": trakt.ClientID,
					"PDPP_TRAKT_BASE_URL": base}
			}),
		Changes: []providersim.Mutation{{Op: "add_history", N: 3}, {Op: "change_ratings", N: 2}, {Op: "late_history", N: 2},
			{Op: "change_watchlist", N: 1}, {Op: "delete_list_items", N: 1}, {Op: "add_comments", N: 1},
			{Op: "add_favorites", N: 1}, {Op: "delete_ratings", N: 1}},
		Deletion: providersim.Mutation{Op: "delete_history", N: 2}, DeletedStream: "history",
		Scoped: "history", OptionalField: "show_title",
		Stored: connectortest.RecordMembers{
			"profile":   "id=ids.uuid username name location about gender age dob joined_at private vip",
			"history":   media + "id=#id watched_at action",
			"ratings":   media + "rated_at rating",
			"watchlist": listed, "favorites": listed, "list_items": listed + "list_id",
			"lists": "id=#ids.trakt name description privacy sort_by sort_how item_count comment_count likes " +
				"created_at updated_at",
			"comments": media + "id=#id comment spoiler review parent_id=#parent_id replies likes language " +
				"created_at updated_at",
		}.StoredWith(func(stream, key string, record map[string]any) {
			if stream == "ratings" {
				record["id"] = key
			}
			if record["parent_id"] == "0" {
				delete(record, "parent_id")
			}
		}),
	}
}
