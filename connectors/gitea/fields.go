package gitea

import (
	"errors"
	"maps"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
)

func formatID(n int64) string { return strconv.FormatInt(n, 10) }

// parseID reads what formatID wrote.
func parseID(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64) // zero is no number of a thing
	return n
}

// repositoryKey is the key of something that has a number in its repository.
func repositoryKey(repository, n int64) string { return formatID(repository) + ":" + formatID(n) }

// wireRepo is what leads to the lists of a repository.
type wireRepo struct {
	ID        int64  `json:"id"`
	FullName  string `json:"full_name"`
	Empty     bool   `json:"empty"`
	HasIssues bool   `json:"has_issues"`
	HasPulls  bool   `json:"has_pull_requests"`
}

// apiPath returns the path of the repository's own lists; empty for an invalid name.
func (r wireRepo) apiPath() string {
	owner, name, ok := strings.Cut(r.FullName, "/")
	if !ok || owner == "" || name == "" {
		return ""
	}
	return "repos/" + url.PathEscape(owner) + "/" + url.PathEscape(name)
}

// itemOf is something within a repository.
func (r wireRepo) itemOf(raw jsontext.Value) rest.Item {
	return rest.Item{Raw: raw, Partition: rest.Partition{Values: map[string]string{"id": formatID(r.ID),
		"full_name": r.FullName}}}
}

func flag(name string) rest.Field     { return rest.From(name).OrElse("false") }
func count(name string) rest.Field    { return rest.From(name).OrElse("0") }
func required(name string) rest.Field { return rest.From(name).OrElse(`""`) }

var userFields = rest.Fields{"id": rest.NumberText("id"), "login": required("login"),
	"created_at": rest.From("created").UTC(), "followers_count": count("followers_count"),
	"following_count": count("following_count")}

var errNoRepository = errors.New("the repository has no owner or no name")

var repositoryFields = rest.Fields{
	"id": rest.NumberText("id"), "name": required("name"),
	"full_name": rest.Computed(func(i rest.Item) (jsontext.Value, error) {
		if (wireRepo{FullName: i.Text("full_name")}).apiPath() == "" {
			return nil, errNoRepository
		}
		return i.Member("full_name"), nil
	}),
	"owner_login": rest.Computed(func(i rest.Item) (jsontext.Value, error) {
		owner, _, _ := strings.Cut(i.Text("full_name"), "/")
		return json.Marshal(owner)
	}),
	"private": flag("private"), "fork": flag("fork"), "mirror": flag("mirror"), "archived": flag("archived"),
	"empty": flag("empty"), "parent_full_name": rest.From("parent.full_name"), "topics": rest.From("topics").OrElse("[]"),
	"licenses": rest.From("licenses").OrElse("[]"), "stars_count": count("stars_count"),
	"forks_count": count("forks_count"), "open_issues_count": count("open_issues_count"),
	"open_pulls_count": count("open_pr_counter"), "size_kb": count("size"),
	"created_at": rest.From("created_at").UTC(), "updated_at": rest.From("updated_at").UTC(),
}

var starredFields = rest.Fields{"id": rest.NumberText("id"), "full_name": repositoryFields["full_name"],
	"stars_count": count("stars_count"), "created_at": rest.From("created_at").UTC()}

// entryFields are what issues, pull requests and comments have in common. An author may come from another server. A
// file's content is not collected.
func entryFields(more ...rest.Fields) rest.Fields {
	f := rest.Fields{
		"repository_id": rest.FromPartition("id"), "repository_full_name": rest.FromPartition("full_name"),
		"author_login": rest.From("original_author", "user.login"),
		"attachments": rest.EachObject("assets", map[string]string{"name": "name", "size": "size",
			"browser_download_url": "browser_download_url"}),
		"created_at": rest.From("created_at").UTC().Time(), "updated_at": rest.From("updated_at").UTC().Time(),
	}
	for _, m := range more {
		maps.Copy(f, m)
	}
	return f
}

var numberedFields = rest.Fields{
	"id":    rest.Joined(":", rest.FromPartition("id"), rest.NumberText("number")),
	"title": required("title"), "state": required("state"), "assignees": rest.Each("login", "assignees").OrElse("[]"),
	"labels": rest.Each("name", "labels").OrElse("[]"), "milestone_title": rest.From("milestone.title"),
	"is_locked": flag("is_locked"), "closed_at": rest.From("closed_at").UTC(), "due_at": rest.From("due_date").UTC(),
}

var issueFields = entryFields(numberedFields)

// pullFields are those of the list of a repository or of a search, which has fewer members in other places.
var pullFields = entryFields(numberedFields, rest.Fields{
	"draft":           rest.From("pull_request.draft", "draft").OrElse("false"),
	"merged":          rest.From("pull_request.merged", "merged").OrElse("false"),
	"merged_at":       rest.From("pull_request.merged_at", "merged_at").UTC(),
	"merged_by_login": rest.From("merged_by.login"), "base_ref": rest.From("base.ref"), "head_ref": rest.From("head.ref"),
	"requested_reviewers": rest.Each("login", "requested_reviewers").OrElse("[]"),
})

var commentFields = entryFields(rest.Fields{
	"id": rest.NumberText("id"), "issue_id": targetKey("issue_url"), "pull_id": targetKey("pull_request_url"),
})

// targetKey is the key of what an address leads to, which ends in its number.
func targetKey(member string) rest.Field {
	return rest.Computed(func(i rest.Item) (jsontext.Value, error) {
		n := parseID(path.Base(i.Text(member)))
		if n <= 0 {
			return nil, nil
		}
		return json.Marshal(i.Partition.Values["id"] + ":" + formatID(n))
	})
}

// The three kinds of things that each repository has a list of. What the person may not read in a
// repository, it does not offer.
var (
	issueKind = listKind{stream: "issues", fields: issueFields, number: "number",
		list: "/issues", query: url.Values{"type": {"issues"}}, since: true, elsewhere: "issues", key: repositoryKey,
		offers: func(r wireRepo) bool { return r.HasIssues },
	}.withReader()
	pullRequestKind = listKind{stream: "pulls", fields: pullFields, number: "number",
		list: "/pulls", query: url.Values{"sort": {"recentupdate"}}, elsewhere: "pulls", key: repositoryKey,
		offers: func(r wireRepo) bool { return r.HasPulls && !r.Empty },
	}.withReader()
	commentKind = listKind{stream: "comments", fields: commentFields, number: "id",
		list: "/issues/comments", since: true, key: func(_, n int64) string { return formatID(n) },
		offers: func(r wireRepo) bool { return r.HasIssues || r.HasPulls && !r.Empty },
	}.withReader()
)

func (k listKind) withReader() listKind {
	k.reader = rest.Reader(manifestJSON, rest.Stream{Name: k.stream, Fields: k.fields, OmitEmpty: true})
	return k
}

// read returns the number of an item within its repository, zero when it cannot be read, and the time of its last
// change.
func (k listKind) read(r wireRepo, raw jsontext.Value) (number int64, changed string, record connectorkit.Record) {
	item := r.itemOf(raw)
	row := k.reader(item)
	if row.Key == "" {
		return 0, "", row.Record
	}
	return parseID(item.Text(k.number)), utcText(item.Text("updated_at")), row.Record
}
