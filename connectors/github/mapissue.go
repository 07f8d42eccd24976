package github

import (
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
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
		Title       string  `json:"title"`
		Description *string `json:"description"`
		DueOn       *string `json:"due_on"`
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
		reactionCounts
	} `json:"reactions"`
	CreatedAt   *string `json:"created_at"`
	UpdatedAt   string  `json:"updated_at"`
	ClosedAt    *string `json:"closed_at"`
	Draft       *bool   `json:"draft"`
	PullRequest *struct {
		URL      *string `json:"url"`
		MergedAt *string `json:"merged_at"`
	} `json:"pull_request"`
	ClosedBy *wireActor `json:"closed_by"`
	Type     *wireLabel `json:"type"`
	App      *wireLabel `json:"performed_via_github_app"`
	Pinned   *struct {
		Body *string `json:"body"`
	} `json:"pinned_comment"`
	FieldValues []struct {
		Name  string `json:"issue_field_name"`
		Value any    `json:"value"`
	} `json:"issue_field_values"`

	issueTraits
}

// issueTraits are called the same by GitHub and in the record.
type issueTraits struct {
	Locked       *bool   `json:"locked,omitzero"`
	LockReason   *string `json:"active_lock_reason,omitzero"`
	Association  *string `json:"author_association,omitzero"`
	SubIssues    any     `json:"sub_issues_summary,omitzero"`
	Dependencies any     `json:"issue_dependencies_summary,omitzero"`
}

// reactionCounts are the reactions to an issue by kind.
type reactionCounts struct {
	Up       int64 `json:"+1,omitzero"`
	Down     int64 `json:"-1,omitzero"`
	Laugh    int64 `json:"laugh,omitzero"`
	Confused int64 `json:"confused,omitzero"`
	Heart    int64 `json:"heart,omitzero"`
	Hooray   int64 `json:"hooray,omitzero"`
	Eyes     int64 `json:"eyes,omitzero"`
	Rocket   int64 `json:"rocket,omitzero"`
}

// fieldValue is a field that the owner's organization has for its issues.
type fieldValue struct {
	Name  string `json:"name"`
	Value any    `json:"value,omitzero"`
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

	MilestoneDescription *string        `json:"milestone_description,omitzero"`
	MilestoneDueOn       *string        `json:"milestone_due_on,omitzero"`
	Reactions            reactionCounts `json:"reactions,omitzero"`
	MergedAt             *string        `json:"merged_at,omitzero"`
	ClosedByLogin        string         `json:"closed_by_login,omitzero"`
	TypeName             string         `json:"type_name,omitzero"`
	ViaApp               string         `json:"via_app,omitzero"`
	PinnedComment        *string        `json:"pinned_comment,omitzero"`
	FieldValues          []fieldValue   `json:"issue_field_values,omitzero"`
	issueTraits
}

func (i wireIssue) record() issueRecord {
	out := issueRecord{
		ID: ident(i.ID), Number: i.Number, Title: i.Title, Body: i.Body, State: i.State, StateReason: i.StateReason,
		UserLogin: i.User.login(), Assignees: []string{}, Labels: []string{}, RepositoryFullName: i.fullName(),
		HTMLURL: i.HTMLURL, Comments: i.Comments, CreatedAt: i.CreatedAt, UpdatedAt: i.UpdatedAt, ClosedAt: i.ClosedAt,
		IsPullRequest: i.PullRequest != nil, Draft: i.Draft, ClosedByLogin: i.ClosedBy.login(), issueTraits: i.issueTraits,
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
		out.MilestoneTitle, out.MilestoneDescription = i.Milestone.Title, i.Milestone.Description
		out.MilestoneDueOn = i.Milestone.DueOn
	}
	if i.Repository != nil {
		out.RepositoryID = ident(i.Repository.ID)
	}
	if i.Reactions != nil {
		out.ReactionsTotal, out.Reactions = i.Reactions.Total, i.Reactions.reactionCounts
	}
	if i.PullRequest != nil {
		out.PullRequestURL, out.MergedAt = i.PullRequest.URL, i.PullRequest.MergedAt
	}
	if i.Type != nil {
		out.TypeName = i.Type.Name
	}
	if i.App != nil {
		out.ViaApp = i.App.Name
	}
	if i.Pinned != nil {
		out.PinnedComment = i.Pinned.Body
	}
	for _, f := range i.FieldValues {
		out.FieldValues = append(out.FieldValues, fieldValue(f))
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
	MergeCommitSHA     *string  `json:"merge_commit_sha,omitzero"`
	BaseSHA            string   `json:"base_sha,omitzero"`
	HeadSHA            string   `json:"head_sha,omitzero"`
	HeadRepository     string   `json:"head_repository_full_name,omitzero"`
	RequestedTeams     []string `json:"requested_teams"`
	AutoMergeMethod    *string  `json:"auto_merge_method,omitzero"`
	AutoMergeBy        string   `json:"auto_merge_by_login,omitzero"`
	AutoMergeTitle     *string  `json:"auto_merge_title,omitzero"`
	AutoMergeMessage   *string  `json:"auto_merge_message,omitzero"`
}

// pullDetail maps the detail of a pull request. The key is that of its row in the
// list: GitHub numbers the detail apart.
func pullDetail(key string, raw jsontext.Value) (pullRecord, error) {
	type ref struct {
		Ref  string `json:"ref"`
		SHA  string `json:"sha"`
		Repo *struct {
			FullName string `json:"full_name"`
		} `json:"repo"` // null where it was deleted
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
		MergeCommitSHA     *string     `json:"merge_commit_sha"`
		RequestedTeams     []struct {
			Slug string `json:"slug"`
		} `json:"requested_teams"`
		AutoMerge *struct {
			EnabledBy *wireActor `json:"enabled_by"`
			Method    *string    `json:"merge_method"`
			Title     *string    `json:"commit_title"`
			Message   *string    `json:"commit_message"`
		} `json:"auto_merge"`
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
		MergeCommitSHA: p.MergeCommitSHA, RequestedTeams: []string{},
	}
	if p.Base != nil {
		out.BaseRef, out.BaseSHA = p.Base.Ref, p.Base.SHA
	}
	if p.Head != nil {
		out.HeadRef, out.HeadSHA = p.Head.Ref, p.Head.SHA
	}
	if p.Head != nil && p.Head.Repo != nil {
		out.HeadRepository = p.Head.Repo.FullName
	}
	if m := p.AutoMerge; m != nil {
		out.AutoMergeMethod, out.AutoMergeBy = m.Method, m.EnabledBy.login()
		out.AutoMergeTitle, out.AutoMergeMessage = m.Title, m.Message
	}
	for _, team := range p.RequestedTeams {
		out.RequestedTeams = append(out.RequestedTeams, team.Slug)
	}
	for _, reviewer := range p.RequestedReviewers {
		out.RequestedReviewers = append(out.RequestedReviewers, reviewer.Login)
	}
	return out, nil
}
