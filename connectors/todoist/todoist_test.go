//pdpp:tier programs

package todoist_test

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/todoist"
)

const token = "token_under_test"

// small is an account for most tests.
func small() todoist.Config {
	return todoist.Config{Seed: 5, Token: token, Projects: 5, Labels: 3, Tasks: 13, Completions: 14, MaxPage: 4,
		Now: time.Date(2026, 6, 10, 12, 0, 0, 0, time.UTC)}
}

// TestConformance runs the connector through the suite.
func TestConformance(t *testing.T) {
	large := small()
	large.Projects, large.Tasks, large.Completions, large.MaxPage = 9, 90, 120, 9
	connectortest.RunSuite(t, target(t, small()), target(t, large))
}

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DetectDrift(t, target(t, small()))
}

const taskMembers = " content description project_id section_id parent_id labels priority checked added_at " +
	"updated_at added_by_uid assigned_by_uid responsible_uid child_order due_date=due.date due_text=due.string " +
	"due_timezone=due.timezone is_recurring=due.is_recurring deadline_date=deadline.date duration=duration.amount " +
	"duration_unit=duration.unit"

func target(t *testing.T, cfg todoist.Config) connectortest.Target {
	t.Helper()
	return connectortest.Target{
		Connector: connectortest.BuiltInConnector(t, "todoist"), Credential: "TODOIST_TOKEN", Snapshot: true,
		Start: connectortest.StartOf(func() providersim.Simulator { return todoist.New(cfg) },
			func(base string) map[string]string {
				return map[string]string{"TODOIST_TOKEN": token, "PDPP_TODOIST_BASE_URL": base + "/api/v1"}
			}),
		Changes: []providersim.Mutation{{Op: "add_tasks", N: 3}, {Op: "change_tasks", N: 2}, {Op: "complete", N: 2},
			{Op: "change_projects", N: 2}, {Op: "change_sections", N: 1}, {Op: "delete_labels", N: 1}},
		Deletion: providersim.Mutation{Op: "delete_tasks", N: 2}, DeletedStream: todoist.StreamTasks,
		Scoped: todoist.StreamTasks, OptionalField: "description",
		Stored: connectortest.RecordMembers{
			todoist.StreamProjects: "id name color parent_id description child_order view_style inbox_project is_archived " +
				"is_favorite is_shared created_at updated_at",
			todoist.StreamSections:  "id name project_id section_order is_archived added_at updated_at archived_at",
			todoist.StreamLabels:    "id name color order is_favorite",
			todoist.StreamTasks:     "id" + taskMembers,
			todoist.StreamCompleted: "id task_id=id completed_at" + taskMembers,
		}.StoredWith(func(stream, key string, record map[string]any) {
			if stream == todoist.StreamCompleted {
				record["id"] = key
			}
		}),
	}
}

// A completed task moves from one list to the other, and back if it is reopened within two weeks.
func TestCompleted(t *testing.T) {
	t.Parallel()
	b := connectortest.NewHarness(t, target(t, small()))
	b.Succeed(t)
	for _, op := range []string{"complete", "reopen"} {
		b.Sim.MutateData(t, providersim.Mutation{Op: op, N: 3})
		b.Succeed(t)
		b.VerifyComplete(t)
	}
}

// A second run asks for the completed tasks of the last two weeks, and not for those of the year.
func TestOldCompletions(t *testing.T) {
	t.Parallel()
	b := connectortest.NewHarness(t, target(t, small()))
	b.Succeed(t)
	first := b.Sim.Gate.Stats().Requests
	b.Succeed(t)
	if again := b.Sim.Gate.Stats().Requests - first; again > first-4 {
		t.Errorf("%d requests in the second run, %d in the first", again, first)
	}
	b.VerifyComplete(t)
}
