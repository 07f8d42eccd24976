package gitea

import (
	"net/url"
	"path"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// The three kinds of things that each repository has a list of. What the person may not read in a
// repository, it does not offer.
var (
	issues = kind{
		list: "/issues", query: url.Values{"type": {"issues"}}, since: true, elsewhere: "issues", key: within,
		offers: func(r wireRepo) bool { return r.HasIssues }, read: readIssue,
	}
	pulls = kind{
		list: "/pulls", query: url.Values{"sort": {"recentupdate"}}, elsewhere: "pulls", key: within,
		offers: func(r wireRepo) bool { return r.HasPulls && !r.Empty }, read: readPull,
	}
	comments = kind{
		list: "/issues/comments", since: true, key: func(_, n int64) string { return number(n) },
		offers: func(r wireRepo) bool { return r.HasIssues || r.HasPulls && !r.Empty }, read: readComment,
	}
)

type wireActor struct {
	Login string `json:"login"`
}

func (a *wireActor) login() string {
	if a == nil {
		return ""
	}
	return a.Login
}

func logins(all []wireActor) []string {
	out := []string{}
	for _, a := range all {
		out = append(out, a.Login)
	}
	return out
}

// attachment is a file at the server; its content is not collected.
type attachment struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
	URL  string `json:"browser_download_url"`
}

type wireIssue struct {
	ID             int64        `json:"id"`
	Number         int64        `json:"number"`
	User           *wireActor   `json:"user"`
	OriginalAuthor string       `json:"original_author"`
	Title          string       `json:"title"`
	Body           string       `json:"body"`
	State          string       `json:"state"`
	Assignees      []wireActor  `json:"assignees"`
	Assets         []attachment `json:"assets"`
	Labels         []struct {
		Name string `json:"name"`
	} `json:"labels"`
	Milestone *struct {
		Title string `json:"title"`
	} `json:"milestone"`
	Locked  bool   `json:"is_locked"`
	HTMLURL string `json:"html_url"`
	Created moment `json:"created_at"`
	Updated moment `json:"updated_at"`
	Closed  moment `json:"closed_at"`
	Due     moment `json:"due_date"`
}

// issueRecord is what issues and pull requests have in common.
type issueRecord struct {
	ID          string       `json:"id"`
	Number      int64        `json:"number"`
	Repository  string       `json:"repository_id"`
	FullName    string       `json:"repository_full_name"`
	Author      string       `json:"author_login,omitzero"`
	Title       string       `json:"title"`
	Body        string       `json:"body,omitzero"`
	State       string       `json:"state"`
	Assignees   []string     `json:"assignees"`
	Labels      []string     `json:"labels"`
	Milestone   string       `json:"milestone_title,omitzero"`
	Locked      bool         `json:"is_locked"`
	Attachments []attachment `json:"attachments,omitzero"`
	HTMLURL     string       `json:"html_url,omitzero"`
	CreatedAt   moment       `json:"created_at"`
	UpdatedAt   moment       `json:"updated_at"`
	ClosedAt    moment       `json:"closed_at,omitzero"`
	DueAt       moment       `json:"due_at,omitzero"`
}

func (w wireIssue) record(r wireRepo) issueRecord {
	out := issueRecord{
		ID: within(r.ID, w.Number), Number: w.Number, Repository: number(r.ID), FullName: r.FullName, Author: w.User.login(), Title: w.Title, Body: w.Body, State: w.State,
		Assignees: logins(w.Assignees), Labels: []string{}, Locked: w.Locked, Attachments: w.Assets, HTMLURL: w.HTMLURL,
		CreatedAt: w.Created, UpdatedAt: w.Updated, ClosedAt: w.Closed, DueAt: w.Due,
	}
	if w.OriginalAuthor != "" { // it was brought from another server
		out.Author = w.OriginalAuthor
	}
	for _, l := range w.Labels {
		out.Labels = append(out.Labels, l.Name)
	}
	if w.Milestone != nil {
		out.Milestone = w.Milestone.Title
	}
	if len(out.Attachments) == 0 {
		out.Attachments = nil
	}
	return out
}

// decode reads a numbered thing of a repository; the fault is nil when it can be read.
func (w *wireIssue) decode(r wireRepo, raw jsontext.Value, into any) *connectorkit.Record {
	err := json.Unmarshal(raw, into)
	if err == nil && w.Number > 0 && w.Updated != "" && w.Created != "" {
		return nil
	}
	key := ""
	if w.Number > 0 {
		key = within(r.ID, w.Number)
	}
	fault := connectorkit.Unreadable(key, err)
	return &fault
}

