package github

import (
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/providersim/rest"
)

type simUser struct {
	revision  int64
	updated   time.Time
	followers int
}

// simRepository is a repository of the account or of the organization.
type simRepository struct {
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

func (r *simRepository) qualifiedName() string { return r.owner + "/" + r.name }

// starredRepo is another person's repository with a star of the account.
type starredRepo struct {
	id         int64
	name       string
	at         time.Time
	stargazers int
	gone       bool // no longer starred
	stub       bool // the repository is gone: its entry holds null
}

// simIssue is an issue or a pull request; the latter has a second id.
type simIssue struct {
	id, number       int64
	repo             *simRepository
	author           string
	created, updated time.Time
	closed           bool
	revision         int64
	refusal          int // status that its own address answers with, although lists still show it
	pull             *pullDetails
}

type pullDetails struct {
	id     int64
	merged bool
	draft  bool
}

type simGist struct {
	id               string
	public           bool
	revision         int64
	created, updated time.Time
	deleted          bool
}

type simEvent struct {
	id   int64
	kind string
	repo *simRepository
	at   time.Time
}

type jsonObject = rest.Object

func formatTimestamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func actorObject(login string, id int64) jsonObject {
	return jsonObject{"login": login, "id": id, "type": "User",
		"avatar_url": fmt.Sprintf("https://avatars.githubusercontent.com/u/%d", id)}
}

func (g *GitHub) userObject() jsonObject {
	r := g.textRandom(0, g.user.revision)
	repos, gists := 0, 0
	for _, x := range g.repos {
		if !x.deleted && !x.private && x.owner == ownUserLogin {
			repos++
		}
	}
	for _, x := range g.gists {
		if !x.deleted && x.public {
			gists++
		}
	}
	return jsonObject{
		"id": ownUserID, "login": ownUserLogin, "name": "Ottilie Brandvold", "email": nil, "bio": randomSentence(r, 5),
		"company": "@" +
			organizationLogin,
		"location": "Bergen", "blog": "https://ottilie.example", "twitter_username": nil, "type": "User", "site_admin": false,
		"public_repos": repos, "public_gists": gists, "followers": g.user.followers, "following": 9,
		"created_at": "2016-04-01T10:00:00Z", "updated_at": formatTimestamp(g.user.updated),
		"avatar_url":         fmt.Sprintf("https://avatars.githubusercontent.com/u/%d", ownUserID),
		"html_url":           "https://github.com/" + ownUserLogin,
		"notification_email": "ottilie@ottilie.example", "hireable": nil, "two_factor_authentication": true,
		"private_gists": 2, "total_private_repos": 4, "owned_private_repos": 3, "disk_usage": 5100, "collaborators": 2,
		"plan": jsonObject{"name": "pro", "space": 976562499, "collaborators": 0, "private_repos": 9999},
	}
}

func (g *GitHub) repoObject(r *simRepository) jsonObject {
	text := g.textRandom(r.id, r.revision)
	owner := actorObject(r.owner, ownUserID)
	if r.owner == organizationLogin {
		owner = actorObject(organizationLogin, organizationID)
	}
	out := jsonObject{
		"id": r.id, "name": r.name, "full_name": r.qualifiedName(), "owner": owner, "private": r.private, "fork": r.id%7 == 0,
		"archived": r.archived, "disabled": false, "description": randomSentence(text, 6), "default_branch": "main",
		"topics":           []string{},
		"stargazers_count": r.stargazers, "watchers_count": r.stargazers, "forks_count": 1, "open_issues_count": 2,
		"size":    900 + r.id%50,
		"license": jsonObject{"key": "mit", "name": "MIT License"}, "homepage": nil, "language": nil, "visibility": "public",
		"is_template": r.id%11 == 0,
		"permissions": jsonObject{"admin": r.owner == ownUserLogin, "maintain": r.owner == ownUserLogin, "push": true,
			"triage": true, "pull": true}, "has_wiki": true, "allow_forking": true,
		"html_url": "https://github.com/" + r.qualifiedName(), "created_at": formatTimestamp(r.created),
		"updated_at": formatTimestamp(r.updated), "pushed_at": formatTimestamp(r.pushed),
	}
	if r.private {
		out["visibility"] = "private"
	}
	if language := pickString(g.textRandom(r.id), sampleLanguages); language != "" {
		out["language"] = language
		out["topics"] = []string{"tools", sampleWords[r.id%20]}
	}
	if r.id%5 == 0 {
		out["license"], out["description"] = nil, nil
	}
	return out
}

func (g *GitHub) starObject(s *starredRepo) jsonObject {
	if s.stub {
		return jsonObject{"starred_at": formatTimestamp(s.at), "repo": nil}
	}
	text := g.textRandom(s.id)
	return jsonObject{"starred_at": formatTimestamp(s.at), "repo": jsonObject{
		"id": s.id, "name": s.name, "full_name": samplePeople[s.id%4] + "/" + s.name, "description": randomSentence(text, 5),
		"private": false, "language": nil, "stargazers_count": s.stargazers,
		"html_url": "https://github.com/" + samplePeople[s.id%4] + "/" + s.name, "fork": s.id%2 == 0, "archived": s.id%5 == 0,
		"topics": []string{sampleWords[s.id%20]}, "homepage": "https://" + s.name + ".example",
		"license": jsonObject{"key": "mit", "name": "MIT License"},
	}}
}
