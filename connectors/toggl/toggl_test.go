//pdpp:tier programs

package toggl_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/toggl"
)

const token = "token_under_test"

// small is an account for most tests. Its clock begins at noon.
func small() toggl.Config {
	began := time.Now()
	return toggl.Config{Seed: 5, Token: token, Entries: 40, Each: 5, MaxPage: 7, Rate: 1 << 20,
		Now: func() time.Time { return time.Date(2026, 2, 3, 12, 0, 0, 0, time.UTC).Add(time.Since(began)) }}
}

// TestConformance runs the connector through the suite.
func TestConformance(t *testing.T) {
	large := small()
	large.Entries, large.Each, large.MaxPage = 700, 30, 90
	connectortest.RunSuite(t, target(t, small()), target(t, large))
}

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DetectDrift(t, target(t, small()))
}

func target(t *testing.T, cfg toggl.Config) connectortest.Target {
	t.Helper()
	return connectortest.Target{
		Connector: connectortest.BuiltInConnector(t, "toggl"), Credential: "TOGGL_API_TOKEN", Snapshot: true,
		Start: connectortest.StartOf(func() providersim.Simulator { return toggl.New(cfg) },
			func(base string) map[string]string {
				return map[string]string{"TOGGL_API_TOKEN": token, "PDPP_TOGGL_BASE_URL": base}
			}),
		Changes: []providersim.Mutation{{Op: "add_time_entries", N: 3}, {Op: "edit_entries", N: 4},
			{Op: "add_projects", N: 1}, {Op: "change_clients", N: 1}, {Op: "delete_tags", N: 1},
			{Op: "change_workspaces", N: 1}},
		Deletion: providersim.Mutation{Op: "remove_entries", N: 2}, DeletedStream: toggl.StreamEntries,
		Leave:  map[string]string{"forgotten bookmark": "a window of time deletes only what its bookmark remembers"},
		Scoped: toggl.StreamEntries, OptionalField: "description",
		Stored: connectortest.RecordMembers{
			toggl.StreamWorkspaces: "id=#id name organization_id=#organization_id role default_currency",
			toggl.StreamClients:    "id=#id workspace_id=#wid name notes archived updated_at=at",
			toggl.StreamProjects: "id=#id workspace_id=#workspace_id client_id=#client_id name status active is_private " +
				"billable color currency rate fixed_fee estimated_seconds start_date end_date created_at updated_at=at",
			toggl.StreamTags: "id=#id workspace_id=#workspace_id name updated_at=at",
			toggl.StreamEntries: "id=#id workspace_id=#workspace_id start stop seconds description project_id=#project_id " +
				"task_id=#task_id billable tags=tag_names project_name client_name task_name currency billable_amount_in_cents " +
				"hourly_rate_in_cents updated_at=at",
		}.Stored,
	}
}

// A quota that is used up is a wait, not a failure: no request is refused, and each run goes on where the last one
// stopped. Empty lists are null.
func TestUsedUpQuota(t *testing.T) {
	t.Parallel()
	cfg, hours := small(), atomic.Int64{}
	now := cfg.Now
	cfg.Rate, cfg.Each, cfg.Now = 12, 0, func() time.Time { return now().Add(time.Duration(hours.Load()) * time.Hour) }
	b := connectortest.NewHarness(t, target(t, cfg))
	b.Env["PDPP_TOGGL_FIRST_DAY"] = "2025-05-01"
	for len(b.Succeed(t).KnownGaps) > 0 {
		if hours.Add(1) > 20 {
			t.Fatal("the runs get nowhere")
		}
		b.Clock += 2 * time.Hour
	}
	b.VerifyComplete(t)
	if sent := b.Sim.Gate.Stats().ByStatus; hours.Load() < 2 || sent[402] != 0 {
		t.Errorf("%d hours, %v", hours.Load(), sent)
	}
}