func readIssue(r wireRepo, raw jsontext.Value) (int64, string, connectorkit.Record) {
	var w wireIssue
	if fault := w.decode(r, raw, &w); fault != nil {
		return 0, "", *fault
	}
	return w.Number, string(w.Updated), connectorkit.Upsert(w.record(r))
}

type branch struct {
	Ref string `json:"ref"`
}

type pullRecord struct {
	issueRecord
	Draft     bool     `json:"draft"`
	Merged    bool     `json:"merged"`
	MergedAt  moment   `json:"merged_at,omitzero"`
	MergedBy  string   `json:"merged_by_login,omitzero"`
	Base      string   `json:"base_ref,omitzero"`
	Head      string   `json:"head_ref,omitzero"`
	Reviewers []string `json:"requested_reviewers"`
	Additions *int64   `json:"additions,omitzero"`
	Deletions *int64   `json:"deletions,omitzero"`
	Files     *int64   `json:"changed_files,omitzero"`
}

// readPull reads a pull request as the list of its repository has it, or as a search does, which
// tells less of it, in another place.
func readPull(r wireRepo, raw jsontext.Value) (int64, string, connectorkit.Record) {
	var w struct {
		wireIssue
		Draft     bool        `json:"draft"`
		Merged    bool        `json:"merged"`
		MergedAt  moment      `json:"merged_at"`
		MergedBy  *wireActor  `json:"merged_by"`
		Base      branch      `json:"base"`
		Head      branch      `json:"head"`
		Reviewers []wireActor `json:"requested_reviewers"`
		Additions *int64      `json:"additions"`
		Deletions *int64      `json:"deletions"`
		Files     *int64      `json:"changed_files"`
		Found     *struct {
			Draft    bool   `json:"draft"`
			Merged   bool   `json:"merged"`
			MergedAt moment `json:"merged_at"`
		} `json:"pull_request"`
	}
	if fault := w.decode(r, raw, &w); fault != nil {
		return 0, "", *fault
	}
	out := pullRecord{
		issueRecord: w.record(r), Draft: w.Draft, Merged: w.Merged, MergedAt: w.MergedAt, MergedBy: w.MergedBy.login(), Base: w.Base.Ref, Head: w.Head.Ref,
		Reviewers: logins(w.Reviewers), Additions: w.Additions, Deletions: w.Deletions, Files: w.Files,
	}
	if f := w.Found; f != nil {
		out.Draft, out.Merged, out.MergedAt = f.Draft, f.Merged, f.MergedAt
	}
	return w.Number, string(w.Updated), connectorkit.Upsert(out)
}

type commentRecord struct {
	ID          string       `json:"id"`
	Repository  string       `json:"repository_id"`
	FullName    string       `json:"repository_full_name"`
	Issue       string       `json:"issue_id,omitzero"`
	Pull        string       `json:"pull_id,omitzero"`
	Author      string       `json:"author_login,omitzero"`
	Body        string       `json:"body,omitzero"`
	Attachments []attachment `json:"attachments,omitzero"`
	HTMLURL     string       `json:"html_url,omitzero"`
	CreatedAt   moment       `json:"created_at"`
	UpdatedAt   moment       `json:"updated_at"`
}

func readComment(r wireRepo, raw jsontext.Value) (int64, string, connectorkit.Record) {
	var w struct {
		ID             int64        `json:"id"`
		IssueURL       string       `json:"issue_url"`
		PullURL        string       `json:"pull_request_url"`
		User           *wireActor   `json:"user"`
		OriginalAuthor string       `json:"original_author"`
		Body           string       `json:"body"`
		Assets         []attachment `json:"assets"`
		HTMLURL        string       `json:"html_url"`
		Created        moment       `json:"created_at"`
		Updated        moment       `json:"updated_at"`
	}
	if err := json.Unmarshal(raw, &w); err != nil || w.ID <= 0 || w.Created == "" || w.Updated == "" {
		return 0, "", unreadable(w.ID, err)
	}
	out := commentRecord{
		ID: number(w.ID), Repository: number(r.ID), FullName: r.FullName, Issue: of(r, w.IssueURL), Pull: of(r, w.PullURL), Author: w.User.login(), Body: w.Body,
		HTMLURL: w.HTMLURL, CreatedAt: w.Created, UpdatedAt: w.Updated,
	}
	if w.OriginalAuthor != "" {
		out.Author = w.OriginalAuthor
	}
	if len(w.Assets) > 0 {
		out.Attachments = w.Assets
	}
	return w.ID, string(w.Updated), connectorkit.Upsert(out)
}

// of is the key of what an address leads to, which ends in its number.
func of(r wireRepo, address string) string {
	n := numbered(path.Base(address))
	if n <= 0 {
		return ""
	}
	return within(r.ID, n)
}
