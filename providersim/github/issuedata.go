package github

import (
	"fmt"
	"strconv"
)

// issueObject is the row that lists and search share. Search rows have no
// repository object, so repository_url is all that leads to it.
func (g *GitHub) issueObject(i *issue, inSearch bool) object {
	text := g.written(i.id, i.revision)
	url := "https://github.com/" + i.repo.fullName() + "/issues/" + strconv.FormatInt(i.number, 10)
	out := object{
		"id": i.id, "number": i.number, "title": sentence(text, 4), "body": sentence(text, 12), "state": "open", "state_reason": nil,
		"user": account(i.author, i.id%90+7), "labels": []object{{"id": 1, "name": pick(text, labels)}}, "assignees": []object{},
		"milestone": nil, "comments": i.revision, "reactions": reactions(i.id % 3), "draft": nil, "locked": i.id%8 == 0,
		"active_lock_reason": nil,
		"html_url":           url, "created_at": stamp(i.created), "updated_at": stamp(i.updated), "closed_at": nil,
		"repository_url": g.repositoryURL(i.repo), "author_association": "MEMBER", "performed_via_github_app": nil,
		"pinned_comment":             nil,
		"sub_issues_summary":         object{"total": 2, "completed": 1, "percent_completed": 50},
		"issue_dependencies_summary": object{"blocked_by": 1, "blocking": 0, "total_blocked_by": 1, "total_blocking": 0},
	}
	if i.id%3 == 0 {
		out["assignees"], out["milestone"] = []object{account(ownLogin, ownID)}, object{"title": "next",
			"description": sentence(text, 3), "due_on": "2026-09-01T07:00:00Z"}
		out["performed_via_github_app"], out["pinned_comment"] = object{"name": "Fernbot"}, object{"body": sentence(text, 7)}
		out["type"], out["active_lock_reason"] = object{"name": "Bug"}, "resolved"
		out["issue_field_values"] = []object{{"issue_field_id": 7, "issue_field_name": "Effort", "data_type": "number",
			"value": 5},
			{"issue_field_id": 8, "issue_field_name": "Area", "data_type": "single_select", "value": "attic",
				"single_select_option": object{"id": 1, "name": "attic", "color": "red"}}}
	}
	if i.closed {
		out["state"], out["state_reason"], out["closed_at"] = "closed", "completed", stamp(i.updated)
	}
	if i.pull != nil {
		out["draft"] = i.pull.draft
		out["pull_request"] = object{"merged_at": nil, "url": g.repositoryURL(i.repo) + "/pulls/" +
			strconv.FormatInt(i.number, 10)}
	}
	if i.pull != nil && i.pull.merged {
		out["pull_request"].(object)["merged_at"] = stamp(i.updated)
	}
	if !inSearch {
		out["repository"] = object{"id": i.repo.id, "full_name": i.repo.fullName()}
		out["closed_by"] = nil
		if i.closed {
			out["closed_by"] = account(ownLogin, ownID)
		}
	}
	return out
}

// reactions are n thumbs up.
func reactions(n int64) object {
	return object{"total_count": n, "+1": n, "-1": 0, "laugh": 0, "confused": 0, "heart": 0, "hooray": 0, "eyes": 0,
		"rocket": 0}
}

func (g *GitHub) repositoryURL(r *repo) string { return "https://api.github.com/repos/" + r.fullName() }

// pullObject is the detail of a pull request. Its id is not the id that lists
// and search give for the same thing.
func (g *GitHub) pullObject(i *issue) object {
	text := g.written(i.id, i.revision, 1)
	out := object{
		"id": i.pull.id, "number": i.number, "state": "open", "merged_at": nil, "merged_by": nil,
		"commits": 1 + text.IntN(9), "additions": text.IntN(900), "deletions": text.IntN(300), "changed_files": 1 + text.IntN(20),
		"review_comments": text.IntN(5), "base": object{"ref": "main", "sha": fmt.Sprintf("%040x", i.id)},
		"head": object{"ref": "topic-" + pick(text, words[:10]), "sha": fmt.Sprintf("%040x", i.id+i.revision),
			"repo": object{"full_name": ownLogin + "/fork"}},
		"merge_commit_sha": nil, "requested_teams": []object{{"slug": "keepers", "name": "Keepers"}}, "auto_merge": nil,
		"requested_reviewers": []object{account(pick(text, people), 31)}, "created_at": stamp(i.created), "updated_at": stamp(i.updated),
	}
	if i.closed {
		out["state"] = "closed"
	}
	if i.pull.merged {
		out["merged_at"], out["merged_by"], out["merge_commit_sha"] = stamp(i.updated), account(ownLogin,
			ownID), fmt.Sprintf("%040x", i.id+1)
		out["auto_merge"] = object{"enabled_by": account(ownLogin, ownID), "merge_method": "squash",
			"commit_title": sentence(text, 3), "commit_message": sentence(text, 6)}
	}
	return out
}

