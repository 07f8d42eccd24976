package github

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
)

// Streams of [GitHub.Truth].
const (
	StreamUser         = "user"
	StreamUserStats    = "user_stats"
	StreamRepositories = "repositories"
	StreamStarred      = "starred"
	StreamIssues       = "issues"
	StreamPulls        = "pull_requests"
	StreamPullDetails  = "pull_request_details"
	StreamGists        = "gists"
	StreamEvents       = "events"
)

// Truth returns everything that exists now, whoever may see it, as the API serves
// it. A pull request's detail has the key of its row in the list, and
// list_id names it. What was unstarred or deleted stays as a tombstone; events
// that GitHub no longer shows stay, because whoever has read them has them.
func (g *GitHub) Truth() providersim.Truth {
	g.mu.Lock()
	defer g.mu.Unlock()
	t := providersim.Truth{}
	add := func(stream, key string, data object, deleted bool) {
		if t[stream] == nil {
			t[stream] = map[string]providersim.Item{}
		}
		t[stream][key] = providersim.Item{Data: json.RawMessage(providersim.EncodeJSON(data)), Deleted: deleted}
	}
	add(StreamUser, ident(ownID), g.userObject(), false)
	day := g.now().UTC().Format(time.DateOnly)
	figures := g.figures[day] // who has read them has those
	if figures == nil {
		figures = g.userObject()
	}
	add(StreamUserStats, fmt.Sprintf("%d:%s", int64(ownID), day), figures, false)
	for _, r := range g.repos {
		add(StreamRepositories, ident(r.id), g.repoObject(r), r.deleted)
	}
	for _, s := range g.stars {
		if !s.stub {
			add(StreamStarred, ident(s.id), g.starObject(s), s.gone)
		}
	}
	for _, i := range g.issues {
		add(StreamIssues, ident(i.id), g.issueObject(i, false), false)
		if i.pull == nil || i.author != ownLogin {
			continue
		}
		add(StreamPulls, ident(i.id), g.issueObject(i, true), false)
		if i.refusal != 0 {
			continue
		}
		detail := g.pullObject(i)
		detail["list_id"] = i.id
		add(StreamPullDetails, ident(i.id), detail, false)
	}
	for _, x := range g.gists {
		add(StreamGists, x.id, g.gistObject(x), x.deleted)
	}
	for _, e := range g.events {
		add(StreamEvents, fmt.Sprint(e.id), g.eventObject(e), false)
	}
	return t
}
