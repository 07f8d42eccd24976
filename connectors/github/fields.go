package github

import (
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit/rest"
)

var (
	no   = func(path string) rest.Field { return rest.From(path).OrElse("false") }
	text = func(paths ...string) rest.Field { return rest.From(paths...).NonEmpty() }
	list = func(path string) rest.Field { return rest.From(path).OrElse("[]") }
)

var repositoryFields = rest.Fields{
	"id": rest.NumberText("id"), "name": rest.From("name").OrElse(`""`), "full_name": rest.From("full_name").OrElse(`""`),
	"owner_login": text("owner.login"), "private": no("private"), "fork": no("fork"), "archived": no("archived"),
	"disabled": no("disabled"), "topics": list("topics"), "size_kb": rest.From("size"), "license_key": text("license.key"),
	"permissions": rest.Computed(func(i rest.Item) (jsontext.Value, error) {
		var w struct {
			Permissions map[string]bool `json:"permissions"`
		}
		if err := json.Unmarshal(i.Raw, &w); err != nil {
			return nil, err
		}
		maps.DeleteFunc(w.Permissions, func(_ string, has bool) bool { return !has })
		return json.Marshal(slices.Sorted(maps.Keys(w.Permissions)))
	}),
}

var starredFields = rest.Fields{
	"id": rest.NumberText("repo.id"), "full_name": rest.From("repo.full_name").OrElse(`""`),
	"description": rest.From("repo.description"), "language": rest.From("repo.language"),
	"stargazers_count": rest.From("repo.stargazers_count"), "html_url": rest.From("repo.html_url"),
	"topics": list("repo.topics"), "homepage": rest.From("repo.homepage"), "private": no("repo.private"),
	"fork": no("repo.fork"), "archived": no("repo.archived"), "license_key": text("repo.license.key"),
}

// maxGistFiles is how many files GitHub names of one gist.
const maxGistFiles = 300

// gistFile is the list's description of a file, without its content.
type gistFile struct {
	Filename string  `json:"filename"`
	Type     *string `json:"type,omitzero"`
	Language *string `json:"language,omitzero"`
	Size     *int64  `json:"size,omitzero"`
}

func gistFiles(i rest.Item) ([]gistFile, error) {
	var w struct {
		Files map[string]gistFile `json:"files"`
	}
	if err := json.Unmarshal(i.Raw, &w); err != nil {
		return nil, err
	}
	files := []gistFile{}
	for name, f := range w.Files {
		if f.Filename == "" {
			f.Filename = name
		}
		files = append(files, f)
	}
	slices.SortFunc(files, func(a, b gistFile) int { return strings.Compare(a.Filename, b.Filename) })
	return files, nil
}

// ofFiles computes a member from the files of a gist.
func ofFiles(f func(i rest.Item, files []gistFile) any) rest.Field {
	return rest.Computed(func(i rest.Item) (jsontext.Value, error) {
		files, err := gistFiles(i)
		if err != nil {
			return nil, err
		}
		return json.Marshal(f(i, files))
	})
}

var gistFields = rest.Fields{
	"public": no("public"), "comments_count": rest.From("comments"),
	"files":             ofFiles(func(_ rest.Item, files []gistFile) any { return files }),
	"files_total_count": ofFiles(func(_ rest.Item, files []gistFile) any { return len(files) }),
	"files_truncated": ofFiles(func(i rest.Item, files []gistFile) any {
		return len(files) >= maxGistFiles || i.Is(rest.Match{Path: "truncated"})
	}),
}

// about returns the paths of a member in the objects of an event, nearest first. A comment comes with its issue: text
// and address are those of the comment.
func about(member string, objects ...string) (paths []string) {
	for _, object := range objects {
		paths = append(paths, "payload."+object+"."+member)
	}
	return paths
}

var (
	ownObjects = []string{"comment", "review", "release", "discussion", "forkee"}
	allObjects = append(slices.Clone(ownObjects), "pull_request", "issue") // which have records of their own
)

// eventFields join the payloads of all kinds of events. Each kind has some of the members.
var eventFields = rest.Fields{
	"public": no("public"), "created_at": rest.From("created_at").Time(), "actor_login": text("actor.login"),
	"organization_login": text("org.login"), "repository_id": rest.NumberText("repo.id"),
	"repository_full_name": text("repo.name"), "action": rest.From("payload.action"), "ref": rest.From("payload.ref"),
	"ref_type": rest.From("payload.ref_type"), "description": rest.From("payload.description"),
	"number":   rest.From(about("number", allObjects...)...),
	"title":    rest.From(append([]string{"payload.release.name"}, about("title", allObjects...)...)...),
	"html_url": rest.From(about("html_url", allObjects...)...), "body": rest.From(about("body", ownObjects...)...),
	"path": rest.From("payload.comment.path"), "review_state": rest.From("payload.review.state"),
	"tag_name": rest.From("payload.release.tag_name"), "forked_to": rest.From("payload.forkee.full_name"),
	"subject_login": text("payload.assignee.login", "payload.member.login"), "label": nameOf("payload.label"),
	"head_sha": rest.From("payload.head"), "before_sha": rest.From("payload.before"),
	"pages": rest.EachObject("payload.pages", map[string]string{"title": "title", "summary": "summary",
		"action": "action", "html_url": "html_url"}),
}

