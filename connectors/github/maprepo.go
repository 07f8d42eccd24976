package github

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
)

var errNoID = errors.New("the thing has no id")

type wireRepo struct {
	ID            int64      `json:"id"`
	Name          string     `json:"name"`
	FullName      string     `json:"full_name"`
	Owner         *wireActor `json:"owner"`
	Description   *string    `json:"description"`
	Private       bool       `json:"private"`
	Fork          bool       `json:"fork"`
	Archived      bool       `json:"archived"`
	Disabled      bool       `json:"disabled"`
	DefaultBranch *string    `json:"default_branch"`
	Language      *string    `json:"language"`
	Topics        []string   `json:"topics"`
	Stargazers    *int64     `json:"stargazers_count"`
	Forks         *int64     `json:"forks_count"`
	OpenIssues    *int64     `json:"open_issues_count"`
	Watchers      *int64     `json:"watchers_count"`
	Size          *int64     `json:"size"`
	License       *struct {
		Key string `json:"key"`
	} `json:"license"`
	HTMLURL   *string `json:"html_url"`
	Homepage  *string `json:"homepage"`
	CreatedAt *string `json:"created_at"`
	UpdatedAt *string `json:"updated_at"`
	PushedAt  *string `json:"pushed_at"`

	Permissions map[string]bool `json:"permissions"`
	repoTraits
}

// repoTraits are called the same by GitHub and in the record.
type repoTraits struct {
	Visibility *string `json:"visibility,omitzero"`
	IsTemplate *bool   `json:"is_template,omitzero"`
}

type repositoryRecord struct {
	ID            string   `json:"id"`
	Name          string   `json:"name"`
	FullName      string   `json:"full_name"`
	OwnerLogin    string   `json:"owner_login,omitzero"`
	Description   *string  `json:"description,omitzero"`
	Private       bool     `json:"private"`
	Fork          bool     `json:"fork"`
	Archived      bool     `json:"archived"`
	Disabled      bool     `json:"disabled"`
	DefaultBranch *string  `json:"default_branch,omitzero"`
	Language      *string  `json:"language,omitzero"`
	Topics        []string `json:"topics"`
	Stargazers    *int64   `json:"stargazers_count,omitzero"`
	Forks         *int64   `json:"forks_count,omitzero"`
	OpenIssues    *int64   `json:"open_issues_count,omitzero"`
	Watchers      *int64   `json:"watchers_count,omitzero"`
	SizeKB        *int64   `json:"size_kb,omitzero"`
	LicenseKey    string   `json:"license_key,omitzero"`
	HTMLURL       *string  `json:"html_url,omitzero"`
	Homepage      *string  `json:"homepage,omitzero"`
	CreatedAt     *string  `json:"created_at,omitzero"`
	UpdatedAt     *string  `json:"updated_at,omitzero"`
	PushedAt      *string  `json:"pushed_at,omitzero"`
	Permissions   []string `json:"permissions"`
	repoTraits
}

// repository maps one row of the list of repositories.
func repository(raw jsontext.Value) (string, connectorkit.Record) {
	var r wireRepo
	if err := decode(raw, &r); err != nil || r.ID == 0 {
		return "", unreadable(raw, err)
	}
	out := repositoryRecord{
		ID: ident(r.ID), Name: r.Name, FullName: r.FullName, OwnerLogin: r.Owner.login(), Description: r.Description,
		Private: r.Private, Fork: r.Fork, Archived: r.Archived, Disabled: r.Disabled, DefaultBranch: r.DefaultBranch,
		Language: r.Language, Topics: r.Topics, Stargazers: r.Stargazers, Forks: r.Forks, OpenIssues: r.OpenIssues,
		Watchers: r.Watchers, SizeKB: r.Size, HTMLURL: r.HTMLURL, Homepage: r.Homepage,
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, PushedAt: r.PushedAt, LicenseKey: r.license(),
		Permissions: []string{}, repoTraits: r.repoTraits,
	}
	for _, name := range slices.Sorted(maps.Keys(r.Permissions)) {
		if r.Permissions[name] {
			out.Permissions = append(out.Permissions, name)
		}
	}
	return out.ID, connectorkit.Upsert(out)
}

