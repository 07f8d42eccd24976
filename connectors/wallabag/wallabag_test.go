//pdpp:tier programs

package wallabag_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/wallabag"
)

func small() wallabag.Config {
	return wallabag.Config{Seed: 5, Token: "token_under_test", Entries: 13, Tags: 4, MaxPage: 4}
}

// TestConformance runs the connector through the suite.
func TestConformance(t *testing.T) {
	large := small()
	large.Entries, large.Tags, large.MaxPage = 120, 20, 9
	connectortest.RunSuite(t, target(t, small()), target(t, large))
}

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DetectDrift(t, target(t, small()))
}

func target(t *testing.T, cfg wallabag.Config) connectortest.Target {
	t.Helper()
	return connectortest.Target{
		Connector: connectortest.BuiltInConnector(t, "wallabag"), Credential: "WALLABAG_PASSWORD", Snapshot: true,
		Start: connectortest.StartOf(func() providersim.Simulator { return wallabag.New(cfg) },
			func(base string) map[string]string {
				return map[string]string{"WALLABAG_URL": base, "WALLABAG_CLIENT_ID": wallabag.ClientID,
					"WALLABAG_CLIENT_SECRET": wallabag.ClientSecret, "WALLABAG_USERNAME": wallabag.Username,
					"WALLABAG_PASSWORD": wallabag.Password}
			}),
		Changes: []providersim.Mutation{{Op: "add_entries", N: 3}, {Op: "change_entries", N: 2}, {Op: "tag_entries", N: 2},
			{Op: "add_tags", N: 1}, {Op: "delete_tags", N: 1}},
		Deletion: providersim.Mutation{Op: "delete_entries", N: 2}, DeletedStream: wallabag.StreamEntries,
		Scoped: wallabag.StreamEntries, OptionalField: "content",
		Stored: connectortest.RecordMembers{wallabag.StreamTags: "id=#id label slug",
			wallabag.StreamEntries: "id=#id title url given_url origin_url content domain_name language mimetype http_status " +
				"preview_picture reading_time published_by tags=tags.*.label is_archived is_starred is_public annotations " +
				"created_at updated_at published_at archived_at starred_at",
		}.StoredWith(func(_, _ string, record map[string]any) {
			for _, name := range []string{"is_archived", "is_starred"} {
				if n, is := record[name].(float64); is {
					record[name] = n == 1
				}
			}
			notes, _ := record["annotations"].([]any)
			for _, note := range notes {
				for _, name := range []string{"ranges", "user", "annotator_schema_version"} {
					delete(note.(map[string]any), name)
				}
			}
		}),
	}
}

// Without changes only metadata is read. A new tag, which updates no article, makes one page be read in full.
func TestTextsOfChangedPages(t *testing.T) {
	t.Parallel()
	b := connectortest.NewHarness(t, target(t, small()))
	read := func(want int) {
		t.Helper()
		before := b.Sim.Gate.Stats().ByPattern["GET /api/entries.json"]
		b.Succeed(t)
		b.VerifyComplete(t)
		if n := b.Sim.Gate.Stats().ByPattern["GET /api/entries.json"] - before; n != want {
			t.Errorf("%d requests, want %d", n, want)
		}
	}
	read(8) // 4 pages, each as metadata and in full
	read(4)
	b.Sim.MutateData(t, providersim.Mutation{Op: "tag_entries", N: 1})
	read(5)
}

// A token that expired is replaced by a sign-in; a password that changed asks the owner to connect again.
func TestSignIn(t *testing.T) {
	t.Parallel()
	b := connectortest.NewHarness(t, target(t, small()))
	b.Sim.AddFault(t, providersim.Fault{Kind: providersim.ExpiredToken, Path: "/api/entries", Count: 1})
	b.Succeed(t)
	b.VerifyComplete(t)
	if n := b.Sim.Gate.Stats().ByPattern["POST /oauth/v2/token"]; n != 2 {
		t.Errorf("%d sign-ins", n)
	}
	b.Env["WALLABAG_PASSWORD"] = "changed"
	r := b.Run(t, launch.RunRequest{})
	if e := r.DoneError; r.Status != runner.Failed || e == nil || !strings.Contains(e.Message, "check client ID") {
		t.Errorf("%s %+v", r.Status, e)
	}
	if text, _ := json.Marshal(r); strings.Contains(string(text), wallabag.ClientSecret) {
		t.Error("the result has the client's secret")
	}
}