// nameOf takes the name of an object, or in old answers the bare name.
func nameOf(path string) rest.Field {
	return rest.Computed(func(i rest.Item) (jsontext.Value, error) {
		if name := i.Text(path) + i.Text(path+".name"); name != "" {
			return json.Marshal(name)
		}
		return nil, nil
	})
}

// issueFields are those of a row of the list of issues or of a search.
var issueFields = rest.Fields{
	"id": rest.NumberText("id"), "updated_at": rest.From("updated_at").Time(), "user_login": text("user.login"),
	"user_id": rest.NumberText("user.id"), "assignees": rest.Each("login", "assignees").OrElse("[]"),
	"labels": rest.Each("name", "labels").OrElse("[]"), "milestone_title": text("milestone.title"),
	"milestone_description": rest.From("milestone.description"), "milestone_due_on": rest.From("milestone.due_on"),
	"repository_id": rest.NumberText("repository.id"), "closed_by_login": text("closed_by.login"),
	"reactions_total_count": rest.From("reactions.total_count"), "pull_request_url": rest.From("pull_request.url"),
	"merged_at": rest.From("pull_request.merged_at"), "type_name": nameOf("type"),
	"via_app": nameOf("performed_via_github_app"), "pinned_comment": rest.From("pinned_comment.body"),
	"repository_full_name": rest.Computed(func(i rest.Item) (jsontext.Value, error) {
		if name := repositoryName(i); name != "" {
			return json.Marshal(name)
		}
		return nil, nil
	}),
	"is_pull_request": rest.Computed(func(i rest.Item) (jsontext.Value, error) {
		return json.Marshal(i.Member("pull_request").Kind() == '{')
	}),
	"reactions": rest.Computed(reactionCounts),
	"issue_field_values": rest.EachObject("issue_field_values",
		map[string]string{"name": "issue_field_name", "value": "value"}).NonEmpty(),
}

// reactionCounts are the reactions to an issue by kind, without those that were not used.
func reactionCounts(i rest.Item) (jsontext.Value, error) {
	var w struct {
		Reactions struct {
			Up       int64 `json:"+1,omitzero"`
			Down     int64 `json:"-1,omitzero"`
			Laugh    int64 `json:"laugh,omitzero"`
			Confused int64 `json:"confused,omitzero"`
			Heart    int64 `json:"heart,omitzero"`
			Hooray   int64 `json:"hooray,omitzero"`
			Eyes     int64 `json:"eyes,omitzero"`
			Rocket   int64 `json:"rocket,omitzero"`
		} `json:"reactions,omitzero"`
	}
	if err := json.Unmarshal(i.Raw, &w); err != nil {
		return nil, err
	}
	counts, err := json.Marshal(w.Reactions)
	if string(counts) == "{}" {
		return nil, err
	}
	return counts, err
}

// repositoryName returns owner/name of the issue's repository; empty when it is unknown. A search has no repository
// object, so its address is all that leads there.
func repositoryName(i rest.Item) string {
	if i.Member("repository").Kind() == '{' {
		return i.Text("repository.full_name")
	}
	_, full, _ := strings.Cut(i.Text("repository_url"), "/repos/")
	if owner, name, ok := strings.Cut(full, "/"); !ok || owner == "" || name == "" || strings.Contains(name, "/") {
		return ""
	}
	return full
}

// detailFields are those of one pull request.
var detailFields = rest.Fields{
	"id": rest.FromPartition("key"), "pull_request_id": rest.NumberText("id"),
	"merged_by_login": text("merged_by.login"), "commits_count": rest.From("commits"), "base_ref": text("base.ref"),
	"base_sha": text("base.sha"), "head_ref": text("head.ref"), "head_sha": text("head.sha"),
	"head_repository_full_name": text("head.repo.full_name"), "review_comments_count": rest.From("review_comments"),
	"requested_reviewers": rest.Each("login", "requested_reviewers").OrElse("[]"),
	"requested_teams":     rest.Each("slug", "requested_teams").OrElse("[]"),
	"auto_merge_method":   rest.From("auto_merge.merge_method"),
	"auto_merge_by_login": text("auto_merge.enabled_by.login"),
	"auto_merge_title":    rest.From("auto_merge.commit_title"),
	"auto_merge_message":  rest.From("auto_merge.commit_message"),
}
