package github

import "cmp"

type wireEvent struct {
	ID        string       `json:"id"`
	Type      string       `json:"type"`
	Public    bool         `json:"public"`
	Actor     *wireActor   `json:"actor"`
	Org       *wireActor   `json:"org"`
	Repo      *wireTarget  `json:"repo"`
	CreatedAt string       `json:"created_at"`
	Payload   eventPayload `json:"payload"`
}

// wireTarget is the repository of an event: its name is the full one.
type wireTarget struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// eventPayload joins the payloads of all kinds of events. Each kind has some of the members.
type eventPayload struct {
	eventTraits
	Head        *string      `json:"head"`
	Before      *string      `json:"before"`
	Issue       *eventObject `json:"issue"`
	PullRequest *eventObject `json:"pull_request"`
	Discussion  *eventObject `json:"discussion"`
	Release     *eventObject `json:"release"`
	Comment     *eventObject `json:"comment"`
	Review      *eventObject `json:"review"`
	Forkee      *eventObject `json:"forkee"`
	Member      *wireActor   `json:"member"`
	Assignee    *wireActor   `json:"assignee"`
	Label       *wireLabel   `json:"label"`
	Pages       []wikiPage   `json:"pages"`
}

// eventTraits are called the same by GitHub and in the record.
type eventTraits struct {
	Action      *string `json:"action,omitzero"`
	Ref         *string `json:"ref,omitzero"`
	RefType     *string `json:"ref_type,omitzero"`
	Description *string `json:"description,omitzero"`
}

// eventObject is what is read of the object of an event, such as a comment or a release.
type eventObject struct {
	Number   *int64  `json:"number"`
	Title    *string `json:"title"`
	Name     *string `json:"name"` // of a release
	FullName *string `json:"full_name"`
	Body     *string `json:"body"`
	HTMLURL  *string `json:"html_url"`
	Path     *string `json:"path"`
	State    *string `json:"state"`
	TagName  *string `json:"tag_name"`
}

// wikiPage is a page of a wiki that was changed.
type wikiPage struct {
	Title   *string `json:"title,omitzero"`
	Summary *string `json:"summary,omitzero"`
	Action  *string `json:"action,omitzero"`
	HTMLURL *string `json:"html_url,omitzero"`
}

type eventRecord struct {
	ID                 string `json:"id"`
	Type               string `json:"type"`
	Public             bool   `json:"public"`
	ActorLogin         string `json:"actor_login,omitzero"`
	OrganizationLogin  string `json:"organization_login,omitzero"`
	RepositoryID       string `json:"repository_id,omitzero"`
	RepositoryFullName string `json:"repository_full_name,omitzero"`
	eventTraits
	Number       *int64     `json:"number,omitzero"`
	Title        *string    `json:"title,omitzero"`
	Body         *string    `json:"body,omitzero"`
	HTMLURL      *string    `json:"html_url,omitzero"`
	Path         *string    `json:"path,omitzero"`
	ReviewState  *string    `json:"review_state,omitzero"`
	TagName      *string    `json:"tag_name,omitzero"`
	ForkedTo     *string    `json:"forked_to,omitzero"`
	SubjectLogin string     `json:"subject_login,omitzero"`
	Label        string     `json:"label,omitzero"`
	HeadSHA      *string    `json:"head_sha,omitzero"`
	BeforeSHA    *string    `json:"before_sha,omitzero"`
	Pages        []wikiPage `json:"pages,omitzero"`
	CreatedAt    string     `json:"created_at"`
}

func (e wireEvent) record() eventRecord {
	p := e.Payload
	out := eventRecord{
		ID: e.ID, Type: e.Type, Public: e.Public, ActorLogin: e.Actor.login(), OrganizationLogin: e.Org.login(),
		eventTraits: p.eventTraits,
		HeadSHA:     p.Head, BeforeSHA: p.Before, SubjectLogin: cmp.Or(p.Assignee.login(), p.Member.login()), Pages: p.Pages,
		CreatedAt: e.CreatedAt,
	}
	if e.Repo != nil {
		out.RepositoryID, out.RepositoryFullName = ident(e.Repo.ID), e.Repo.Name
	}
	if p.Label != nil {
		out.Label = p.Label.Name
	}
	// A comment comes with its issue. Text and address are those of the comment.
	for _, about := range []*eventObject{p.Comment, p.Review, p.Release, p.Discussion, p.Forkee, p.PullRequest, p.Issue} {
		if about == nil {
			continue
		}
		out.Number, out.Title = cmp.Or(out.Number, about.Number), cmp.Or(out.Title, about.Title)
		out.HTMLURL = cmp.Or(out.HTMLURL, about.HTMLURL)
		if about != p.Issue && about != p.PullRequest { // which have a record of their own
			out.Body = cmp.Or(out.Body, about.Body)
		}
	}
	if p.Comment != nil {
		out.Path = p.Comment.Path
	}
	if p.Review != nil {
		out.ReviewState = p.Review.State
	}
	if p.Release != nil {
		out.Title, out.TagName = p.Release.Name, p.Release.TagName
	}
	if p.Forkee != nil {
		out.ForkedTo = p.Forkee.FullName
	}
	return out
}
