// Package linear collects a person's issues, comments and projects from Linear.
//
//	manifest.json   what it declares: streams, schemas, the form for the key
//	linear.go       the queries, and how Linear refuses
package linear

import (
	_ "embed"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the Linear connector.
func Connector() connectorkit.Connector { return rest.MustNew(manifestJSON, source) }

const errorType = "errors.*.extensions.type"

var source = rest.Source{
	BaseURL: "https://api.linear.app",
	Auth:    rest.HeaderKey{Header: "Authorization", Variable: "LINEAR_API_KEY"},
	QuotaOf: []string{"LINEAR_API_KEY"},
	Inspect: readQuota,
	// Refusals come with 400 and with 200.
	Errors: []rest.ErrorRule{
		{Status: rest.AnyStatus, Member: "errors.*.extensions.code", Values: []string{"RATELIMITED"},
			Class: connectorkit.RateLimited},
		{Status: rest.AnyStatus, Member: errorType, Values: []string{"ratelimited"}, Class: connectorkit.RateLimited},
		{Status: rest.AnyStatus, Member: errorType, Values: []string{"authentication error"},
			Class: connectorkit.Unauthorized,
			Message: "Linear does not accept this API key. Create another one under Settings, Security & access, and connect " +
				"with it."},
		{Status: rest.AnyStatus, Member: errorType, Values: []string{"forbidden", "feature not accessible"},
			Class: connectorkit.Forbidden,
			Message: "Your API key may not read everything. Create one with the permission Read for all teams, and connect " +
				"with it."},
		{Status: rest.AnyStatus, Member: errorType, Values: []string{"internal error", "lock timeout", "network error"},
			Class: connectorkit.Unavailable},
		{Status: http.StatusOK, Member: "errors.*.message", Class: connectorkit.Malformed},
	},
	Streams: []rest.Stream{
		{Name: "profile", Request: rest.Request{Path: "graphql"}, Items: "data.viewer", Sync: rest.SingleObject{},
			Pages:     rest.GraphQLPages{Query: "{viewer{id name displayName email url timezone createdAt}}"},
			OmitEmpty: true, Fields: rest.Fields{"display_name": rest.From("displayName"), "created_at": time3339("createdAt")}},
		connection("projects", "data.projects", "{viewer{id} projects(%s,filter:{or:[{lead:{isMe:{eq:true}}},"+
			"{creator:{isMe:{eq:true}}},{members:{isMe:{eq:true}}}]})%s}", "id name description content url priorityLabel "+
			"health startDate targetDate "+times+"trashed status{name} lead{name} creator{name} teams(first:20){nodes{key}}",
			workFields(rest.Fields{"status": rest.From("status.name"), "lead": rest.From("lead.name"),
				"start_date": rest.From("startDate"), "target_date": rest.From("targetDate"),
				"teams": rest.Each("key", "teams.nodes")})),
		connection("comments", "data.comments", "{viewer{id} comments(%s,filter:{user:{isMe:{eq:true}}})%s}",
			"id body quotedText url createdAt editedAt resolvedAt parentId projectId projectUpdateId user{name} "+
				"issue{id identifier title}", rest.Fields{"created_at": time3339("createdAt"),
				"edited_at": rest.From("editedAt"), "resolved_at": rest.From("resolvedAt"), "author": rest.From("user.name"),
				"quoted_text": rest.From("quotedText"), "parent_id": rest.From("parentId"), "project_id": rest.From("projectId"),
				"project_update_id": rest.From("projectUpdateId"), "issue_id": rest.From("issue.id"),
				"issue": rest.From("issue.identifier"), "issue_title": rest.From("issue.title")}),
		issues("issues", "createdIssues"),
		issues("assigned_issues", "assignedIssues"),
	},
}

const times = "createdAt updatedAt startedAt completedAt canceledAt archivedAt "

// issues are those that the person created or is assigned to. More than 25 labels of one are cut off: each costs.
func issues(stream, field string) rest.Stream {
	return connection(stream, "data.viewer."+field, "{viewer{id "+field+"(%s)%s}}", "id identifier title description url "+
		"priorityLabel estimate dueDate branchName "+times+"trashed state{name type} team{key} project{id name} "+
		"cycle{number} parent{identifier} creator{name} assignee{name} labels(first:25){nodes{name}}",
		workFields(rest.Fields{"due_date": rest.From("dueDate"), "branch_name": rest.From("branchName"),
			"state": rest.From("state.name"), "state_type": rest.From("state.type"), "team": rest.From("team.key"),
			"project_id": rest.From("project.id"), "project": rest.From("project.name"), "cycle": rest.From("cycle.number"),
			"parent": rest.From("parent.identifier"), "assignee": rest.From("assignee.name"),
			"labels": rest.Each("name", "labels.nodes")}))
}

// workFields are those of issues and projects.
func workFields(fields rest.Fields) rest.Fields {
	fields["priority"], fields["creator"] = rest.From("priorityLabel"), rest.From("creator.name")
	fields["created_at"], fields["updated_at"] = time3339("createdAt"), rest.From("updatedAt")
	fields["started_at"], fields["completed_at"] = rest.From("startedAt"), rest.From("completedAt")
	fields["canceled_at"], fields["archived_at"] = rest.From("canceledAt"), rest.From("archivedAt")
	return fields
}

// connection is a list, in a query with places for its arguments and its selection. What is in the trash is deleted.
func connection(stream, path, query, members string, fields rest.Fields) rest.Stream {
	query = "query($after:String)" + fmt.Sprintf(query, "first:100,after:$after,includeArchived:true",
		"{nodes{"+members+"}pageInfo{hasNextPage endCursor}}")
	return rest.Stream{Name: stream, Request: rest.Request{Path: "graphql"}, Items: path + ".nodes", OmitEmpty: true,
		Pages: rest.GraphQLPages{Query: query, Connection: path}, Deleted: rest.Match{Path: "trashed"}, Fields: fields,
		Sync: rest.FullList{View: func(a *rest.Answer) string { return a.Text("data.viewer.id") }}}
}

func time3339(path string) rest.Field { return rest.From(path).Time() }

// readQuota reads the two quotas that Linear reports, of requests and of complexity. The one that allows fewer requests
// like this one counts.
func readQuota(r *governhttp.Response) error {
	number := func(name string) int {
		n, _ := strconv.Atoi(r.Header.Get("X-" + name)) // zero if it is not reported
		return n
	}
	if r.Header.Get("X-RateLimit-Requests-Remaining") == "" {
		return nil
	}
	left, full := number("RateLimit-Requests-Remaining"), number("RateLimit-Requests-Reset")
	if cost := number("Complexity"); cost > 0 && number("RateLimit-Complexity-Remaining")/cost < left {
		left, full = number("RateLimit-Complexity-Remaining")/cost, number("RateLimit-Complexity-Reset")
	}
	now, err := http.ParseTime(r.Header.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	reset := max(time.UnixMilli(int64(full)).Sub(now), 0)
	r.Quota = governor.Quota{Known: true, Remaining: left, Reset: reset}
	if left == 0 && r.Status == http.StatusBadRequest && !r.HasRetryAfter {
		r.RetryAfter, r.HasRetryAfter = reset, true
	}
	return nil
}
