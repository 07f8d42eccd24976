package admin

import (
	"net/http"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/readcalendar"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

// grantsPage is who may read, and who could.
type grantsPage struct {
	Active, Past []api.Grant
	names
	reads map[string]*readcalendar.Calendar // by grant
}

// readsOf is the calendar of a grant.
func (page *grantsPage) readsOf(id string, now time.Time) *readcalendar.Calendar {
	if c := page.reads[id]; c != nil {
		return c
	}
	return readcalendar.Empty(now)
}

func (p *adminPages) grants(w http.ResponseWriter, r *http.Request) {
	all, err := p.Owner.Grants(r.Context())
	if err != nil {
		p.ShowFailure(w, r, "sharing", err)
		return
	}
	page := grantsPage{}
	for _, g := range all {
		if g.Status == "active" {
			page.Active = append(page.Active, g)
		} else {
			page.Past = append(page.Past, g)
		}
	}
	if page.names, err = p.names(r); err != nil {
		p.ShowFailure(w, r, "sharing", err)
		return
	}
	since := readcalendar.Since(p.Now())
	found, err := p.Owner.Audit(r.Context(), api.AuditQuery{Kind: "reading", Since: &since, Limit: mostReadings})
	if err != nil {
		p.ShowFailure(w, r, "sharing", err)
		return
	}
	page.reads = readcalendar.All(found.Entries, p.Now())
	p.ShowPage(w, r, http.StatusOK, p.PageFrame(w, r, "Sharing", "sharing"), grantsBody(&page, p.Now()))
}

// grantPage is one grant. Token is set once, on the page that answers its making.
type grantPage struct {
	api.Grant
	names
	Token  string
	Origin string // of this server
}

func (p *adminPages) grant(w http.ResponseWriter, r *http.Request) {
	g, err := p.Owner.Grant(r.Context(), r.PathValue("id"))
	if err != nil {
		p.ShowFailure(w, r, "sharing", err)
		return
	}
	p.showGrant(w, r, http.StatusOK, g, "")
}

func (p *adminPages) showGrant(w http.ResponseWriter, r *http.Request, status int, g api.Grant, token string) {
	names, err := p.names(r)
	if err != nil {
		p.LogFailure(r, err) // the grant exists, and its token is shown only once
	}
	page := grantPage{Grant: g, names: names, Token: token, Origin: p.Base}
	p.ShowPage(w, r, status, p.PageFrame(w, r, g.ClientName, "sharing"), grantBody(&page, p.Now()))
}

func (p *adminPages) revokeGrant(w http.ResponseWriter, r *http.Request) {
	if err := p.Owner.RevokeGrant(r.Context(), r.PathValue("id")); err != nil {
		p.ShowFailure(w, r, "sharing", err)
		return
	}
	ui.Done(w, r, "/sharing", ui.Good("Ended. It can read nothing from now on."))
}

// names are the streams by pair, for the words of a grant.
type names map[string]api.Stream

func (p *adminPages) names(r *http.Request) (names, error) {
	all, err := p.Owner.Streams(r.Context(), "")
	if err != nil {
		return nil, err
	}
	out := names{}
	for _, s := range all {
		out[ui.StreamSegments(s.ConnectionID, s.Name)] = s
	}
	return out, nil
}

// stream names a granted stream: "Pull requests, GitHub".
func (n names) stream(g api.GrantStream) string {
	if s, known := n[ui.StreamSegments(g.ConnectionID, g.Stream)]; known {
		return s.Label + ", " + s.ConnectionName
	}
	return text.Name(g.Stream)
}

// label names a stream whichever connection it is of.
func (n names) label(stream string) string {
	for _, s := range n {
		if s.Name == stream {
			return s.Label
		}
	}
	return text.Name(stream)
}

// list names all streams of a grant.
func (n names) list(streams []api.GrantStream) string {
	var words []string
	for _, s := range streams {
		words = append(words, n.stream(s))
	}
	return strings.Join(words, "; ")
}

// hidden are the fields of a stream that a grant leaves out.
func (n names) hidden(g api.GrantStream) []string {
	if len(g.Fields) == 0 {
		return nil
	}
	granted := map[string]bool{}
	for _, f := range g.Fields {
		granted[f] = true
	}
	var out []string
	for _, f := range n[ui.StreamSegments(g.ConnectionID, g.Stream)].Fields {
		if !granted[f] {
			out = append(out, text.Name(f))
		}
	}
	return out
}

// fieldWords returns which fields are granted.
func fieldWords(g api.GrantStream) string {
	if len(g.Fields) == 0 {
		return "All fields"
	}
	return "Only " + ui.FieldNames(g.Fields)
}

// endWords returns how an inactive grant ended.
func endWords(status string) string {
	switch status {
	case "revoked":
		return "Ended by you"
	case "expired":
		return "Its time is over"
	case "consumed":
		return "Read once, as agreed"
	default:
		return "Active"
	}
}

const (
	singleUse  = "single_use"
	continuous = "continuous"
)
