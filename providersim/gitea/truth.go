package gitea

import (
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/providersim/rest"
)

// recordTime is a time as a record has it.
func recordTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// truth adds the records of everything that exists now and that the person may see.
func (g *Gitea) truth(add rest.AddTruth) {
	put := func(stream, key string, there bool, record jsonObject) {
		record["id"] = key
		add(stream, key, record, !there)
	}
	user := rest.Members(g.userObject(), "login", "full_name", "email", "avatar_url", "html_url", "website",
		"description", "followers_count", "following_count")
	user["created_at"] = "2024-03-01T08:00:00Z"
	put(StreamUser, strconv.Itoa(ownAccountID), true, user)
	for _, r := range g.repos {
		o := g.repoObject(r)
		if r.owner == ownLogin || r.listed {
			record := rest.Members(o, "name", "full_name", "description", "private", "fork", "mirror", "archived", "empty",
				"default_branch", "language", "topics", "stars_count", "forks_count", "open_issues_count", "html_url")
			record["owner_login"], record["licenses"], record["size_kb"] = r.owner, []string{}, o["size"]
			record["open_pulls_count"], record["created_at"] = o["open_pr_counter"], recordTime(r.created)
			record["updated_at"] = recordTime(r.since)
			put(StreamRepositories, r.recordKey(), r.listed && r.isVisible(), record)
		}
		if starred, ever := g.stars[r.id]; ever {
			record := rest.Members(o, "full_name", "description", "language", "html_url", "stars_count")
			record["created_at"] = recordTime(r.created)
			put(StreamStarred, r.recordKey(), starred && r.isVisible(), record)
		}
	}
	for _, i := range g.issues {
		if i.repo.listed || i.author == ownLogin {
			stream := map[bool]string{false: StreamIssues, true: StreamPulls}[i.pull]
			put(stream, i.recordKey(), i.isPresent() && i.repo.isVisible(), g.issueRecord(i))
		}
	}
	for _, c := range g.comments {
		if !c.on.repo.listed {
			continue
		}
		record := jsonObject{
			"repository_id": c.on.repo.recordKey(), "repository_full_name": c.on.repo.fullName(),
			"author_login": c.author, "body": c.body, "html_url": c.on.htmlAddress() + "#issuecomment",
			"attachments": []jsonObject{{"name": "kiln.png", "size": 2048,
				"browser_download_url": serverAddress + "/attachments/3"}},
			"created_at": recordTime(c.created), "updated_at": recordTime(c.updated),
		}
		record[map[bool]string{false: "issue_id", true: "pull_id"}[c.on.pull]] = c.on.recordKey()
		put(StreamComments, c.recordKey(), c.isPresent() && c.on.repo.isVisible(), record)
	}
}

// issueRecord returns the expected record of an issue or a pull request. Pull requests elsewhere have fewer members.
func (g *Gitea) issueRecord(i *simIssue) jsonObject {
	o := rest.Members(g.commonIssueMembers(i), "number", "title", "body", "state", "is_locked", "html_url")
	o["repository_id"], o["repository_full_name"], o["author_login"] = i.repo.recordKey(), i.repo.fullName(), i.author
	o["labels"], o["assignees"] = []string{}, []string{}
	o["created_at"], o["updated_at"] = recordTime(i.created), recordTime(i.updated)
	if i.number%3 == 0 {
		o["assignees"], o["labels"], o["milestone_title"] = []string{i.repo.owner}, []string{"heat", "slow"}, "Spring"
	}
	if !i.closed.IsZero() {
		o["closed_at"] = recordTime(i.closed)
	}
	if !i.pull {
		return o
	}
	o["draft"], o["merged"], o["requested_reviewers"] = false, !i.merged.IsZero(), []string{}
	if !i.merged.IsZero() {
		o["merged_at"] = recordTime(i.merged)
	}
	if i.repo.listed {
		o["base_ref"], o["head_ref"] = "main", "slow"
		if i.number%2 == 0 {
			o["requested_reviewers"] = []string{"wren"}
		}
	}
	return o
}
