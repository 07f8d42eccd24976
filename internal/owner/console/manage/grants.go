package manage

import (
	"net/http"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

// grantsPage is who may read, and who could.
type grantsPage struct {
	Active, Past []api.Grant
	names
}

func (p *pages) grants(w http.ResponseWriter, r *http.Request) {
	all, err := p.Owner.Grants(r.Context())
	if err != nil {
		p.fail(w, r, "grants", err)
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
		p.fail(w, r, "grants", err)
		return
	}
	p.show(w, r, http.StatusOK, p.frame(w, r, "Grants", "grants"), grantsBody(&page, p.Now()))
}

// grantPage is one grant. Token is set once, on the page that answers its making.
type grantPage struct {
	api.Grant
	names
	Token  string
	Origin string // of this server
}

func (p *pages) grant(w http.ResponseWriter, r *http.Request) {
	g, err := p.Owner.Grant(r.Context(), r.PathValue("id"))
	if err != nil {
		p.fail(w, r, "grants", err)
		return
	}
	p.showGrant(w, r, http.StatusOK, g, "")
}

func (p *pages) showGrant(w http.ResponseWriter, r *http.Request, status int, g api.Grant, token string) {
	names, err := p.names(r)
	if err != nil {
		p.note(r, err) // the grant exists, and its token is shown only once
	}
	page := grantPage{Grant: g, names: names, Token: token, Origin: p.Base}
	p.show(w, r, status, p.frame(w, r, g.ClientName, "grants"), grantBody(&page, p.Now()))
}

func (p *pages) revokeGrant(w http.ResponseWriter, r *http.Request) {
	if err := p.Owner.RevokeGrant(r.Context(), r.PathValue("id")); err != nil {
		p.fail(w, r, "grants", err)
		return
	}
	ui.Done(w, r, "/grants", ui.Good("Revoked. It can read nothing from now on."))
}

// names are the streams by pair, for the words of a grant.
type names map[string]api.Stream

func (p *pages) names(r *http.Request) (names, error) {
	all, err := p.Owner.Streams(r.Context(), "")
	if err != nil {
		return nil, err
	}
	out := names{}
	for _, s := range all {
		out[pair(s.ConnectionID, s.Name)] = s
	}
	return out, nil
}

// stream names a granted stream: "Pull requests, GitHub".
func (n names) stream(g api.GrantStream) string {
	if s, known := n[pair(g.ConnectionID, g.Stream)]; known {
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
	for _, f := range n[pair(g.ConnectionID, g.Stream)].Fields {
		if !granted[f] {
			out = append(out, text.Name(f))
		}
	}
	return out
}

// fieldWords say which fields are granted.
func fieldWords(g api.GrantStream) string {
	if len(g.Fields) == 0 {
		return "All fields"
	}
	return "Only " + ui.FieldNames(g.Fields)
}

// rangeWords say which records are granted; empty when all of them are.
func rangeWords(g api.GrantStream, now time.Time) string {
	var parts []string
	switch {
	case g.Since != nil && g.Until != nil:
		parts = append(parts, longDay(*g.Since, now)+" to "+lastDay(*g.Until, now))
	case g.Since != nil:
		parts = append(parts, longDay(*g.Since, now)+" onwards")
	case g.Until != nil:
		parts = append(parts, "up to "+lastDay(*g.Until, now))
	}
	switch n := len(g.Resources); {
	case g.ResourceField != "":
		parts = append(parts, "only where "+text.Name(g.ResourceField)+" is "+strings.Join(g.Resources, " or "))
	case n > 0:
		parts = append(parts, text.Count(int64(n), "chosen record", "chosen records"))
	}
	return strings.Join(parts, ", ")
}

// modeWords say how often it may be read.
func modeWords(mode string) string {
	if mode == singleUse {
		return "Once: each stream can be read through one time"
	}
	return "Again and again, until it ends"
}

// usageWords say how much it has read.
func usageWords(g api.Grant) string {
	return text.Count(g.Uses, "read", "reads") + ", " + text.Count(g.Records, "record", "records")
}

// endWords say how a grant that is not active ended.
func endWords(status string) string {
	switch status {
	case "revoked":
		return "Revoked by you"
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
