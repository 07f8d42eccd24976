package github

import (
	"fmt"
	"strconv"
)

// issueObject is the row that lists and search share. Search rows have no
// repository object, so repository_url is all that leads to it.
func (g *GitHub) issueObject(i *simIssue, inSearch bool) jsonObject {
	text := g.textRandom(i.id, i.revision)
	url := "https://github.com/" + i.repo.qualifiedName() + "/issues/" + strconv.FormatInt(i.number, 10)
	out := jsonObject{
		"id": i.id, "number": i.number, "title": randomSentence(text, 4), "body": randomSentence(text, 12), "state": "open",
		"state_reason": nil, "user": actorObject(i.author, i.id%90+7),
		"labels": []jsonObject{{"id": 1, "name": pickString(text, sampleLabels)}}, "assignees": []jsonObject{},
		"milestone": nil, "comments": i.revision, "reactions": reactionCounts(i.id % 3),
		"draft": nil, "locked": i.id%8 == 0, "active_lock_reason": nil,
		"html_url": url, "created_at": formatTimestamp(i.created), "updated_at": formatTimestamp(i.updated),
		"closed_at":      nil,
		"repository_url": g.repositoryURL(i.repo), "author_association": "MEMBER", "performed_via_github_app": nil,
		"pinned_comment": nil, "sub_issues_summary": jsonObject{"total": 2, "completed": 1, "percent_completed": 50},
		"issue_dependencies_summary": jsonObject{"blocked_by": 1, "blocking": 0, "total_blocked_by": 1, "total_blocking": 0},
	}
	if i.id%3 == 0 {
		out["assignees"], out["milestone"] = []jsonObject{actorObject(ownUserLogin, ownUserID)}, jsonObject{"title": "next",
			"description": randomSentence(text, 3), "due_on": "2026-09-01T07:00:00Z"}
		out["performed_via_github_app"], out["pinned_comment"] = jsonObject{"name": "Fernbot"},
			jsonObject{"body": randomSentence(text, 7)}
		out["type"], out["active_lock_reason"] = jsonObject{"name": "Bug"}, "resolved"
		out["issue_field_values"] = []jsonObject{{"issue_field_id": 7, "issue_field_name": "Effort", "data_type": "number",
			"value": 5},
			{"issue_field_id": 8, "issue_field_name": "Area", "data_type": "single_select", "value": "attic",
				"single_select_option": jsonObject{"id": 1, "name": "attic", "color": "red"}}}
	}
	if i.closed {
		out["state"], out["state_reason"], out["closed_at"] = "closed", "completed", formatTimestamp(i.updated)
	}
	if i.pull != nil {
		out["draft"] = i.pull.draft
		out["pull_request"] = jsonObject{"merged_at": nil, "url": g.repositoryURL(i.repo) + "/pulls/" +
			strconv.FormatInt(i.number, 10)}
	}
	if i.pull != nil && i.pull.merged {
		out["pull_request"].(jsonObject)["merged_at"] = formatTimestamp(i.updated)
	}
	if !inSearch {
		out["repository"] = jsonObject{"id": i.repo.id, "full_name": i.repo.qualifiedName()}
		out["closed_by"] = nil
		if i.closed {
			out["closed_by"] = actorObject(ownUserLogin, ownUserID)
		}
	}
	return out
}

// reactionCounts are n thumbs up.
func reactionCounts(n int64) jsonObject {
	return jsonObject{"total_count": n, "+1": n, "-1": 0, "laugh": 0, "confused": 0, "heart": 0, "hooray": 0, "eyes": 0,
		"rocket": 0}
}

func (g *GitHub) repositoryURL(r *simRepository) string {
	return "https://api.github.com/repos/" + r.qualifiedName()
}

// pullObject returns the detail of a pull request. Its id differs from the id in lists and search.
func (g *GitHub) pullObject(i *simIssue) jsonObject {
	text := g.textRandom(i.id, i.revision, 1)
	out := jsonObject{
		"id": i.pull.id, "number": i.number, "state": "open", "merged_at": nil, "merged_by": nil,
		"commits": 1 + text.IntN(9), "additions": text.IntN(900), "deletions": text.IntN(300), "changed_files": 1 +
			text.IntN(20),
		"review_comments": text.IntN(5), "base": jsonObject{"ref": "main", "sha": fmt.Sprintf("%040x", i.id)},
		"head": jsonObject{"ref": "topic-" + pickString(text, sampleWords[:10]), "sha": fmt.Sprintf("%040x", i.id+i.revision),
			"repo": jsonObject{"full_name": ownUserLogin + "/fork"}},
		"merge_commit_sha": nil, "requested_teams": []jsonObject{{"slug": "keepers", "name": "Keepers"}}, "auto_merge": nil,
		"requested_reviewers": []jsonObject{actorObject(pickString(text, samplePeople), 31)},
		"created_at":          formatTimestamp(i.created), "updated_at": formatTimestamp(i.updated),
	}
	if i.closed {
		out["state"] = "closed"
	}
	if i.pull.merged {
		out["merged_at"], out["merged_by"], out["merge_commit_sha"] = formatTimestamp(i.updated), actorObject(ownUserLogin,
			ownUserID), fmt.Sprintf("%040x", i.id+1)
		out["auto_merge"] = jsonObject{"enabled_by": actorObject(ownUserLogin, ownUserID), "merge_method": "squash",
			"commit_title": randomSentence(text, 3), "commit_message": randomSentence(text, 6)}
	}
	return out
}

