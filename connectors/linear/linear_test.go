//pdpp:tier programs

package linear_test

import (
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/linear"
)

const token = "lin_api_under_test"

// small is an account for most tests.
func small() linear.Config {
	return linear.Config{Seed: 5, Token: token, Projects: 5, Comments: 9, Issue: 13, MaxPage: 4, Rate: 1 << 20}
}

// TestConformance runs the connector through the suite.
func TestConformance(t *testing.T) {
	large := small()
	large.Projects, large.Comments, large.Issue, large.MaxPage = 20, 60, 70, 9
	connectortest.RunSuite(t, target(t, small()), target(t, large))
}

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DetectDrift(t, target(t, small()))
}

const (
	work = "id description url priority=priorityLabel creator=creator.name created_at=createdAt updated_at=updatedAt " +
		"started_at=startedAt completed_at=completedAt canceled_at=canceledAt archived_at=archivedAt "
	issue = work + "identifier title estimate due_date=dueDate branch_name=branchName state=state.name " +
		"state_type=state.type team=team.key project_id=project.id project=project.name cycle=cycle.number " +
		"parent=parent.identifier assignee=assignee.name labels=labels.nodes.*.name"
)

func target(t *testing.T, cfg linear.Config) connectortest.Target {
	t.Helper()
	return connectortest.Target{
		Connector: connectortest.BuiltInConnector(t, "linear"), Credential: "LINEAR_API_KEY", Snapshot: true,
		Start: connectortest.StartOf(func() providersim.Simulator { return linear.New(cfg) },
			func(base string) map[string]string {
				return map[string]string{"LINEAR_API_KEY": token, "PDPP_LINEAR_BASE_URL": base}
			}),
		Changes: []providersim.Mutation{{Op: "add_issues", N: 3}, {Op: "change_issues", N: 2}, {Op: "add_comments", N: 2},
			{Op: "change_comments", N: 1}, {Op: "delete_assigned_issues", N: 1}, {Op: "change_projects", N: 1}},
		Deletion: providersim.Mutation{Op: "delete_issues", N: 2}, DeletedStream: linear.StreamIssues,
		Scoped: linear.StreamIssues, OptionalField: "description",
		Stored: connectortest.RecordMembers{linear.StreamIssues: issue, linear.StreamAssigned: issue,
			linear.StreamProfile: "id name display_name=displayName email url timezone created_at=createdAt",
			linear.StreamProjects: work + "name content health status=status.name lead=lead.name start_date=startDate " +
				"target_date=targetDate teams=teams.nodes.*.key",
			linear.StreamComments: "id body quoted_text=quotedText url created_at=createdAt edited_at=editedAt " +
				"resolved_at=resolvedAt author=user.name parent_id=parentId project_id=projectId " +
				"project_update_id=projectUpdateId issue_id=issue.id issue=issue.identifier issue_title=issue.title"}.Stored,
	}
}

// Linear refuses with 400 and with 200: a limit is waited for, and a missing permission is named.
func TestRefusals(t *testing.T) {
	t.Parallel()
	b := connectortest.NewHarness(t, target(t, small()))
	b.Sim.MutateData(t, providersim.Mutation{Op: "spend", N: 1})
	if rate := b.Succeed(t).Rate; rate == nil || rate.LastBackoff == nil || rate.LastBackoff.Reason != "retry_after" {
		t.Errorf("a limit is reported as %+v", rate)
	}
	b.VerifyComplete(t)
	if _, err := b.Sim.Provider.ChangeToken(providersim.TokenChange{Action: "scopes", Scopes: []string{}}); err != nil {
		t.Fatal(err)
	}
	r := b.Run(t, launch.RunRequest{})
	if e := r.DoneError; r.Status != runner.Failed || e == nil || !strings.Contains(e.Message, "permission Read") {
		t.Errorf("%s %+v", r.Status, e)
	}
}
