package admin

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/records"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

// grantForm is the form that makes a grant, as it was filled in.
type grantForm struct {
	Client, Purpose, Mode string
	From, To, End         string
	Streams               []grantChoice
	Profiles              []profileChoice
	Problem               *ui.FormProblem
}

// profileChoice is a selection of a connection's streams that can be granted.
type profileChoice struct {
	api.ProfileLabel
	ConnectionID, ConnectionName string
	Pair                         string
	Picked                       bool
}

// grantChoice is a stream that can be granted.
type grantChoice struct {
	api.Stream
	Pair     string
	Declared api.StreamLabel
	Picked   bool
	Granted  map[string]bool // fields that are ticked
	View     string          // instead of them
	Values   string          // of the resource field, one a line; empty means all
}

// dated reports whether a range of time can be applied.
func (c *grantChoice) dated() bool { return c.Declared.TimeField != "" }

func (p *adminPages) newGrant(w http.ResponseWriter, r *http.Request) {
	form, err := p.grantChoices(r)
	if err != nil {
		p.ShowFailure(w, r, "sharing", err)
		return
	}
	for i := range form.Streams {
		for _, f := range form.Streams[i].Fields {
			form.Streams[i].Granted[f] = true
		}
	}
	form.Mode, form.End = continuous, p.Now().AddDate(0, 0, api.UsualGrantDays).Format(time.DateOnly)
	p.showGrantForm(w, r, http.StatusOK, &form)
}

func (p *adminPages) showGrantForm(w http.ResponseWriter, r *http.Request, status int, form *grantForm) {
	p.ShowPage(w, r, status, p.PageFrame(w, r, "Create a grant", "sharing"), grantFormBody(form, p.Now()))
}

// grantChoices is a form with the streams and profiles that can be granted, as connectors
// declare them.
func (p *adminPages) grantChoices(r *http.Request) (form grantForm, err error) {
	ctx := r.Context()
	streams, err := p.Owner.Streams(ctx, "")
	if err != nil {
		return form, err
	}
	all, err := p.Owner.Overview(ctx)
	if err != nil {
		return form, err
	}
	connectors, err := p.Owner.Connectors(ctx)
	if err != nil {
		return form, err
	}
	declared := map[string]api.StreamLabel{} // by connection and stream
	for _, conn := range all.Connections {
		i := slices.IndexFunc(connectors, func(c api.Connector) bool { return c.ID == conn.ConnectorID })
		if i < 0 {
			continue
		}
		for _, s := range connectors[i].Streams {
			declared[ui.StreamSegments(conn.ID, s.Name)] = s
		}
		for _, profile := range connectors[i].Profiles {
			form.Profiles = append(form.Profiles,
				profileChoice{ProfileLabel: profile, ConnectionID: conn.ID, ConnectionName: conn.DisplayName,
					Pair: ui.StreamSegments(conn.ID, profile.ID)})
		}
	}
	for _, s := range records.SortStreams(streams) {
		at := ui.StreamSegments(s.ConnectionID, s.Name)
		form.Streams = append(form.Streams,
			grantChoice{Stream: s, Pair: at, Declared: declared[at], Granted: map[string]bool{}})
	}
	return form, nil
}

func (p *adminPages) createGrant(w http.ResponseWriter, r *http.Request) {
	if !p.ParseForm(w, r, "sharing") {
		return
	}
	form, err := p.grantChoices(r)
	if err != nil {
		p.ShowFailure(w, r, "sharing", err)
		return
	}
	f := r.PostForm
	form.Client, form.Purpose, form.Mode = strings.TrimSpace(f.Get("client")), strings.TrimSpace(f.Get("purpose")),
		f.Get("mode")
	form.From, form.To, form.End = f.Get("from"), f.Get("to"), f.Get("end")
	for i := range form.Profiles {
		form.Profiles[i].Picked = slices.Contains(f["profile"], form.Profiles[i].Pair)
	}
	for i := range form.Streams {
		c := &form.Streams[i]
		c.Picked = slices.Contains(f["stream"], c.Pair)
		c.View, c.Values = f.Get("view:"+c.Pair), f.Get("values:"+c.Pair)
		for _, name := range f["fields:"+c.Pair] {
			c.Granted[name] = true
		}
	}
	wanted, found := form.wanted(p.Now())
	if found == nil {
		g, token, err := p.Owner.CreateGrant(r.Context(), wanted)
		if err == nil {
			p.showGrant(w, r, http.StatusOK, g, token)
			return
		}
		formProblem := p.ProblemOf(w, r, err)
		found = &formProblem
	}
	form.Problem = found
	p.showGrantForm(w, r, found.Status, &form)
}