func (g *GitHub) gistObject(x *simGist) jsonObject {
	text := g.textRandom(int64(mixSeeds(uint64(x.created.Unix()))), x.revision)
	name := sampleWords[x.created.Unix()%15] + ".md"
	return jsonObject{
		"id": x.id, "description": randomSentence(text, 4), "public": x.public, "html_url": "https://gist.github.com/" +
			ownUserLogin +
			"/" + x.id,
		"files": jsonObject{name: jsonObject{"filename": name, "type": "text/markdown", "language": "Markdown", "size": 40 +
			x.revision}},
		"truncated": false, "comments": x.revision, "created_at": formatTimestamp(x.created),
		"updated_at": formatTimestamp(x.updated),
	}
}

func (g *GitHub) eventObject(e simEvent) jsonObject {
	return jsonObject{
		"id": fmt.Sprint(e.id), "type": e.kind, "public": !e.repo.private,
		"actor":   jsonObject{"id": ownUserID, "login": ownUserLogin, "display_login": ownUserLogin},
		"repo":    jsonObject{"id": e.repo.id, "name": e.repo.qualifiedName(), "url": g.repositoryURL(e.repo)},
		"payload": g.eventPayload(e), "created_at": formatTimestamp(e.at),
	}
}

// eventPayload is what an event of each kind has; pull requests and issues are shorter there than elsewhere.
func (g *GitHub) eventPayload(e simEvent) jsonObject {
	text := g.textRandom(e.id)
	page := "https://github.com/" + e.repo.qualifiedName() + "/issues/7"
	comment := jsonObject{"id": e.id + 1, "body": randomSentence(text, 9), "html_url": page + "#issuecomment-1"}
	switch e.kind {
	case "PushEvent":
		return jsonObject{"repository_id": e.repo.id, "push_id": e.id, "ref": "refs/heads/main",
			"head": fmt.Sprintf("%040x", e.id), "before": fmt.Sprintf("%040x", e.id-1)}
	case "CreateEvent":
		return jsonObject{"ref": nil, "ref_type": "repository", "full_ref": nil, "master_branch": "main",
			"description": randomSentence(text, 4), "pusher_type": "user"}
	case "IssueCommentEvent":
		return jsonObject{"action": "created", "issue": jsonObject{"number": 7, "title": randomSentence(text, 4)},
			"comment": comment}
	case "IssuesEvent":
		return jsonObject{"action": "labeled", "issue": jsonObject{"number": 7, "title": randomSentence(text, 4),
			"html_url": page}, "label": jsonObject{"name": "bug"}, "assignee": actorObject(ownUserLogin, ownUserID)}
	case "PullRequestEvent":
		return jsonObject{"action": "opened", "number": 8, "pull_request": jsonObject{"id": e.id, "number": 8}}
	case "PullRequestReviewCommentEvent":
		comment["path"], comment["diff_hunk"] = "loft.go", "@@ -1 +1 @@"
		return jsonObject{"action": "created", "pull_request": jsonObject{"id": e.id, "number": 8}, "comment": comment}
	case "PullRequestReviewEvent":
		return jsonObject{"action": "created", "pull_request": jsonObject{"id": e.id, "number": 8},
			"review": jsonObject{"body": randomSentence(text, 5), "state": "approved", "html_url": page}}
	case "ReleaseEvent":
		return jsonObject{"action": "published", "release": jsonObject{"tag_name": "v2", "name": randomSentence(text, 2),
			"body": randomSentence(text, 8), "html_url": page}}
	case "DiscussionEvent":
		return jsonObject{"action": "created", "discussion": jsonObject{"number": 9, "title": randomSentence(text, 3),
			"body": randomSentence(text, 8), "html_url": page}}
	case "ForkEvent":
		return jsonObject{"action": "forked", "forkee": jsonObject{"full_name": ownUserLogin + "/fork", "html_url": page}}
	case "MemberEvent":
		return jsonObject{"action": "added", "member": actorObject(samplePeople[0], 31)}
	case "GollumEvent":
		return jsonObject{"pages": []jsonObject{{"page_name": "Home", "title": randomSentence(text, 2), "summary": nil,
			"action": "edited", "sha": "ab", "html_url": page}}}
	}
	return jsonObject{"action": "started"}
}
