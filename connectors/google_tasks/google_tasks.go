// Package googletasks collects a person's task lists and tasks from Google Tasks.
//
//	manifest.json     what it declares: streams, schemas, the sign-in
//	google_tasks.go   where lists and tasks are
//
// connectorkit/googleapi handles Google's refusals.
package googletasks

import (
	_ "embed"
	"net/url"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/googleapi"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the Google Tasks connector.
func Connector() connectorkit.Connector { return rest.MustNew(manifestJSON, source) }

// nextPages follow a token. Google requires the same parameters as for the first page.
var nextPages = rest.NextToken{Param: "pageToken", Member: "nextPageToken"}

var source = rest.Source{
	BaseURL: "https://tasks.googleapis.com/tasks/v1",
	Auth:    rest.AccessToken("GOOGLE_TASKS_ACCESS_TOKEN"),
	// Google counts what a project asks for.
	QuotaOf: []string{"GOOGLE_OAUTH_CLIENT_ID"},
	Errors:  googleapi.ErrorRules("Google Tasks API"),
	// Google can list changes since a time. Every run reads all tasks instead, which also finds deleted lists.
	Streams: []rest.Stream{
		{
			Name: "lists", Select: selectItems, Pages: nextPages, Shared: true,
			Request: rest.Request{Path: "users/@me/lists", Query: url.Values{"maxResults": {"1000"}}},
			Fields:  rest.Fields{"updated": rest.From("updated").Time()},
		},
		{
			Name: "tasks", Select: selectItems, Pages: nextPages, OmitEmpty: true,
			// Tasks that were completed in Google's own apps are hidden ones.
			Request: rest.Request{Path: "lists/{id}/tasks", Query: url.Values{"maxResults": {"100"}, "showCompleted": {"true"},
				"showHidden": {"true"}, "showAssigned": {"true"}}},
			Partitions: rest.ParentsOf("lists", "id", nil, nil),
			Fields: rest.Fields{
				"list_id": rest.FromPartition("id"), "updated": rest.From("updated").Time(),
				"web_link": rest.From("webViewLink"), "links": rest.Each("link", "links"),
				"assigned_from": rest.From("assignmentInfo.surfaceType"),
				"assigned_link": rest.From("assignmentInfo.linkToTask"),
			},
		},
	},
}

// selectItems returns the items of an answer. Google leaves an empty list out.
func selectItems(a *rest.Answer) ([]jsontext.Value, error) {
	if a.Member("items") == nil && a.Text("kind") != "" {
		return nil, nil
	}
	return rest.FirstList("items")(a)
}
