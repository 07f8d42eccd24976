package manage

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"pdpp/internal/owner/api"
)

// grantForm is the form that makes a grant, as it was filled in.
type grantForm struct {
	Client, Purpose, Mode string
	From, To, End         string
	Streams               []grantChoice
	Problem               *problem
}

// grantChoice is a stream that can be granted.
type grantChoice struct {
	api.Stream
	Pair    string
	Dated   bool // a range of time can be applied
	Picked  bool
	Granted map[string]bool // fields that are ticked
}

// usualGrant is how long a grant lasts unless its owner says otherwise.
const usualGrant = 90

func (p *pages) newGrant(w http.ResponseWriter, r *http.Request) {
	choices, err := p.grantChoices(r)
	if err != nil {
		p.fail(w, r, "grants", err)
		return
	}
	for i := range choices {
		for _, f := range choices[i].Fields {
			choices[i].Granted[f] = true
		}
	}
	form := grantForm{Mode: continuous, End: p.Now().AddDate(0, 0, usualGrant).Format(dateForm), Streams: choices}
	p.showGrantForm(w, r, http.StatusOK, &form)
}

func (p *pages) showGrantForm(w http.ResponseWriter, r *http.Request, status int, form *grantForm) {
	p.show(w, r, status, p.frame(w, r, "Create a grant", "grants"), grantFormBody(form, p.Now()))
}

// grantChoices lists the streams, and which of them a range of time can be applied to.
func (p *pages) grantChoices(r *http.Request) ([]grantChoice, error) {
	ctx := r.Context()
	streams, err := p.Owner.Streams(ctx, "")
	if err != nil {
		return nil, err
	}
	all, err := p.Owner.Overview(ctx)
	if err != nil {
		return nil, err
	}
	connectors, err := p.Owner.Connectors(ctx)
	if err != nil {
		return nil, err
	}
	dated := map[string]bool{} // by connector and stream
	for _, c := range connectors {
		for _, s := range c.Streams {
			dated[pair(c.ID, s.Name)] = s.TimeField != ""
		}
	}
	connector := map[string]string{} // by connection
	for _, c := range all.Connections {
		connector[c.ID] = c.ConnectorID
	}
	var out []grantChoice
	for _, s := range sortedStreams(streams) {
		out = append(out, grantChoice{
			Stream: s, Pair: pair(s.ConnectionID, s.Name), Dated: dated[pair(connector[s.ConnectionID], s.Name)], Granted: map[string]bool{},
		})
	}
	return out, nil
}

func (p *pages) createGrant(w http.ResponseWriter, r *http.Request) {
	if !p.form(w, r, "grants") {
		return
	}
	choices, err := p.grantChoices(r)
	if err != nil {
		p.fail(w, r, "grants", err)
		return
	}
	f := r.PostForm
	form := grantForm{
		Client: strings.TrimSpace(f.Get("client")), Purpose: strings.TrimSpace(f.Get("purpose")), Mode: f.Get("mode"),
		From: f.Get("from"), To: f.Get("to"), End: f.Get("end"), Streams: choices,
	}
	for i := range form.Streams {
		c := &form.Streams[i]
		c.Picked = slices.Contains(f["stream"], c.Pair)
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
		said := p.problem(w, r, err)
		found = &said
	}
	form.Problem = found
	p.showGrantForm(w, r, found.status, &form)
}

// wanted reads the form. It never grants more than the form shows: a range that
// cannot be applied to a stream is refused, and so is a stream without any field.
func (form *grantForm) wanted(now time.Time) (api.NewGrant, *problem) {
	out := api.NewGrant{ClientName: form.Client, Purpose: form.Purpose, Mode: form.Mode}
	refuse := func(param, text string) (api.NewGrant, *problem) {
		found := wrong(param, text)
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
		if !c.Dated && (from != nil || to != nil) {
			return refuse("streams", c.Label+", "+c.ConnectionName+" has no dates to choose by. Leave it out, or leave the range empty to grant all of it.")
		}
		fields, ok := c.fields()
		if !ok {
			return refuse("streams", "Choose at least one field of "+c.Label+", or leave it out.")
		}
		out.Streams = append(out.Streams, api.GrantStream{ConnectionID: c.ConnectionID, Stream: c.Name, Fields: fields, Since: from, Until: to})
	}
	if len(out.Streams) == 0 {
		return refuse("streams", "Choose at least one stream.")
	}
	return out, nil
}

// grantEnd is the end that a form chooses: a day, with which it ends, or none at all.
func grantEnd(day *time.Time) api.GrantEnd {
	return api.GrantEnd{ExpiresAt: endOf(day), NeverExpires: day == nil}
}

// fields are those that are ticked; none at all means every one, which is right only
// when all of them are ticked or the stream names none.
func (c *grantChoice) fields() ([]string, bool) {
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

// about gives the words of the problem with a field of the form.
func (form *grantForm) about(param string) string {
	if form.Problem != nil && form.Problem.Param == param {
		return form.Problem.Text
	}
	return ""
}

// general gives the words of a problem that is with no field of the form.
func (form *grantForm) general() string {
	if form.Problem == nil || slices.Contains([]string{"client_name", "purpose", "access_mode", "streams", "since", "until", "expires_at"}, form.Problem.Param) {
		return ""
	}
	return form.Problem.Text
}
