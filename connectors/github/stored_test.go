package github_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pdpp-go/pdpp/providersim/github"
)

// The fields that a record must hold, independent of the connector's mapping: for each stream its fields and their
// paths in GitHub's JSON. A prefix selects the format: # as text, * as the list of one member, ? as presence.
var fields = map[string]map[string]string{
	github.StreamUser: same("login", "name", "email", "bio", "company", "location", "blog", "twitter_username",
		"created_at", "updated_at", "avatar_url", "html_url", "notification_email", "hireable", "two_factor_authentication").
		with("id", "#id", "plan_name", "plan.name"),
	github.StreamUserStats: same("public_repos", "public_gists", "followers", "following", "private_gists",
		"total_private_repos",
		"owned_private_repos", "disk_usage", "collaborators").with("user_id", "#id"),
	github.StreamRepositories: same("name", "full_name", "description", "private", "fork", "archived", "disabled",
		"default_branch",
		"language", "topics", "stargazers_count", "forks_count", "open_issues_count", "watchers_count", "html_url",
		"homepage",
		"created_at", "updated_at", "pushed_at", "visibility", "is_template").
		with("id", "#id", "owner_login", "owner.login", "size_kb", "size", "license_key", "license.key"),
	github.StreamStarred: same("starred_at").with("id", "#repo.id", "full_name", "repo.full_name", "description",
		"repo.description",
		"language", "repo.language", "stargazers_count", "repo.stargazers_count", "html_url", "repo.html_url", "topics",
		"repo.topics",
		"homepage", "repo.homepage", "private", "repo.private", "fork", "repo.fork", "archived", "repo.archived",
		"license_key", "repo.license.key"),
	github.StreamIssues: issueFields.with("repository_full_name", "repository.full_name", "repository_id",
		"#repository.id"),
	github.StreamPulls: issueFields,
	github.StreamPullDetails: same("number", "merged_at", "additions", "deletions", "changed_files", "created_at",
		"updated_at", "merge_commit_sha").
		with("id", "#list_id", "pull_request_id", "#id", "merged_by_login", "merged_by.login", "commits_count", "commits",
			"base_ref", "base.ref", "head_ref", "head.ref", "requested_reviewers", "*requested_reviewers.login",
			"review_comments_count", "review_comments", "base_sha", "base.sha", "head_sha", "head.sha",
			"head_repository_full_name", "head.repo.full_name",
			"requested_teams", "*requested_teams.slug", "auto_merge_method", "auto_merge.merge_method", "auto_merge_by_login",
			"auto_merge.enabled_by.login",
			"auto_merge_title", "auto_merge.commit_title", "auto_merge_message", "auto_merge.commit_message"),
	github.StreamGists: same("id", "description", "public", "html_url", "created_at", "updated_at").
		with("files_truncated", "truncated", "comments_count", "comments"),
	github.StreamEvents: same("id", "type", "public", "created_at").with("actor_login", "actor.login", "repository_id",
		"#repo.id",
		"repository_full_name", "repo.name", "action", "payload.action", "ref", "payload.ref", "ref_type", "payload.ref_type",
		"description", "payload.description", "head_sha", "payload.head", "before_sha", "payload.before", "label",
		"payload.label.name",
		"forked_to", "payload.forkee.full_name", "path", "payload.comment.path", "review_state", "payload.review.state",
		"tag_name", "payload.release.tag_name"),
}

var issueFields = same("number", "title", "body", "state", "state_reason", "html_url", "comments", "created_at",
	"updated_at",
	"closed_at", "draft", "locked", "active_lock_reason", "author_association", "sub_issues_summary",
	"issue_dependencies_summary").
	with("id", "#id", "user_login", "user.login", "user_id", "#user.id", "assignees", "*assignees.login", "labels",
		"*labels.name",
		"milestone_title", "milestone.title", "reactions_total_count", "reactions.total_count", "is_pull_request",
		"?pull_request",
		"pull_request_url", "pull_request.url", "merged_at", "pull_request.merged_at", "closed_by_login",
		"closed_by.login", "type_name", "type.name",
		"via_app", "performed_via_github_app.name", "pinned_comment", "pinned_comment.body", "milestone_description",
		"milestone.description",
		"milestone_due_on", "milestone.due_on")

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
	case github.StreamRepositories:
		permissions := []any{}
		for name, given := range wire["permissions"].(map[string]any) {
			if given == true {
				permissions = append(permissions, name)
			}
		}
		slices.SortFunc(permissions, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
		record["permissions"] = permissions
	case github.StreamEvents:
		payload := wire["payload"].(map[string]any)
		for _, part := range []string{"issue", "pull_request", "discussion", "release", "comment", "review", "forkee"} {
			about, _ := payload[part].(map[string]any)
			for name, member := range map[string]string{"number": "number", "title": "title", "body": "body",
				"html_url": "html_url"} {
				if v := about[member]; v != nil {
					record[name] = v
				}
			}
		}
		for _, part := range []string{"member", "assignee"} {
			if who, ok := payload[part].(map[string]any); ok {
				record["subject_login"] = who["login"]
			}
		}
		if release, ok := payload["release"].(map[string]any); ok {
			record["title"] = release["name"]
		}
		if pages, ok := payload["pages"].([]any); ok {
			page := pages[0].(map[string]any)
			record["pages"] = []any{map[string]any{"title": page["title"], "action": page["action"],
				"html_url": page["html_url"]}}
		}
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
	if stream == github.StreamIssues || stream == github.StreamPulls {
		if up := wire["reactions"].(map[string]any)["+1"]; fmt.Sprint(up) != "0" {
			record["reactions"] = map[string]any{"+1": up}
		}
		if values, ok := wire["issue_field_values"].([]any); ok {
			list := []any{}
			for _, v := range values {
				v := v.(map[string]any)
				list = append(list, map[string]any{"name": v["issue_field_name"], "value": v["value"]})
			}
			record["issue_field_values"] = list
		}
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
