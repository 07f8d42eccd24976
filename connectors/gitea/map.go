package gitea

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// moment is a time as records have it: in UTC, to the second, as servers keep it. A server writes
// times with its own offset, and the first day of the calendar for none.
type moment string

// UnmarshalJSON reads a time of the server's.
func (m *moment) UnmarshalJSON(raw []byte) error {
	var at time.Time
	if err := json.Unmarshal(raw, &at); err != nil {
		return err
	}
	if *m = ""; at.Year() > 1 {
		*m = moment(at.UTC().Format(time.RFC3339))
	}
	return nil
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

// numbered reads what number wrote.
func numbered(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64) // zero is no number of a thing
	return n
}

// within is the key of something that has a number in its repository.
func within(repository, n int64) string { return number(repository) + ":" + number(n) }

type wireUser struct {
	ID          int64  `json:"id"`
	Login       string `json:"login"`
	FullName    string `json:"full_name"`
	Email       string `json:"email"`
	HTMLURL     string `json:"html_url"`
	AvatarURL   string `json:"avatar_url"`
	Location    string `json:"location"`
	Website     string `json:"website"`
	Description string `json:"description"`
	Created     moment `json:"created"`
	Followers   int64  `json:"followers_count"`
	Following   int64  `json:"following_count"`
}

type userRecord struct {
	ID          string `json:"id"`
	Login       string `json:"login"`
	FullName    string `json:"full_name,omitzero"`
	Email       string `json:"email,omitzero"`
	HTMLURL     string `json:"html_url,omitzero"`
	AvatarURL   string `json:"avatar_url,omitzero"`
	Location    string `json:"location,omitzero"`
	Website     string `json:"website,omitzero"`
	Description string `json:"description,omitzero"`
	CreatedAt   moment `json:"created_at,omitzero"`
	Followers   int64  `json:"followers_count"`
	Following   int64  `json:"following_count"`
}

func (u wireUser) record() userRecord {
	return userRecord{number(u.ID), u.Login, u.FullName, u.Email, u.HTMLURL, u.AvatarURL, u.Location, u.Website, u.Description, u.Created, u.Followers, u.Following}
}

type wireRepo struct {
	ID          int64     `json:"id"`
	Name        string    `json:"name"`
	FullName    string    `json:"full_name"`
	Description string    `json:"description"`
	Private     bool      `json:"private"`
	Fork        bool      `json:"fork"`
	Mirror      bool      `json:"mirror"`
	Archived    bool      `json:"archived"`
	Empty       bool      `json:"empty"`
	Parent      *wireRepo `json:"parent"`
	Branch      string    `json:"default_branch"`
	Language    string    `json:"language"`
	Topics      []string  `json:"topics"`
	Licenses    []string  `json:"licenses"`
	Stars       int64     `json:"stars_count"`
	Forks       int64     `json:"forks_count"`
	OpenIssues  int64     `json:"open_issues_count"`
	OpenPulls   int64     `json:"open_pr_counter"`
	Size        int64     `json:"size"`
	HTMLURL     string    `json:"html_url"`
	Website     string    `json:"website"`
	Created     moment    `json:"created_at"`
	Updated     moment    `json:"updated_at"`
	HasIssues   bool      `json:"has_issues"`
	HasPulls    bool      `json:"has_pull_requests"`
}

// path is where the repository's own lists are; empty when its name is none.
func (r wireRepo) path() string {
	owner, name, ok := strings.Cut(r.FullName, "/")
	if !ok || owner == "" || name == "" {
		return ""
	}
	return "/repos/" + url.PathEscape(owner) + "/" + url.PathEscape(name)
}

type repositoryRecord struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	FullName    string   `json:"full_name"`
	Owner       string   `json:"owner_login"`
	Description string   `json:"description,omitzero"`
	Private     bool     `json:"private"`
	Fork        bool     `json:"fork"`
	Parent      string   `json:"parent_full_name,omitzero"`
	Mirror      bool     `json:"mirror"`
	Archived    bool     `json:"archived"`
	Empty       bool     `json:"empty"`
	Branch      string   `json:"default_branch,omitzero"`
	Language    string   `json:"language,omitzero"`
	Topics      []string `json:"topics"`
	Licenses    []string `json:"licenses"`
	Stars       int64    `json:"stars_count"`
	Forks       int64    `json:"forks_count"`
	OpenIssues  int64    `json:"open_issues_count"`
	OpenPulls   int64    `json:"open_pulls_count"`
	SizeKB      int64    `json:"size_kb"`
	HTMLURL     string   `json:"html_url,omitzero"`
	Website     string   `json:"website,omitzero"`
	CreatedAt   moment   `json:"created_at,omitzero"`
	UpdatedAt   moment   `json:"updated_at,omitzero"`
}

// some has a list where there is none.
func some(texts []string) []string {
	if texts == nil {
		return []string{}
	}
	return texts
}

func readRepo(raw jsontext.Value) (r wireRepo, fault *connectorkit.ListItem) {
	if err := json.Unmarshal(raw, &r); err != nil || r.ID <= 0 || r.path() == "" {
		return r, &connectorkit.ListItem{Record: unreadable(r.ID, err)}
	}
	return r, nil
}

func repository(raw jsontext.Value) connectorkit.ListItem {
	r, fault := readRepo(raw)
	if fault != nil {
		return *fault
	}
	owner, _, _ := strings.Cut(r.FullName, "/")
	out := repositoryRecord{
		ID: number(r.ID), Name: r.Name, FullName: r.FullName, Owner: owner, Description: r.Description, Private: r.Private, Fork: r.Fork, Mirror: r.Mirror, Archived: r.Archived,
		Empty: r.Empty, Branch: r.Branch, Language: r.Language, Topics: some(r.Topics), Licenses: some(r.Licenses), Stars: r.Stars, Forks: r.Forks, OpenIssues: r.OpenIssues,
		OpenPulls: r.OpenPulls, SizeKB: r.Size, HTMLURL: r.HTMLURL, Website: r.Website, CreatedAt: r.Created, UpdatedAt: r.Updated,
	}
	if r.Parent != nil {
		out.Parent = r.Parent.FullName
	}
	return connectorkit.ListItem{Key: out.ID, Record: connectorkit.Upsert(out)}
}

type starredRecord struct {
	ID          string `json:"id"`
	FullName    string `json:"full_name"`
	Description string `json:"description,omitzero"`
	Language    string `json:"language,omitzero"`
	HTMLURL     string `json:"html_url,omitzero"`
	Stars       int64  `json:"stars_count"`
	CreatedAt   moment `json:"created_at,omitzero"`
}

// star is a repository that the person starred. A server does not tell when.
func star(raw jsontext.Value) connectorkit.ListItem {
	r, fault := readRepo(raw)
	if fault != nil {
		return *fault
	}
	out := starredRecord{number(r.ID), r.FullName, r.Description, r.Language, r.HTMLURL, r.Stars, r.Created}
	return connectorkit.ListItem{Key: out.ID, Record: connectorkit.Upsert(out)}
}

// unreadable declares a thing that is not what it should be, by its number if it has one.
func unreadable(id int64, err error) connectorkit.Record {
	key := ""
	if id > 0 {
		key = number(id)
	}
	return connectorkit.Unreadable(key, err)
}