// license is the short name of the license; empty when there is none.
func (r wireRepo) license() string {
	if r.License == nil {
		return ""
	}
	return r.License.Key
}

type starredRecord struct {
	ID          string   `json:"id"`
	FullName    string   `json:"full_name"`
	Description *string  `json:"description,omitzero"`
	Language    *string  `json:"language,omitzero"`
	Stargazers  *int64   `json:"stargazers_count,omitzero"`
	HTMLURL     *string  `json:"html_url,omitzero"`
	StarredAt   *string  `json:"starred_at,omitzero"`
	Topics      []string `json:"topics"`
	Homepage    *string  `json:"homepage,omitzero"`
	Private     bool     `json:"private"`
	Fork        bool     `json:"fork"`
	Archived    bool     `json:"archived"`
	LicenseKey  string   `json:"license_key,omitzero"`
}

// star maps one row of the list of stars. Its repository may be gone, which
// leaves nothing but the fact that there was one.
func star(raw jsontext.Value) (string, connectorkit.Record) {
	var s struct {
		StarredAt *string        `json:"starred_at"`
		Repo      jsontext.Value `json:"repo"`
	}
	if err := decode(raw, &s); err != nil {
		return "", unreadable(raw, err)
	}
	var r wireRepo
	err := errNoID
	if len(s.Repo) > 0 {
		err = decode(s.Repo, &r)
	}
	if err != nil || r.ID == 0 {
		return "", unreadable(s.Repo, err)
	}
	out := starredRecord{
		ID: ident(r.ID), FullName: r.FullName, Description: r.Description, Language: r.Language,
		Stargazers: r.Stargazers, HTMLURL: r.HTMLURL, StarredAt: s.StarredAt, Topics: r.Topics, Homepage: r.Homepage,
		Private: r.Private, Fork: r.Fork, Archived: r.Archived, LicenseKey: r.license(),
	}
	return out.ID, connectorkit.Upsert(out)
}

type gistRecord struct {
	ID             string     `json:"id"`
	Description    *string    `json:"description,omitzero"`
	Public         bool       `json:"public"`
	HTMLURL        *string    `json:"html_url,omitzero"`
	Files          []gistFile `json:"files"`
	FilesTruncated bool       `json:"files_truncated"`
	FilesTotal     int        `json:"files_total_count"`
	Comments       *int64     `json:"comments_count,omitzero"`
	CreatedAt      *string    `json:"created_at,omitzero"`
	UpdatedAt      *string    `json:"updated_at,omitzero"`
}

// gistFile is what a list tells of a file; its content is not in it.
type gistFile struct {
	Filename string  `json:"filename"`
	Type     *string `json:"type,omitzero"`
	Language *string `json:"language,omitzero"`
	Size     *int64  `json:"size,omitzero"`
}

// maxGistFiles is how many files GitHub names of one gist.
const maxGistFiles = 300

// gist maps one row of the list of gists.
func gist(raw jsontext.Value) (string, connectorkit.Record) {
	var g struct {
		ID          string              `json:"id"`
		Description *string             `json:"description"`
		Public      bool                `json:"public"`
		HTMLURL     *string             `json:"html_url"`
		Files       map[string]gistFile `json:"files"`
		Truncated   bool                `json:"truncated"`
		Comments    *int64              `json:"comments"`
		CreatedAt   *string             `json:"created_at"`
		UpdatedAt   *string             `json:"updated_at"`
	}
	if err := decode(raw, &g); err != nil || g.ID == "" {
		return "", unreadable(raw, err)
	}
	out := gistRecord{
		ID: g.ID, Description: g.Description, Public: g.Public, HTMLURL: g.HTMLURL, Files: []gistFile{}, FilesTotal: len(g.Files),
		FilesTruncated: g.Truncated || len(g.Files) >= maxGistFiles, Comments: g.Comments, CreatedAt: g.CreatedAt, UpdatedAt: g.UpdatedAt,
	}
	for name, f := range g.Files {
		f.Filename = or(f.Filename, name)
		out.Files = append(out.Files, f)
	}
	slices.SortFunc(out.Files, func(a, b gistFile) int { return strings.Compare(a.Filename, b.Filename) })
	return out.ID, connectorkit.Upsert(out)
}
