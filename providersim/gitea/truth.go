package gitea

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
)

// moment is a time as a record has it.
func moment(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Truth returns the records of everything that exists now and that the person may see of their own.
func (g *Gitea) Truth() providersim.Truth {
	g.mu.Lock()
	defer g.mu.Unlock()
	t := providersim.Truth{}
	for _, stream := range []string{StreamUser, StreamRepositories, StreamStarred, StreamIssues, StreamPulls, StreamComments} {
		t[stream] = map[string]providersim.Item{}
	}
	put := func(stream, key string, there bool, record object) {
		record["id"] = key
		t[stream][key] = providersim.Item{Data: json.RawMessage(providersim.EncodeJSON(record)), Deleted: !there}
	}
	put(StreamUser, strconv.Itoa(meID), true, object{
		"login": me, "full_name": "Lark Oduya", "email": "lark@example.org", "avatar_url": host + "/avatars/7", "html_url": host + "/" + me, "website": "https://lark.example",
		"description": g.about, "created_at": "2024-03-01T08:00:00Z", "followers_count": 3, "following_count": 4,
	})
	for _, r := range g.repos {
		id := strconv.FormatInt(r.id, 10)
		if r.owner == me || r.listed {
			put(StreamRepositories, id, r.listed && r.visible(), object{
				"name": r.name, "full_name": r.full(), "owner_login": r.owner, "description": r.about, "private": r.private, "fork": false, "mirror": false, "archived": false, "empty": false,
				"default_branch": "main", "language": "Go", "topics": []string{"clay"}, "licenses": []string{}, "stars_count": r.id % 5, "forks_count": 0,
				"open_issues_count": g.open(r, false), "open_pulls_count": g.open(r, true), "size_kb": 24 + r.id, "html_url": host + "/" + r.full(),
				"created_at": moment(r.created), "updated_at": moment(r.since),
			})
		}
		if starred, ever := g.stars[r.id]; ever {
			put(StreamStarred, id, starred && r.visible(), object{
				"full_name": r.full(), "description": r.about, "language": "Go", "html_url": host + "/" + r.full(), "stars_count": r.id % 5, "created_at": moment(r.created),
			})
		}
	}
	for _, i := range g.issues {
		own := i.repo.listed
		if !own && i.author != me {
			continue
		}
		stream := StreamIssues
		if i.pull {
			stream = StreamPulls
		}
		put(stream, i.key(), i.there() && i.repo.visible(), g.issueRecord(i, own))
	}
	for _, c := range g.comments {
		if !c.on.repo.listed {
			continue
		}
		record := object{
			"repository_id": strconv.FormatInt(c.on.repo.id, 10), "repository_full_name": c.on.repo.full(), "author_login": c.author, "body": c.body,
			"attachments": []object{{"name": "kiln.png", "size": 2048, "browser_download_url": host + "/attachments/3"}}, "html_url": c.on.address() + "#issuecomment",
			"created_at": moment(c.created), "updated_at": moment(c.updated),
		}
		if c.on.pull {
			record["pull_id"] = c.on.key()
		} else {
			record["issue_id"] = c.on.key()
		}
		put(StreamComments, strconv.FormatInt(c.id, 10), c.there() && c.on.repo.visible(), record)
	}
	return t
}

func (i *issue) key() string { return fmt.Sprintf("%d:%d", i.repo.id, i.number) }

// issueRecord is what is kept of an issue, or of a pull request, of which less can be had elsewhere.
func (g *Gitea) issueRecord(i *issue, own bool) object {
	o := object{
		"number": i.number, "repository_id": strconv.FormatInt(i.repo.id, 10), "repository_full_name": i.repo.full(), "author_login": i.author, "title": i.title, "body": i.body,
		"state": i.state(), "assignees": []string{}, "labels": append([]string{}, i.labels...), "is_locked": false, "html_url": i.address(),
		"created_at": moment(i.created), "updated_at": moment(i.updated),
	}
	if i.number%3 == 0 {
		o["assignees"] = []string{i.repo.owner}
	}
	if i.milestone != "" {
		o["milestone_title"] = i.milestone
	}
	if !i.closed.IsZero() {
		o["closed_at"] = moment(i.closed)
	}
	if !i.pull {
		return o
	}
	o["draft"], o["merged"], o["requested_reviewers"] = false, !i.merged.IsZero(), []string{}
	if !i.merged.IsZero() {
		o["merged_at"] = moment(i.merged)
	}
	if own {
		o["base_ref"], o["head_ref"] = "main", "slow"
		if i.number%2 == 0 {
			o["requested_reviewers"] = []string{"wren"}
		}
	}
	return o
}
