//pdpp:tier programs

package hackernews_test

import (
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/hackernews"
)

// small is an account for most tests. Its clock begins at noon.
func small() hackernews.Config {
	began := time.Now()
	return hackernews.Config{Seed: 5, Items: 41,
		Now: func() time.Time { return time.Date(2026, 2, 3, 12, 0, 0, 0, time.UTC).Add(time.Since(began)) }}
}

// TestConformance runs the connector through the suite.
func TestConformance(t *testing.T) {
	large := small()
	large.Items = 300
	connectortest.RunSuite(t, target(t, small(), hackernews.User), target(t, large, hackernews.User))
}

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DetectDrift(t, target(t, small(), hackernews.User))
}

func target(t *testing.T, cfg hackernews.Config, user string) connectortest.Target {
	t.Helper()
	return connectortest.Target{
		Connector: connectortest.BuiltInConnector(t, "hacker_news"), Credential: "HACKER_NEWS_USER",
		Start: connectortest.StartOf(func() providersim.Simulator { return hackernews.New(cfg) },
			func(base string) map[string]string {
				return map[string]string{"HACKER_NEWS_USER": user, "PDPP_HACKER_NEWS_BASE_URL": base + "/v0"}
			}),
		Changes: []providersim.Mutation{{Op: "add_items", N: 5}, {Op: "edit_items", N: 2}, {Op: "vote_items", N: 2},
			{Op: "remove_items", N: 1}},
		Deletion: providersim.Mutation{Op: "remove_items", N: 2}, DeletedStream: hackernews.StreamItems,
		Scoped: hackernews.StreamItems, OptionalField: "text",
		Stored: connectortest.RecordMembers{
			hackernews.StreamProfile: "id about karma created_at",
			hackernews.StreamItems: "id=#id type author=by created_at title text link=url score comments=descendants dead " +
				"parent_id=#parent",
		}.StoredWith(func(stream, key string, record map[string]any) {
			if stream == hackernews.StreamItems {
				record["url"] = "https://news.ycombinator.com/item?id=" + key
			}
		}),
	}
}

// A name that does not exist is null, and so is an item: one ends the run, the other is declared as missing.
func TestNull(t *testing.T) {
	t.Parallel()
	r := connectortest.NewHarness(t, target(t, small(), "ottilie")).Run(t, launch.RunRequest{})
	if e := r.DoneError; r.Status != runner.Failed || e == nil || !strings.Contains(e.Message, "Capital letters count") {
		t.Errorf("%s %+v", r.Status, e)
	}
	cfg := small()
	cfg.Lost = 2
	b := connectortest.NewHarness(t, target(t, cfg, hackernews.User))
	if r := b.Succeed(t); len(r.KnownGaps) != 1 || !strings.Contains(string(r.KnownGaps[0].Diagnostics), `"count":2`) {
		t.Errorf("2 lost items are declared as %+v", r.KnownGaps)
	}
	b.VerifyNothingInvented(t)
}
