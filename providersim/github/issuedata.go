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
		"milestone": nil, "comments": i.revision, "reactions": object{"total_count": i.id % 3}, "draft": nil,
		"html_url": url, "created_at": stamp(i.created), "updated_at": stamp(i.updated), "closed_at": nil,
		"repository_url": g.repositoryURL(i.repo),
	}
	if i.id%3 == 0 {
		out["assignees"], out["milestone"] = []object{account(ownLogin, ownID)}, object{"title": "next"}
	}
	if i.closed {
		out["state"], out["state_reason"], out["closed_at"] = "closed", "completed", stamp(i.updated)
	}
	if i.pull != nil {
		out["draft"] = i.pull.draft
		out["pull_request"] = object{"url": g.repositoryURL(i.repo) + "/pulls/" + strconv.FormatInt(i.number, 10)}
	}
	if !inSearch {
		out["repository"] = object{"id": i.repo.id, "full_name": i.repo.fullName()}
	}
	return out
}

func (g *GitHub) repositoryURL(r *repo) string { return "https://api.github.com/repos/" + r.fullName() }

// pullObject is the detail of a pull request. Its id is not the id that lists
// and search give for the same thing.
func (g *GitHub) pullObject(i *issue) object {
	text := g.written(i.id, i.revision, 1)
	out := object{
		"id": i.pull.id, "number": i.number, "state": "open", "merged_at": nil, "merged_by": nil,
		"commits": 1 + text.IntN(9), "additions": text.IntN(900), "deletions": text.IntN(300), "changed_files": 1 + text.IntN(20),
		"review_comments": text.IntN(5), "base": object{"ref": "main"}, "head": object{"ref": "topic-" + pick(text, words[:10])},
		"requested_reviewers": []object{account(pick(text, people), 31)}, "created_at": stamp(i.created), "updated_at": stamp(i.updated),
	}
	if i.closed {
		out["state"] = "closed"
	}
	if i.pull.merged {
		out["merged_at"], out["merged_by"] = stamp(i.updated), account(ownLogin, ownID)
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
		"id": fmt.Sprint(e.id), "type": e.kind, "public": !e.repo.private, "actor": account(ownLogin, ownID),
		"repo":    object{"id": e.repo.id, "name": e.repo.fullName(), "url": g.repositoryURL(e.repo)},
		"payload": object{"action": "opened"}, "created_at": stamp(e.at),
	}
}
