//pdpp:tier programs

package gitlab_test

import (
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/gitlab"
)

const token = "token_under_test"

// small is an account for most tests.
func small() gitlab.Config {
	return gitlab.Config{Seed: 5, Token: token, Projects: 5, Work: 11, Snippet: 3, MaxPage: 4, Rate: 1 << 20}
}

// TestConformance runs the connector through the suite.
func TestConformance(t *testing.T) {
	large := small()
	large.Projects, large.Work, large.Snippet, large.MaxPage = 30, 60, 20, 9
	connectortest.RunSuite(t, target(t, small()), target(t, large))
}

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DetectDrift(t, target(t, small()))
}

const (
	projectMembers = "id=#id name path_with_namespace namespace=namespace.full_path description visibility " +
		"default_branch web_url http_url_to_repo archived topics created_at " +
		"forked_from=forked_from_project.path_with_namespace"
	workMembers = "id=#id iid project_id=#project_id reference=references.full title description state " +
		"author=author.username assignees=assignees.*.username labels milestone=milestone.title web_url created_at " +
		"updated_at closed_at seconds_estimated=time_stats.time_estimate seconds_spent=time_stats.total_time_spent "
	issueMembers = workMembers + "due_date issue_type confidential"
)

func target(t *testing.T, cfg gitlab.Config) connectortest.Target {
	t.Helper()
	return connectortest.Target{
		Connector: connectortest.BuiltInConnector(t, "gitlab"), Credential: "GITLAB_TOKEN", Snapshot: true,
		Start: connectortest.StartOf(func() providersim.Simulator { return gitlab.New(cfg) },
			func(base string) map[string]string {
				return map[string]string{"GITLAB_TOKEN": token, "GITLAB_URL": base + "/"}
			}),
		Changes: []providersim.Mutation{{Op: "add_issues", N: 3}, {Op: "change_issues", N: 2},
			{Op: "add_merge_requests", N: 2}, {Op: "change_merge_requests", N: 1}, {Op: "delete_assigned_issues", N: 1},
			{Op: "add_projects", N: 1}, {Op: "change_snippets", N: 1}, {Op: "delete_starred_projects", N: 1}},
		Deletion: providersim.Mutation{Op: "delete_issues", N: 2}, DeletedStream: gitlab.StreamIssues,
		Scoped: gitlab.StreamIssues, OptionalField: "description",
		Stored: connectortest.RecordMembers{gitlab.StreamProjects: projectMembers, gitlab.StreamStarred: projectMembers,
			gitlab.StreamIssues: issueMembers, gitlab.StreamAssigned: issueMembers,
			gitlab.StreamMergeRequests: workMembers + "merged_at merged_by=merge_user.username " +
				"reviewers=reviewers.*.username source_branch target_branch source_project_id=#source_project_id draft sha " +
				"merge_commit_sha",
			gitlab.StreamSnippets: "id=#id title description visibility file_name web_url raw_url project_id=#project_id " +
				"created_at updated_at"}.Stored,
	}
}

// A token without the scope is not a bad token: the owner learns what to tick.
func TestMissingScope(t *testing.T) {
	t.Parallel()
	b := connectortest.NewHarness(t, target(t, small()))
	if _, err := b.Sim.Provider.ChangeToken(providersim.TokenChange{Action: "scopes", Scopes: []string{}}); err != nil {
		t.Fatal(err)
	}
	r := b.Run(t, launch.RunRequest{})
	if e := r.DoneError; r.Status != runner.Failed || e == nil || !strings.Contains(e.Message, "read_api ticked") {
		t.Errorf("%s %+v", r.Status, e)
	}
}

// An address that cannot be read ends the run with its own reason.
func TestUnreadableAddress(t *testing.T) {
	t.Parallel()
	for address, fails := range map[string]bool{"": false, "https://me:secret@gitlab.example": true, "ftp://gitlab": true,
		"/api/v4/": false} {
		to := target(t, small())
		to.Start = connectortest.StartOf(func() providersim.Simulator { return gitlab.New(small()) },
			func(base string) map[string]string {
				if !fails {
					address = base + address
				}
				return map[string]string{"GITLAB_TOKEN": token, "GITLAB_URL": address}
			})
		r := connectortest.NewHarness(t, to).Run(t, launch.RunRequest{})
		if e := r.DoneError; fails != (e != nil && e.Code == "gitlab_address_unreadable") {
			t.Errorf("%q: %s %+v", address, r.Status, e)
		}
	}
}
