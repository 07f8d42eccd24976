//pdpp:tier programs

package googletasks_test

import (
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/googletasks"
)

const token = "ya29.under_test"

// small is an account for most tests.
func small() googletasks.Config {
	return googletasks.Config{Seed: 5, Token: token, Lists: 4, Tasks: 23, MaxPage: 4}
}

// TestConformance runs the connector through the suite.
func TestConformance(t *testing.T) {
	large := small()
	large.Lists, large.Tasks, large.MaxPage = 9, 160, 9
	connectortest.RunSuite(t, target(t, small()), target(t, large))
}

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DetectDrift(t, target(t, small()))
}

func target(t *testing.T, cfg googletasks.Config) connectortest.Target {
	t.Helper()
	return connectortest.Target{
		Connector: connectortest.BuiltInConnector(t, "google_tasks"), Credential: "GOOGLE_TASKS_ACCESS_TOKEN",
		Snapshot: true,
		Start: connectortest.StartOf(func() providersim.Simulator { return googletasks.New(cfg) },
			func(base string) map[string]string {
				return map[string]string{"GOOGLE_TASKS_ACCESS_TOKEN": token, "PDPP_GOOGLE_TASKS_BASE_URL": base + "/tasks/v1"}
			}),
		Changes: []providersim.Mutation{{Op: "add_tasks", N: 3}, {Op: "change_tasks", N: 3}, {Op: "add_lists", N: 1},
			{Op: "change_lists", N: 1}, {Op: "drop_list", N: 1}},
		Deletion: providersim.Mutation{Op: "delete_tasks", N: 2}, DeletedStream: googletasks.StreamTasks,
		Scoped: googletasks.StreamTasks, OptionalField: "notes",
		Stored: connectortest.RecordMembers{googletasks.StreamLists: "id title updated",
			googletasks.StreamTasks: "id list_id title notes status due completed updated parent position hidden " +
				"web_link=webViewLink links=links.*.link assigned_from=assignmentInfo.surfaceType " +
				"assigned_link=assignmentInfo.linkToTask"}.Stored,
	}
}

// A box that was left empty asks to sign in again and tick it.
func TestUntickedBox(t *testing.T) {
	t.Parallel()
	b := connectortest.NewHarness(t, target(t, small()))
	if _, err := b.Sim.Provider.ChangeToken(providersim.TokenChange{Action: "scopes",
		Scopes: []string{}}); err != nil {
		t.Fatal(err)
	}
	r := b.Run(t, launch.RunRequest{})
	if e := r.DoneError; r.Status != runner.Failed || e == nil || !strings.Contains(e.Message, "tick it") {
		t.Errorf("%s %+v", r.Status, e)
	}
}

// A task that was moved is in another list and is not deleted. A deleted list takes its tasks with it.
func TestMoved(t *testing.T) {
	t.Parallel()
	b := connectortest.NewHarness(t, target(t, small()))
	b.Succeed(t)
	for _, m := range []providersim.Mutation{{Op: "move", N: 5}, {Op: "drop_list", N: 2}} {
		b.Sim.MutateData(t, m)
		b.Succeed(t)
		b.VerifyComplete(t)
	}
}
