package gitea

// user is the person as the server gives them.
func (g *Gitea) user() object {
	return object{
		"id": meID, "login": me, "login_name": "", "full_name": "Lark Oduya", "email": "lark@example.org", "avatar_url": host + "/avatars/7", "html_url": host + "/" + me,
		"language": "", "is_admin": false, "last_login": spelled(g.now()), "created": "2024-03-01T10:00:00+02:00", "location": "", "website": "https://lark.example",
		"description": g.about, "visibility": "public", "followers_count": 3, "following_count": 4, "starred_repos_count": len(g.stars) + g.hidden,
	}
}

func actor(login string) object { return object{"id": len(login), "login": login, "full_name": ""} }

func (g *Gitea) repoObject(r *repo) object {
	return object{
		"id": r.id, "owner": actor(r.owner), "name": r.name, "full_name": r.full(), "description": r.about, "empty": false, "private": r.private, "fork": false, "template": false,
		"mirror": false, "size": 24 + r.id, "language": "Go", "html_url": host + "/" + r.full(), "website": "", "stars_count": r.id % 5, "forks_count": 0,
		"open_issues_count": g.open(r, false), "open_pr_counter": g.open(r, true), "default_branch": "main", "archived": false, "created_at": spelled(r.created),
		"updated_at": spelled(r.since), "archived_at": "1970-01-01T00:00:00Z", "has_issues": !r.noIssues, "has_pull_requests": true, "topics": []string{"clay"}, "licenses": nil,
		"permissions": object{"admin": r.owner == me, "push": true, "pull": true}, "mirror_updated": "0001-01-01T00:00:00Z",
	}
}

// open is how many of its issues or pull requests are open.
func (g *Gitea) open(r *repo, pull bool) (n int) {
	for _, i := range g.issues {
		if i.repo == r && i.there() && i.pull == pull && i.closed.IsZero() {
			n++
		}
	}
	return n
}

func (g *Gitea) issueObject(i *issue) object {
	o := g.common(i)
	o["id"], o["original_author"], o["original_author_id"], o["ref"], o["assets"] = i.id, "", 0, "", []object{}
	o["repository"] = object{"id": i.repo.id, "name": i.repo.name, "owner": i.repo.owner, "full_name": i.repo.full()}
	o["pull_request"] = nil
	if i.pull {
		o["pull_request"] = object{"merged": !i.merged.IsZero(), "merged_at": spelled(i.merged), "draft": false, "html_url": i.address()}
	}
	return o
}

// common is what an issue has in both lists.
func (g *Gitea) common(i *issue) object {
	labels := []object{}
	for n, name := range i.labels {
		labels = append(labels, object{"id": n + 1, "name": name, "color": "ff8800"})
	}
	o := object{
		"number": i.number, "url": i.address(), "html_url": i.address(), "user": actor(i.author), "title": i.title, "body": i.body, "labels": labels, "milestone": nil,
		"assignee": nil, "assignees": nil, "state": i.state(), "is_locked": false, "comments": g.has(i),
		"created_at": spelled(i.created), "updated_at": spelled(i.updated), "closed_at": spelled(i.closed), "due_date": nil, "pin_order": 0,
	}
	if i.number%3 == 0 {
		o["assignee"], o["assignees"] = actor(i.repo.owner), []object{actor(i.repo.owner)}
	}
	if i.milestone != "" {
		o["milestone"] = object{"id": 1, "title": i.milestone, "state": "open"}
	}
	return o
}

func (g *Gitea) pullObject(i *issue) object {
	o := g.common(i)
	o["id"], o["draft"], o["merged"], o["merged_at"], o["merged_by"] = i.pullID, false, !i.merged.IsZero(), spelled(i.merged), nil
	o["base"] = object{"label": "main", "ref": "main", "sha": "", "repo_id": i.repo.id}
	o["head"] = object{"label": "slow", "ref": "slow", "sha": "", "repo_id": i.repo.id}
	o["requested_reviewers"] = nil
	if i.number%2 == 0 {
		o["requested_reviewers"] = []object{actor("wren")}
	}
	o["mergeable"] = true
	return o
}

func commentObject(c *comment) object {
	o := object{
		"id": c.id, "html_url": c.on.address() + "#issuecomment", "pull_request_url": "", "issue_url": "", "user": actor(c.author), "original_author": "", "original_author_id": 0,
		"body": c.body, "assets": []object{{"id": 3, "name": "kiln.png", "size": 2048, "browser_download_url": host + "/attachments/3", "uuid": "3"}},
		"created_at": spelled(c.created), "updated_at": spelled(c.updated),
	}
	if c.on.pull {
		o["pull_request_url"] = c.on.address()
	} else {
		o["issue_url"] = c.on.address()
	}
	return o
}
