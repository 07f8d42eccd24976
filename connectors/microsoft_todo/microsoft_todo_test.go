//pdpp:tier programs

package microsofttodo_test

import (
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/microsofttodo"
)

const token = "token_under_test"

// small is an account for most tests.
func small() microsofttodo.Config {
	return microsofttodo.Config{Seed: 5, Token: token, Lists: 4, Tasks: 23, MaxPage: 4}
}

// TestConformance runs the connector through the suite.
func TestConformance(t *testing.T) {
	large := small()
	large.Lists, large.Tasks, large.MaxPage = 18, 160, 9
	connectortest.RunSuite(t, target(t, small()), target(t, large))
}

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DetectDrift(t, target(t, small()))
}

func target(t *testing.T, cfg microsofttodo.Config) connectortest.Target {
	t.Helper()
	return connectortest.Target{
		Connector: connectortest.BuiltInConnector(t, "microsoft_todo"), Credential: "MICROSOFT_TODO_ACCESS_TOKEN",
		Snapshot: true,
		Start: connectortest.StartOf(func() providersim.Simulator { return microsofttodo.New(cfg) },
			func(base string) map[string]string {
				return map[string]string{"MICROSOFT_TODO_ACCESS_TOKEN": token, "PDPP_MICROSOFT_TODO_BASE_URL": base + "/v1.0"}
			}),
		Changes: []providersim.Mutation{{Op: "add_tasks", N: 3}, {Op: "change_tasks", N: 3}, {Op: "add_lists", N: 1},
			{Op: "change_lists", N: 1}, {Op: "drop_list", N: 1}},
		Deletion: providersim.Mutation{Op: "delete_tasks", N: 2}, DeletedStream: microsofttodo.StreamTasks,
		Scoped: microsofttodo.StreamTasks, OptionalField: "body",
		Stored: connectortest.RecordMembers{
			microsofttodo.StreamLists: "id name=displayName is_owner=isOwner is_shared=isShared " +
				"well_known_name=wellknownListName",
			microsofttodo.StreamTasks: "id list_id title status importance categories recurrence created_at " +
				"modified_at=lastModifiedDateTime body=body.content body_type=body.contentType " +
				"body_modified_at=bodyLastModifiedDateTime due=dueDateTime.dateTime due_time_zone=dueDateTime.timeZone " +
				"start=startDateTime.dateTime start_time_zone=startDateTime.timeZone " +
				"completed=completedDateTime.dateTime completed_time_zone=completedDateTime.timeZone " +
				"reminder=reminderDateTime.dateTime reminder_time_zone=reminderDateTime.timeZone " +
				"is_reminder_on=isReminderOn has_attachments=hasAttachments steps=checklistItems " +
				"links=linkedResources.*.webUrl"}.Stored,
	}
}

// A missing permission is not a bad sign-in: the owner learns which one to add.
func TestMissingPermission(t *testing.T) {
	t.Parallel()
	b := connectortest.NewHarness(t, target(t, small()))
	if _, err := b.Sim.Provider.ChangeToken(providersim.TokenChange{Action: "scopes", Scopes: []string{}}); err != nil {
		t.Fatal(err)
	}
	r := b.Run(t, launch.RunRequest{})
	if e := r.DoneError; r.Status != runner.Failed || e == nil || !strings.Contains(e.Message, "Tasks.Read") {
		t.Errorf("%s %+v", r.Status, e)
	}
}
