// Package gitlab collects a person's issues, merge requests, projects, stars and snippets from GitLab.
//
//	manifest.json   what it declares: streams, schemas, the form for address and token
//	gitlab.go       where the lists are
package gitlab

import (
	_ "embed"
	"maps"
	"net/http"
	"net/url"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the GitLab connector.
func Connector() connectorkit.Connector { return rest.MustNew(manifestJSON, source) }

var source = rest.Source{
	Base:        rest.ServerURL("GITLAB_URL", "/api/v4"),
	Auth:        rest.BearerKey("GITLAB_TOKEN"),
	QuotaOf:     []string{"GITLAB_URL", "GITLAB_TOKEN"},
	Account:     &rest.Lookup{Request: rest.Request{Path: "user"}, Member: "id"},
	LimitWindow: time.Minute,
	Errors: []rest.ErrorRule{{Status: http.StatusForbidden, Contains: []string{"insufficient_scope"},
		Class: connectorkit.Forbidden, Message: "Your token does not have the permission read_api. Create one with " +
			"read_api ticked, and connect again with it."}},
	// GitLab reports no deletions: every run reads the lists.
	Streams: []rest.Stream{
		ownedList("projects", "projects", projectFields(), "membership", "true", "order_by", "id", "sort", "asc",
			"pagination", "keyset"),
		ownedList("starred_projects", "users/{account}/starred_projects", projectFields(), "order_by", "id", "sort", "asc"),
		ownedList("issues", "issues", workFields(), "scope", "created_by_me", "order_by", "created_at", "sort", "asc"),
		ownedList("assigned_issues", "issues", workFields(), "scope", "assigned_to_me", "order_by", "created_at", "sort",
			"asc"),
		ownedList("merge_requests", "merge_requests", mergeFields(), "scope", "created_by_me", "order_by", "created_at",
			"sort", "asc"),
		ownedList("snippets", "snippets",
			rest.Fields{"id": rest.NumberText("id"), "project_id": rest.NumberText("project_id"),
				"created_at": rest.From("created_at").Time()}),
	},
}

// ownedList is a list of the signed-in account. Its pages follow the Link header.
func ownedList(stream, path string, fields rest.Fields, query ...string) rest.Stream {
	q := url.Values{"per_page": {"100"}}
	for i := 0; i < len(query); i += 2 {
		q.Set(query[i], query[i+1])
	}
	return rest.Stream{Name: stream, Pages: rest.LinkHeader{}, Fields: fields, OmitEmpty: true,
		Request:    rest.Request{Path: path, Query: q},
		Partitions: rest.OfAccount("account")}
}

// projectFields are those of a project. Numbers of stars and forks and the last activity change all the time, and are
// left out.
func projectFields() rest.Fields {
	return rest.Fields{"id": rest.NumberText("id"), "created_at": rest.From("created_at").Time(),
		"namespace": rest.From("namespace.full_path"), "forked_from": rest.From("forked_from_project.path_with_namespace")}
}

// workFields are those of an issue or a merge request. Numbers of comments and votes are left out.
func workFields() rest.Fields {
	return rest.Fields{"id": rest.NumberText("id"), "project_id": rest.NumberText("project_id"),
		"created_at": rest.From("created_at").Time(), "author": rest.From("author.username"),
		"assignees": rest.Each("username", "assignees"), "milestone": rest.From("milestone.title"),
		"reference":         rest.From("references.full"),
		"seconds_estimated": rest.From("time_stats.time_estimate"), "seconds_spent": rest.From("time_stats.total_time_spent"),
	}
}

// mergeFields are those that only a merge request has, and workFields.
func mergeFields() rest.Fields {
	fields := rest.Fields{"reviewers": rest.Each("username", "reviewers"),
		"merged_by":         rest.From("merge_user.username", "merged_by.username"),
		"source_project_id": rest.NumberText("source_project_id")}
	maps.Copy(fields, workFields())
	return fields
}
