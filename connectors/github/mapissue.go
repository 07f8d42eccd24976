package github

import (
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"pdpp/connectorkit"
)

// wireIssue is a row of the list of issues or of a search. The latter has no
// repository object, so its address is all that leads there.
type wireIssue struct {
	ID          int64       `json:"id"`
	Number      int64       `json:"number"`
	Title       *string     `json:"title"`
	Body        *string     `json:"body"`
	State       *string     `json:"state"`
	StateReason *string     `json:"state_reason"`
	User        *wireActor  `json:"user"`
	Assignees   []wireActor `json:"assignees"`
	Labels      []wireLabel `json:"labels"`
	Milestone   *struct {
		Title string `json:"title"`
	} `json:"milestone"`
	Repository *struct {
		ID       int64  `json:"id"`
		FullName string `json:"full_name"`
	} `json:"repository"`
	RepositoryURL string  `json:"repository_url"`
	HTMLURL       *string `json:"html_url"`
	Comments      *int64  `json:"comments"`
	Reactions     *struct {
		Total *int64 `json:"total_count"`
	} `json:"reactions"`
	CreatedAt   *string `json:"created_at"`
	UpdatedAt   string  `json:"updated_at"`
	ClosedAt    *string `json:"closed_at"`
	Draft       *bool   `json:"draft"`
	PullRequest *struct {
		URL *string `json:"url"`
	} `json:"pull_request"`
}

// wireLabel is an object, or in old answers the bare name.
type wireLabel struct{ Name string }

// UnmarshalJSON reads both forms.
func (l *wireLabel) UnmarshalJSON(raw []byte) error {
	if jsontext.Value(raw).Kind() == '"' {
		return json.Unmarshal(raw, &l.Name)
	}
	var o struct {
		Name string `json:"name"`
	}
	err := json.Unmarshal(raw, &o)
	l.Name = o.Name
	return err
}

type issueRecord struct {
	ID                 string   `json:"id"`
	Number             int64    `json:"number,omitzero"`
	Title              *string  `json:"title,omitzero"`
	Body               *string  `json:"body,omitzero"`
	State              *string  `json:"state,omitzero"`
	StateReason        *string  `json:"state_reason,omitzero"`
	UserLogin          string   `json:"user_login,omitzero"`
	UserID             string   `json:"user_id,omitzero"`
	Assignees          []string `json:"assignees"`
	Labels             []string `json:"labels"`
	MilestoneTitle     string   `json:"milestone_title,omitzero"`
	RepositoryFullName string   `json:"repository_full_name,omitzero"`
	RepositoryID       string   `json:"repository_id,omitzero"`
	HTMLURL            *string  `json:"html_url,omitzero"`
	Comments           *int64   `json:"comments,omitzero"`
	ReactionsTotal     *int64   `json:"reactions_total_count,omitzero"`
	CreatedAt          *string  `json:"created_at,omitzero"`
	UpdatedAt          string   `json:"updated_at"`
	ClosedAt           *string  `json:"closed_at,omitzero"`
	IsPullRequest      bool     `json:"is_pull_request"`
	PullRequestURL     *string  `json:"pull_request_url,omitzero"`
	Draft              *bool    `json:"draft,omitzero"`
}

func (i wireIssue) record() issueRecord {
	out := issueRecord{
		ID: ident(i.ID), Number: i.Number, Title: i.Title, Body: i.Body, State: i.State, StateReason: i.StateReason,
		UserLogin: i.User.login(), Assignees: []string{}, Labels: []string{}, RepositoryFullName: i.fullName(),
		HTMLURL: i.HTMLURL, Comments: i.Comments, CreatedAt: i.CreatedAt, UpdatedAt: i.UpdatedAt, ClosedAt: i.ClosedAt,
		IsPullRequest: i.PullRequest != nil, Draft: i.Draft,
	}
	if i.User != nil {
		out.UserID = ident(i.User.ID)
	}
	for _, a := range i.Assignees {
		out.Assignees = append(out.Assignees, a.Login)
	}
	for _, l := range i.Labels {
		out.Labels = append(out.Labels, l.Name)
	}
	if i.Milestone != nil {
		out.MilestoneTitle = i.Milestone.Title
	}
	if i.Repository != nil {
		out.RepositoryID = ident(i.Repository.ID)
	}
	if i.Reactions != nil {
		out.ReactionsTotal = i.Reactions.Total
	}
	if i.PullRequest != nil {
		out.PullRequestURL = i.PullRequest.URL
	}
	return out
}

