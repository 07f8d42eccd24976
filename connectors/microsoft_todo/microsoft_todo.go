// Package microsofttodo collects a person's task lists and tasks from Microsoft To Do.
//
//	manifest.json       what it declares: streams, schemas, the sign-in
//	microsoft_todo.go   where lists and tasks are
package microsofttodo

import (
	_ "embed"
	"net/http"
	"net/url"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the Microsoft To Do connector.
func Connector() connectorkit.Connector { return rest.MustNew(manifestJSON, source) }

var source = rest.Source{
	BaseURL: "https://graph.microsoft.com/v1.0",
	Auth:    rest.AccessToken("MICROSOFT_TODO_ACCESS_TOKEN"),
	QuotaOf: []string{"MICROSOFT_CLIENT_ID"},
	Errors: []rest.ErrorRule{{Status: http.StatusForbidden, Class: connectorkit.Forbidden,
		Message: "Microsoft does not allow this app to read your tasks. Add the permission Tasks.Read to your app, or ask " +
			"the administrator of your organization to allow it, and sign in again."}},
	// Microsoft can list changes since a token. Every run reads all tasks instead, which also finds deleted lists.
	Streams: []rest.Stream{
		{
			Name: "lists", Items: "value", Pages: odataPages{}, Shared: true,
			// Without $top Microsoft returns the first lists only, and no next page.
			Request: rest.Request{Path: "me/todo/lists", Query: url.Values{"$top": {"100"}}},
			Fields: rest.Fields{"name": rest.From("displayName"), "is_owner": rest.From("isOwner"),
				"is_shared": rest.From("isShared"), "well_known_name": rest.From("wellknownListName")},
		},
		{
			Name: "tasks", Items: "value", Pages: odataPages{}, OmitEmpty: true,
			Request: rest.Request{Path: "me/todo/lists/{id}/tasks", Query: url.Values{"$top": {"100"},
				"$expand": {"checklistItems,linkedResources"}}},
			Partitions: rest.ParentsOf("lists", "id", nil, nil),
			Fields: rest.Fields{
				"list_id": rest.FromPartition("id"), "created_at": rest.From("createdDateTime").Time(),
				"modified_at": rest.From("lastModifiedDateTime"), "body": rest.From("body.content"),
				"body_type": rest.From("body.contentType"), "body_modified_at": rest.From("bodyLastModifiedDateTime"),
				"due": rest.From("dueDateTime.dateTime"), "due_time_zone": rest.From("dueDateTime.timeZone"),
				"start": rest.From("startDateTime.dateTime"), "start_time_zone": rest.From("startDateTime.timeZone"),
				"completed":           rest.From("completedDateTime.dateTime"),
				"completed_time_zone": rest.From("completedDateTime.timeZone"),
				"reminder":            rest.From("reminderDateTime.dateTime"),
				"reminder_time_zone":  rest.From("reminderDateTime.timeZone"),
				"is_reminder_on":      rest.From("isReminderOn"), "has_attachments": rest.From("hasAttachments"),
				"steps": rest.From("checklistItems"), "links": rest.Each("webUrl", "linkedResources"),
			},
		},
	},
}

// odataPages follow the member @odata.nextLink, which a path of names cannot express.
type odataPages struct{ rest.NextURL }

// NextPage implements rest.Pager.
func (odataPages) NextPage(a *rest.Answer, _ rest.PageOutcome) (string, error) {
	var page struct {
		Next string `json:"@odata.nextLink"`
	}
	if err := json.Unmarshal(a.Body, &page); err != nil {
		return "", connectorkit.Fail(connectorkit.Malformed, err)
	}
	if page.Next == "" {
		return "", nil
	}
	return a.Target(page.Next)
}