func (g *GitHub) gistObject(x *gist) object {
	text := g.written(int64(mix(uint64(x.created.Unix()))), x.revision)
	name := words[x.created.Unix()%15] + ".md"
	return object{
		"id": x.id, "description": sentence(text, 4), "public": x.public, "html_url": "https://gist.github.com/" + ownLogin + "/" + x.id,
		"files":     object{name: object{"filename": name, "type": "text/markdown", "language": "Markdown", "size": 40 + x.revision}},
		"truncated": false, "comments": x.revision, "created_at": stamp(x.created), "updated_at": stamp(x.updated),
	}
}

func (g *GitHub) eventObject(e event) object {
	return object{
		"id": fmt.Sprint(e.id), "type": e.kind, "public": !e.repo.private,
		"actor":   object{"id": ownID, "login": ownLogin, "display_login": ownLogin},
		"repo":    object{"id": e.repo.id, "name": e.repo.fullName(), "url": g.repositoryURL(e.repo)},
		"payload": g.payload(e), "created_at": stamp(e.at),
	}
}

// payload is what an event of each kind has; pull requests and issues are shorter there than elsewhere.
func (g *GitHub) payload(e event) object {
	text := g.written(e.id)
	page := "https://github.com/" + e.repo.fullName() + "/issues/7"
	comment := object{"id": e.id + 1, "body": sentence(text, 9), "html_url": page + "#issuecomment-1"}
	switch e.kind {
	case "PushEvent":
		return object{"repository_id": e.repo.id, "push_id": e.id, "ref": "refs/heads/main",
			"head": fmt.Sprintf("%040x", e.id), "before": fmt.Sprintf("%040x", e.id-1)}
	case "CreateEvent":
		return object{"ref": nil, "ref_type": "repository", "full_ref": nil, "master_branch": "main",
			"description": sentence(text, 4), "pusher_type": "user"}
	case "IssueCommentEvent":
		return object{"action": "created", "issue": object{"number": 7, "title": sentence(text, 4)}, "comment": comment}
	case "IssuesEvent":
		return object{"action": "labeled", "issue": object{"number": 7, "title": sentence(text, 4), "html_url": page},
			"label": object{"name": "bug"}, "assignee": account(ownLogin, ownID)}
	case "PullRequestEvent":
		return object{"action": "opened", "number": 8, "pull_request": object{"id": e.id, "number": 8}}
	case "PullRequestReviewCommentEvent":
		comment["path"], comment["diff_hunk"] = "loft.go", "@@ -1 +1 @@"
		return object{"action": "created", "pull_request": object{"id": e.id, "number": 8}, "comment": comment}
	case "PullRequestReviewEvent":
		return object{"action": "created", "pull_request": object{"id": e.id, "number": 8},
			"review": object{"body": sentence(text, 5), "state": "approved", "html_url": page}}
	case "ReleaseEvent":
		return object{"action": "published", "release": object{"tag_name": "v2", "name": sentence(text, 2),
			"body": sentence(text, 8), "html_url": page}}
	case "DiscussionEvent":
		return object{"action": "created", "discussion": object{"number": 9, "title": sentence(text, 3),
			"body": sentence(text, 8), "html_url": page}}
	case "ForkEvent":
		return object{"action": "forked", "forkee": object{"full_name": ownLogin + "/fork", "html_url": page}}
	case "MemberEvent":
		return object{"action": "added", "member": account(people[0], 31)}
	case "GollumEvent":
		return object{"pages": []object{{"page_name": "Home", "title": sentence(text, 2), "summary": nil,
			"action": "edited", "sha": "ab", "html_url": page}}}
	}
	return object{"action": "started"}
}