// fullName is owner/name of the issue's repository; empty when nothing tells.
func (i wireIssue) fullName() string {
	if i.Repository != nil {
		return i.Repository.FullName
	}
	_, full, _ := strings.Cut(i.RepositoryURL, "/repos/")
	if owner, name, ok := strings.Cut(full, "/"); !ok || owner == "" || name == "" || strings.Contains(name, "/") {
		return ""
	}
	return full
}

// issue reads a row that has an id and a time; both are needed to keep its place.
func issue(raw jsontext.Value) (i wireIssue, at time.Time, fault *connectorkit.Record) {
	err := decode(raw, &i)
	if err == nil {
		at, err = time.Parse(time.RFC3339, i.UpdatedAt)
	}
	if err != nil || i.ID == 0 {
		missing := unreadable(raw, err)
		return i, at, &missing
	}
	return i, at, nil
}

type pullRecord struct {
	ID                 string   `json:"id"`
	PullRequestID      string   `json:"pull_request_id,omitzero"`
	Number             int64    `json:"number,omitzero"`
	MergedAt           *string  `json:"merged_at,omitzero"`
	MergedByLogin      string   `json:"merged_by_login,omitzero"`
	Commits            *int64   `json:"commits_count,omitzero"`
	Additions          *int64   `json:"additions,omitzero"`
	Deletions          *int64   `json:"deletions,omitzero"`
	ChangedFiles       *int64   `json:"changed_files,omitzero"`
	BaseRef            string   `json:"base_ref,omitzero"`
	HeadRef            string   `json:"head_ref,omitzero"`
	RequestedReviewers []string `json:"requested_reviewers"`
	ReviewComments     *int64   `json:"review_comments_count,omitzero"`
	CreatedAt          *string  `json:"created_at,omitzero"`
	UpdatedAt          *string  `json:"updated_at,omitzero"`
}

// pullDetail maps the detail of a pull request. The key is that of its row in the
// list: GitHub numbers the detail apart.
func pullDetail(key string, raw jsontext.Value) (pullRecord, error) {
	type ref struct {
		Ref string `json:"ref"`
	}
	var p struct {
		ID                 int64       `json:"id"`
		Number             int64       `json:"number"`
		MergedAt           *string     `json:"merged_at"`
		MergedBy           *wireActor  `json:"merged_by"`
		Commits            *int64      `json:"commits"`
		Additions          *int64      `json:"additions"`
		Deletions          *int64      `json:"deletions"`
		ChangedFiles       *int64      `json:"changed_files"`
		Base               *ref        `json:"base"`
		Head               *ref        `json:"head"`
		RequestedReviewers []wireActor `json:"requested_reviewers"`
		ReviewComments     *int64      `json:"review_comments"`
		CreatedAt          *string     `json:"created_at"`
		UpdatedAt          *string     `json:"updated_at"`
	}
	if err := decode(raw, &p); err != nil {
		return pullRecord{}, err
	}
	if p.ID == 0 {
		return pullRecord{}, errNoID
	}
	out := pullRecord{
		ID: key, PullRequestID: ident(p.ID), Number: p.Number, MergedAt: p.MergedAt, MergedByLogin: p.MergedBy.login(),
		Commits: p.Commits, Additions: p.Additions, Deletions: p.Deletions, ChangedFiles: p.ChangedFiles,
		RequestedReviewers: []string{}, ReviewComments: p.ReviewComments, CreatedAt: p.CreatedAt, UpdatedAt: p.UpdatedAt,
	}
	if p.Base != nil {
		out.BaseRef = p.Base.Ref
	}
	if p.Head != nil {
		out.HeadRef = p.Head.Ref
	}
	for _, reviewer := range p.RequestedReviewers {
		out.RequestedReviewers = append(out.RequestedReviewers, reviewer.Login)
	}
	return out, nil
}
