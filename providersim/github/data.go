package github

import (
	"fmt"
	"time"
)

type user struct {
	revision  int64
	updated   time.Time
	followers int
}

// repo is a repository of the account or of the organization.
type repo struct {
	id                       int64
	name, owner              string
	private, archived        bool
	revision                 int64 // of the description
	created, pushed, updated time.Time
	stargazers               int
	deleted, blocked         bool
	former                   string // full name before a rename
	busy                     bool   // has issues or pull requests
}

func (r *repo) fullName() string { return r.owner + "/" + r.name }

// star is another person's repository with a star of the account.
type star struct {
	id         int64
	name       string
	at         time.Time
	stargazers int
	gone       bool // no longer starred
	stub       bool // the repository is gone: its entry holds null
}

// issue is an issue or a pull request; the latter has a second id.
type issue struct {
	id, number       int64
	repo             *repo
	author           string
	created, updated time.Time
	closed           bool
	revision         int64
	refusal          int // status that its own address answers with, although lists still show it
	pull             *pull
}

type pull struct {
	id     int64
	merged bool
	draft  bool
}

type gist struct {
	id               string
	public           bool
	revision         int64
	created, updated time.Time
	deleted          bool
}

type event struct {
	id   int64
	kind string
	repo *repo
	at   time.Time
}

// object is a JSON object as it is served.
type object map[string]any

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func account(login string, id int64) object {
	return object{"login": login, "id": id, "type": "User", "avatar_url": fmt.Sprintf("https://avatars.githubusercontent.com/u/%d", id)}
}

func (g *GitHub) userObject() object {
	r := g.written(0, g.user.revision)
	repos, gists := 0, 0
	for _, x := range g.repos {
		if !x.deleted && !x.private && x.owner == ownLogin {
			repos++
		}
	}
	for _, x := range g.gists {
		if !x.deleted && x.public {
			gists++
		}
	}
	return object{
		"id": ownID, "login": ownLogin, "name": "Ottilie Brandvold", "email": nil, "bio": sentence(r, 5), "company": "@" + orgLogin,
		"location": "Bergen", "blog": "https://ottilie.example", "twitter_username": nil, "type": "User", "site_admin": false,
		"public_repos": repos, "public_gists": gists, "followers": g.user.followers, "following": 9,
		"created_at": "2016-04-01T10:00:00Z", "updated_at": stamp(g.user.updated),
		"avatar_url":         fmt.Sprintf("https://avatars.githubusercontent.com/u/%d", ownID),
		"html_url":           "https://github.com/" + ownLogin,
		"notification_email": "ottilie@ottilie.example", "hireable": nil, "two_factor_authentication": true,
		"private_gists": 2, "total_private_repos": 4,
		"owned_private_repos": 3, "disk_usage": 5100, "collaborators": 2,
		"plan": object{"name": "pro", "space": 976562499, "collaborators": 0, "private_repos": 9999},
	}
}

func (g *GitHub) repoObject(r *repo) object {
	text := g.written(r.id, r.revision)
	owner := account(r.owner, ownID)
	if r.owner == orgLogin {
		owner = account(orgLogin, orgID)
	}
	out := object{
		"id": r.id, "name": r.name, "full_name": r.fullName(), "owner": owner, "private": r.private, "fork": r.id%7 == 0,
		"archived": r.archived, "disabled": false, "description": sentence(text, 6), "default_branch": "main", "topics": []string{},
		"stargazers_count": r.stargazers, "watchers_count": r.stargazers, "forks_count": 1, "open_issues_count": 2, "size": 900 + r.id%50,
		"license": object{"key": "mit", "name": "MIT License"}, "homepage": nil, "language": nil, "visibility": "public",
		"is_template": r.id%11 == 0,
		"permissions": object{"admin": r.owner == ownLogin, "maintain": r.owner == ownLogin, "push": true, "triage": true,
			"pull": true}, "has_wiki": true, "allow_forking": true,
		"html_url": "https://github.com/" + r.fullName(), "created_at": stamp(r.created), "updated_at": stamp(r.updated), "pushed_at": stamp(r.pushed),
	}
	if r.private {
		out["visibility"] = "private"
	}
	if language := pick(g.written(r.id), languages); language != "" {
		out["language"] = language
		out["topics"] = []string{"tools", words[r.id%20]}
	}
	if r.id%5 == 0 {
		out["license"], out["description"] = nil, nil
	}
	return out
}

func (g *GitHub) starObject(s *star) object {
	if s.stub {
		return object{"starred_at": stamp(s.at), "repo": nil}
	}
	text := g.written(s.id)
	return object{"starred_at": stamp(s.at), "repo": object{
		"id": s.id, "name": s.name, "full_name": people[s.id%4] + "/" + s.name, "description": sentence(text, 5), "private": false,
		"language": nil, "stargazers_count": s.stargazers,
		"html_url": "https://github.com/" + people[s.id%4] + "/" + s.name, "fork": s.id%2 == 0, "archived": s.id%5 == 0,
		"topics": []string{words[s.id%20]}, "homepage": "https://" + s.name + ".example",
		"license": object{"key": "mit", "name": "MIT License"},
	}}
}
