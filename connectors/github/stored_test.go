package github_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"pdpp/providersim/github"
)

// What a record must hold, told apart from the connector's own mapping: for each
// stream its fields and the way to each in GitHub's JSON. A mark before the way
// says how the value is spelled: # as text, * as the list of one member, ? as
// whether it is there.
var fields = map[string]map[string]string{
	github.StreamUser: same("login", "name", "email", "bio", "company", "location", "blog", "twitter_username",
		"created_at", "updated_at", "avatar_url").with("id", "#id"),
	github.StreamUserStats: same("public_repos", "public_gists", "followers", "following").with("user_id", "#id"),
	github.StreamRepositories: same("name", "full_name", "description", "private", "fork", "archived", "disabled", "default_branch",
		"language", "topics", "stargazers_count", "forks_count", "open_issues_count", "watchers_count", "html_url", "homepage",
		"created_at", "updated_at", "pushed_at").
		with("id", "#id", "owner_login", "owner.login", "size_kb", "size", "license_key", "license.key"),
	github.StreamStarred: same("starred_at").with("id", "#repo.id", "full_name", "repo.full_name", "description", "repo.description",
		"language", "repo.language", "stargazers_count", "repo.stargazers_count", "html_url", "repo.html_url"),
	github.StreamIssues: issueFields.with("repository_full_name", "repository.full_name", "repository_id", "#repository.id"),
	github.StreamPulls:  issueFields,
	github.StreamPullDetails: same("number", "merged_at", "additions", "deletions", "changed_files", "created_at", "updated_at").
		with("id", "#list_id", "pull_request_id", "#id", "merged_by_login", "merged_by.login", "commits_count", "commits",
			"base_ref", "base.ref", "head_ref", "head.ref", "requested_reviewers", "*requested_reviewers.login",
			"review_comments_count", "review_comments"),
	github.StreamGists: same("id", "description", "public", "html_url", "created_at", "updated_at").
		with("files_truncated", "truncated", "comments_count", "comments"),
	github.StreamEvents: same("id", "type", "public", "created_at").with("actor_login", "actor.login", "repository_id", "#repo.id",
		"repository_full_name", "repo.name", "action", "payload.action", "ref", "payload.ref"),
}

var issueFields = same("number", "title", "body", "state", "state_reason", "html_url", "comments", "created_at", "updated_at",
	"closed_at", "draft").
	with("id", "#id", "user_login", "user.login", "user_id", "#user.id", "assignees", "*assignees.login", "labels", "*labels.name",
		"milestone_title", "milestone.title", "reactions_total_count", "reactions.total_count", "is_pull_request", "?pull_request",
		"pull_request_url", "pull_request.url")

type table map[string]string

func same(names ...string) table {
	t := table{}
	for _, name := range names {
		t[name] = name
	}
	return t
}

func (t table) with(pairs ...string) table {
	t = maps.Clone(t)
	for i := 0; i+1 < len(pairs); i += 2 {
		t[pairs[i]] = pairs[i+1]
	}
	return t
}

// stored is what the store must hold for a thing of GitHub's.
func stored(stream, key string, data json.RawMessage) (json.RawMessage, error) {
	var wire map[string]any
	dec := json.NewDecoder(strings.NewReader(string(data)))
	dec.UseNumber()
	if err := dec.Decode(&wire); err != nil {
		return nil, err
	}
	record := map[string]any{}
	for name, way := range fields[stream] {
		if v := follow(wire, way); v != nil {
			record[name] = v
		}
	}
	switch stream {
	case github.StreamUserStats:
		_, day, _ := strings.Cut(key, ":")
		record["id"], record["observed_on"] = key, day
	case github.StreamPulls:
		_, full, _ := strings.Cut(wire["repository_url"].(string), "/repos/")
		record["repository_full_name"] = full
	case github.StreamGists:
		files := wire["files"].(map[string]any)
		list := []any{}
		for _, name := range slices.Sorted(maps.Keys(files)) {
			list = append(list, files[name])
		}
		record["files"], record["files_total_count"] = list, len(files)
	}
	return json.Marshal(record)
}

// follow goes the way to a value; nil when there is none.
func follow(wire map[string]any, way string) any {
	mark, path := way[:1], strings.TrimLeft(way, "#*?")
	var at any = wire
	steps := strings.Split(path, ".")
	for i, step := range steps {
		if list, ok := at.([]any); ok && mark == "*" {
			names := []any{}
			for _, each := range list {
				names = append(names, follow(each.(map[string]any), strings.Join(steps[i:], ".")))
			}
			return names
		}
		members, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = members[step]
	}
	switch {
	case mark == "?":
		return at != nil
	case mark == "#" && at != nil:
		n, err := strconv.ParseInt(fmt.Sprint(at), 10, 64)
		if err != nil {
			return nil
		}
		return strconv.FormatInt(n, 10)
	}
	return at
}
