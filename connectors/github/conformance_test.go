//pdpp:tier programs

package github_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/github"
)

// TestConformance runs the whole suite against the built connector host. Pages
// and search results are small, so that every list has several pages and every
// search several queries.
func TestConformance(t *testing.T) {
	connectortest.Run(t, testTarget(t, roomy()))
	t.Run("killed", func(t *testing.T) { connectortest.RunKilled(t, testTarget(t, roomy()), connectortest.KillCount(20)) })
}

const token = "ghp_under_test"

// testTarget is the connector against an account made from the configuration.
func testTarget(t *testing.T, cfg github.Config) connectortest.Target {
	t.Helper()
	return connectortest.Target{
		Connector:  connectortest.BuiltInConnector(t, "github"),
		Start:      func(t *testing.T) *connectortest.Sim { return start(t, cfg) },
		Credential: "GITHUB_PERSONAL_ACCESS_TOKEN",
		Changes: []providersim.Mutation{
			{Op: "edit_profile", N: 1}, {Op: "add_repositories", N: 2}, {Op: "push_repositories", N: 2},
			{Op: "edit_repositories", N: 2},
			{Op: "add_stars", N: 3}, {Op: "touch_issues", N: 4}, {Op: "add_issues", N: 3}, {Op: "touch_pulls", N: 3},
			{Op: "add_pulls", N: 2}, {Op: "add_gists", N: 1}, {Op: "add_events", N: 5},
		},
		Deletion: providersim.Mutation{Op: "unstar", N: 3}, DeletedStream: github.StreamStarred,
		Lane: &connectortest.ListDetailParts{
			List: github.StreamPulls, Detail: github.StreamPullDetails, DetailPath: "/repos/", TimeField: "updated_at",
			Item: listID,
		},
		Scoped: github.StreamIssues, OptionalField: "body",
		Stored: stored,
	}
}

// roomy is a small account of several pages behind limits
// that nothing meets.
func roomy() github.Config {
	return github.Config{
		Seed: 11, Repositories: 14, Stars: 40, Issues: 45, Pulls: 36, Gists: 9, Events: 34,
		MaxPage: 12, SearchCap: 20, Primary: 1 << 20, Search: 1 << 20, Points: 1 << 20, Concurrent: 1 << 20,
	}
}

// start serves an account with a clock that begins at noon, so that no test crosses midnight.
func start(t *testing.T, cfg github.Config) *connectortest.Sim {
	t.Helper()
	began := time.Now()
	cfg.Token = token
	cfg.Now = func() time.Time { return time.Date(2026, 5, 6, 12, 0, 0, 0, time.UTC).Add(time.Since(began)) }
	s, err := github.Start(cfg)
	if err != nil {
		t.Fatalf("start provider: %v", err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return &connectortest.Sim{Provider: s.Sim, Gate: s.Sim.Gate(), Env: map[string]string{
		"GITHUB_PERSONAL_ACCESS_TOKEN": token, "PDPP_GITHUB_BASE_URL": s.BaseURL,
	}}
}

// listID returns the id of the list row that a detail belongs to.
func listID(data json.RawMessage) string {
	var d struct {
		ListID json.Number `json:"list_id"`
	}
	_ = json.Unmarshal(data, &d) // a detail without one belongs to none
	return d.ListID.String()
}
