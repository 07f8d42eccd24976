package gitea

import (
	"time"

	"github.com/pdpp-go/pdpp/providersim/rest"
)

// serverZone is the server's time zone.
var serverZone = time.FixedZone("", 2*3600)

func wireTime(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.In(serverZone).Format(time.RFC3339)
}

// userObject returns the person as the server serves them.
func (g *Gitea) userObject() jsonObject {
	return jsonObject{
		"id": ownAccountID, "login": ownLogin, "login_name": "", "full_name": "Lark Oduya", "email": "lark@example.org",
		"avatar_url": serverAddress + "/avatars/7", "html_url": serverAddress + "/" + ownLogin,
		"language": "", "is_admin": false, "last_login": wireTime(g.serverTime()), "created": "2024-03-01T10:00:00+02:00",
		"location": "", "website": "https://lark.example",
		"description": g.about, "visibility": "public", "followers_count": 3, "following_count": 4,
		"starred_repos_count": len(g.stars) + g.hidden,
	}
}

func actorObject(login string) jsonObject {
	return jsonObject{"id": len(login), "login": login, "full_name": ""}
}

func (g *Gitea) repoObject(r *simRepository) jsonObject {
	return jsonObject{
		"id": r.id, "owner": actorObject(r.owner), "name": r.name, "full_name": r.fullName(), "description": r.about,
		"empty": false, "private": r.private, "fork": false, "template": false,
		"mirror": false, "size": 24 + r.id, "language": "Go", "html_url": serverAddress + "/" + r.fullName(),
		"website": "", "stars_count": r.id % 5, "forks_count": 0,
		"open_issues_count": g.openIssueCount(r, false), "open_pr_counter": g.openIssueCount(r, true),
		"default_branch": "main", "archived": false, "created_at": wireTime(r.created),
		"updated_at": wireTime(r.since), "archived_at": "1970-01-01T00:00:00Z", "has_issues": true,
		"has_pull_requests": true, "topics": []string{"clay"}, "licenses": nil,
		"permissions":    jsonObject{"admin": r.owner == ownLogin, "push": true, "pull": true},
		"mirror_updated": "0001-01-01T00:00:00Z",
	}
}

// openIssueCount is how many of its issues or pull requests are open.
func (g *Gitea) openIssueCount(r *simRepository, pull bool) int {
	return len(rest.Filter(g.issues, func(i *simIssue) bool {
		return i.repo == r && i.isPresent() && i.pull == pull && i.closed.IsZero()
	}))
}

func (g *Gitea) issueObject(i *simIssue) jsonObject {
	o := g.commonIssueMembers(i)
	o["id"], o["original_author"], o["original_author_id"], o["ref"], o["assets"] = i.id, "", 0, "", []jsonObject{}
	o["repository"] = jsonObject{"id": i.repo.id, "name": i.repo.name, "owner": i.repo.owner,
		"full_name": i.repo.fullName()}
	o["pull_request"] = nil
	if i.pull {
		o["pull_request"] = jsonObject{"merged": !i.merged.IsZero(), "merged_at": wireTime(i.merged), "draft": false,
			"html_url": i.htmlAddress()}
	}
	return o
}

// commonIssueMembers is what an issue has in both lists.
func (g *Gitea) commonIssueMembers(i *simIssue) jsonObject {
	comments := rest.Filter(g.comments, func(c *simComment) bool { return c.on == i && !c.gone })
	o := jsonObject{
		"number": i.number, "url": i.htmlAddress(), "html_url": i.htmlAddress(), "user": actorObject(i.author),
		"title": i.title, "body": i.body, "labels": []jsonObject{}, "milestone": nil,
		"assignee": nil, "assignees": nil, "state": i.stateName(), "is_locked": false, "comments": len(comments),
		"created_at": wireTime(i.created), "updated_at": wireTime(i.updated), "closed_at": wireTime(i.closed),
		"due_date": nil, "pin_order": 0,
	}
	if i.number%3 == 0 {
		o["assignee"], o["assignees"] = actorObject(i.repo.owner), []jsonObject{actorObject(i.repo.owner)}
		o["milestone"] = jsonObject{"id": 1, "title": "Spring", "state": "open"}
		o["labels"] = []jsonObject{{"id": 1, "name": "heat", "color": "ff8800"}, {"id": 2, "name": "slow", "color": "ff8800"}}
	}
	return o
}

func (g *Gitea) pullObject(i *simIssue) jsonObject {
	o := g.commonIssueMembers(i)
	o["id"], o["draft"], o["merged"], o["merged_at"], o["merged_by"] = i.pullID, false, !i.merged.IsZero(),
		wireTime(i.merged), nil
	o["base"] = jsonObject{"label": "main", "ref": "main", "sha": "", "repo_id": i.repo.id}
	o["head"] = jsonObject{"label": "slow", "ref": "slow", "sha": "", "repo_id": i.repo.id}
	o["requested_reviewers"] = nil
	if i.number%2 == 0 {
		o["requested_reviewers"] = []jsonObject{actorObject("wren")}
	}
	o["mergeable"] = true
	return o
}

func commentObject(c *simComment) jsonObject {
	o := jsonObject{
		"id": c.id, "html_url": c.on.htmlAddress() + "#issuecomment", "pull_request_url": "", "issue_url": "",
		"user": actorObject(c.author), "original_author": "", "original_author_id": 0,
		"body": c.body, "assets": []jsonObject{{"id": 3, "name": "kiln.png", "size": 2048,
			"browser_download_url": serverAddress +
				"/attachments/3", "uuid": "3"}}, "created_at": wireTime(c.created), "updated_at": wireTime(c.updated),
	}
	if c.on.pull {
		o["pull_request_url"] = c.on.htmlAddress()
	} else {
		o["issue_url"] = c.on.htmlAddress()
	}
	return o
}