// wanted reads the form. It never grants more than the form shows: a range that
// cannot be applied to a stream is refused, and so is a stream without any field.
func (form *grantForm) wanted(now time.Time) (api.NewGrant, *ui.FormProblem) {
	out := api.NewGrant{ClientName: form.Client, Purpose: form.Purpose, Mode: form.Mode}
	refuse := func(param, text string) (api.NewGrant, *ui.FormProblem) {
		found := ui.FieldProblem(param, text)
		return api.NewGrant{}, &found
	}
	if form.Client == "" {
		return refuse("client_name", "Say who it is for, so that you recognise it later.")
	}
	if form.Mode != singleUse && form.Mode != continuous {
		return refuse("access_mode", "Choose how often it can be read.")
	}
	from, err := parseDate(form.From, now.Location())
	if err != nil {
		return refuse("since", "This is not a date.")
	}
	to, err := parseDate(form.To, now.Location())
	if err != nil {
		return refuse("until", "This is not a date.")
	}
	to = endOf(to)
	if from != nil && to != nil && !from.Before(*to) {
		return refuse("until", "The last day is before the first one.")
	}
	end, err := parseDate(form.End, now.Location())
	if err != nil {
		return refuse("expires_at", "This is not a date.")
	}
	out.GrantEnd = grantEnd(end)
	if out.ExpiresAt != nil && !out.ExpiresAt.After(now) {
		return refuse("expires_at", "A grant ends today or later.")
	}
	for _, c := range form.Streams {
		if !c.Picked {
			continue
		}
		if !c.dated() && (from != nil || to != nil) {
			return refuse("streams", c.Label+", "+c.ConnectionName+" has no dates to choose by. Leave it out, or leave the "+
				"range empty to grant all of it.")
		}
		fields, ok := c.fields()
		if !ok {
			return refuse("streams", "Choose at least one field of "+c.Label+", or leave it out.")
		}
		out.Streams = append(out.Streams, api.GrantStream{ConnectionID: c.ConnectionID, Stream: c.Name, Fields: fields,
			Resources: lines(c.Values), Since: from, Until: to})
	}
	for _, choice := range form.Profiles {
		if !choice.Picked {
			continue
		}
		if from != nil || to != nil {
			return refuse("streams", "A range of dates is for streams that are chosen one by one. Choose the streams of "+
				choice.Label+" below, or leave the range empty.")
		}
		out.Profiles = append(out.Profiles, api.GrantProfile{ConnectionID: choice.ConnectionID, Profile: choice.ID})
	}
	if len(out.Streams)+len(out.Profiles) == 0 {
		return refuse("streams", "Choose at least one stream.")
	}
	return out, nil
}

// grantEnd is the end that a form chooses: a day, with which it ends, or none at all.
func grantEnd(day *time.Time) api.GrantEnd {
	return api.GrantEnd{ExpiresAt: endOf(day), NeverExpires: day == nil}
}

// lines returns the non-empty lines of a text, trimmed.
func lines(text string) (out []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return out
}

// fields are those of the chosen view, or those that are ticked; none at all means every
// one, which is right only when all of them are ticked or the stream names none.
func (c *grantChoice) fields() ([]string, bool) {
	if c.View != "" {
		return []string{"view:" + c.View}, true
	}
	var out []string
	for _, f := range c.Fields {
		if c.Granted[f] {
			out = append(out, f)
		}
	}
	if len(out) == len(c.Fields) {
		return nil, true
	}
	return out, len(out) > 0
}

// about returns the text of the problem with a field of the form.
func (form *grantForm) about(param string) string {
	if form.Problem != nil && form.Problem.Param == param {
		return form.Problem.Text
	}
	return ""
}

// general returns the text of a problem that belongs to no field of the form.
func (form *grantForm) general() string {
	if form.Problem == nil || slices.Contains([]string{"client_name", "purpose", "access_mode", "streams", "profiles",
		"since", "until", "expires_at"}, form.Problem.Param) {
		return ""
	}
	return form.Problem.Text
}
