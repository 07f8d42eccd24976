// Package todoist collects a person's tasks, projects, sections and labels from Todoist.
//
//	manifest.json   what it declares: streams, schemas, the form for the token
//	todoist.go      where the lists are
package todoist

import (
	"context"
	_ "embed"
	"maps"
	"net/url"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the Todoist connector.
func Connector() connectorkit.Connector { return rest.MustNew(manifestJSON, source) }

const (
	// windowDays is less than the three months that one request for completed tasks may cover.
	windowDays = 85
	// rereadDays is how many past days of completed tasks every run reads again, to find those that were reopened.
	rereadDays = 14
	// archivedProjects is the partition of the archived projects, which Todoist lists separately.
	archivedProjects = "archived"
)

var source = rest.Source{
	BaseURL: "https://api.todoist.com/api/v1",
	Auth:    rest.BearerKey("TODOIST_TOKEN"),
	QuotaOf: []string{"TODOIST_TOKEN"},
	Account: &rest.Lookup{Request: rest.Request{Path: "user"}, Member: "id"},
	Streams: []rest.Stream{
		archived(listedTasks("projects", nil)),
		listedTasks("sections", nil),
		listedTasks("labels", nil),
		listedTasks("tasks", taskFields),
		completed(),
	},
}

var taskFields = rest.Fields{
	"due_date": rest.From("due.date"), "due_text": rest.From("due.string"), "due_timezone": rest.From("due.timezone"),
	"is_recurring": rest.From("due.is_recurring"), "deadline_date": rest.From("deadline.date"),
	"duration": rest.From("duration.amount"), "duration_unit": rest.From("duration.unit"),
}

// listedTasks is a list of everything that is active. It reports no changes.
func listedTasks(collection string, fields rest.Fields) rest.Stream {
	return rest.Stream{Name: collection, Items: "results", Fields: fields, OmitEmpty: true,
		Request: rest.Request{Path: collection, Query: url.Values{"limit": {"200"}}},
		Pages:   rest.NextToken{Param: "cursor", Member: "next_cursor"}}
}

// archived is a list with a second one for what is archived.
func archived(s rest.Stream) rest.Stream {
	s.Partitions = rest.Values("list", "active", archivedProjects)
	s.Prepare = func(_ context.Context, _ *rest.Run, ask rest.Ask, q *governhttp.Request) error {
		if ask.Partition.ID == archivedProjects {
			q.Path += "/" + archivedProjects
		}
		return nil
	}
	return s
}

// completed are the tasks that were completed, by that time. A repeated task keeps its id and is completed again, so
// the time is a part of the key.
func completed() rest.Stream {
	s := listedTasks("tasks/completed/by_completion_date", maps.Clone(taskFields))
	s.Name, s.Items = "completed_tasks", "items"
	s.Fields["id"] = rest.Joined(":", rest.From("id"), rest.From("completed_at"))
	s.Fields["task_id"], s.Fields["completed_at"] = rest.From("id"), rest.From("completed_at").Time()
	s.Sync = rest.DateWindows{From: "since", To: "until", Layout: time.RFC3339, Days: windowDays, Again: rereadDays,
		Start: func(r *rest.Run) (time.Time, error) {
			joined, err := r.AccountText(context.Background(), "joined_at") // the account is known here
			if err != nil {
				return time.Time{}, err
			}
			at, err := time.Parse(time.RFC3339, joined)
			if err != nil {
				return time.Time{}, connectorkit.Fail(connectorkit.Malformed, err)
			}
			return at, nil
		}}
	return s
}
