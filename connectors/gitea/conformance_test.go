//pdpp:tier programs

package gitea_test

import (
	"os"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	realgitea "github.com/pdpp-go/pdpp/connectorkit/connectortest/realserver/gitea"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/gitea"
)

// TestConformance holds the connector to the suite; long, to all of it. Pages are small, so that
// some lists have several and others fit into one. Where there is a real server (make chaos), it is held to
// all of it there, too.
func TestConformance(t *testing.T) {
	large := gitea.Config{Seed: 5, Repositories: 5, Issues: 160, Pulls: 110, Comments: 140, Stars: 20, MaxPage: 7}
	if os.Getenv(realgitea.Variable) != "" {
		t.Run("server", func(t *testing.T) { connectortest.RunSuite(t, served(t, 28), served(t, 56)) })
	}
	connectortest.RunSuite(t, target(t, simulated), target(t, large))
}

var simulated = gitea.Config{Seed: 5, Repositories: 2, Issues: 44, Pulls: 30, Comments: 40, Stars: 6, MaxPage: 5}

const token = "9f0c1d2e3f405162738495a6b7c8d9e0f1a2b3c4"

func target(t *testing.T, cfg gitea.Config) connectortest.Target {
	t.Helper()
	return connectortest.Target{
		Connector:  connectortest.BuiltInConnector(t, "gitea"),
		Start:      func(t *testing.T) *connectortest.Sim { return start(t, cfg) },
		Credential: "GITEA_TOKEN",
		Changes: []providersim.Mutation{
			{Op: "open_issue", N: 4}, {Op: "edit_issue", N: 3}, {Op: "close_issue", N: 2}, {Op: "open_pull", N: 2},
			{Op: "merge_pull", N: 2}, {Op: "comment", N: 4}, {Op: "edit_comment", N: 2},
			{Op: "delete_comment", N: 2}, {Op: "delete_pull", N: 1}, {Op: "star", N: 2}, {Op: "unstar", N: 2},
			{Op: "lose_star", N: 1}, {Op: "create_repository", N: 1},
			{Op: "describe_repository", N: 1}, {Op: "rename_repository", N: 1}, {Op: "open_elsewhere", N: 2},
			{Op: "delete_elsewhere", N: 1}, {Op: "introduce", N: 1},
		},
		Deletion: providersim.Mutation{Op: "delete_issue", N: 3}, DeletedStream: gitea.StreamIssues,
		Scoped: gitea.StreamIssues, OptionalField: "body",
	}
}

func start(t *testing.T, cfg gitea.Config) *connectortest.Sim {
	t.Helper()
	cfg.Token = token
	s, err := gitea.Start(cfg)
	if err != nil {
		t.Fatalf("start provider: %v", err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return &connectortest.Sim{Provider: s.Sim, Gate: s.Sim.Gate(),
		Env: map[string]string{"GITEA_URL": s.BaseURL, "GITEA_TOKEN": token}}
}
