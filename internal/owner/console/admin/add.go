package admin

import (
	"net/http"
	"strings"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
	"github.com/pdpp-go/pdpp/internal/owner/words"
)

// fieldMark is the prefix of a credential field's name in a form. It keeps connector fields apart
// from the page's own fields.
const fieldMark = "field."

// Choices of a schedule on the form.
const (
	asRecommended = "recommended"
	ownRhythm     = "own"
	onlyWhenAsked = "asked"
)

// addPage is the form that connects a source, as it was filled in. It never holds
// a secret: what is typed into such a field is asked for again.
type addPage struct {
	api.Connector
	DisplayName string
	Typed       map[string]string // of fields that are not secret
	Choice      string            // of the schedule
	Profile     string            // empty means everything
	Views       map[string]string // by stream; a stream without one is collected whole
	rhythm
	Problem *ui.FormProblem
}

// connector returns the connector named in the address. On failure it writes the response and
// returns false.
func (p *adminPages) connector(w http.ResponseWriter, r *http.Request) (api.Connector, bool) {
	id, ok := p.PathSegment(w, r, "connector", "sources")
	if !ok {
		return api.Connector{}, false
	}
	all, err := p.Owner.Connectors(r.Context())
	if err != nil {
		p.ShowFailure(w, r, "sources", err)
		return api.Connector{}, false
	}
	for _, c := range all {
		if c.ID == id && c.Problem == "" {
			return c, true
		}
		if c.ID == id {
			p.ShowFailure(w, r, "sources", &api.Error{Status: http.StatusConflict, Code: api.CodeNotInstalled,
				Message: c.Problem,
				Next:    "Correct the connector, then look again."})
			return api.Connector{}, false
		}
	}
	p.ShowFailure(w, r, "sources", api.NotFound("This connector is not installed.", "Choose one of those that are."))
	return api.Connector{}, false
}

func (p *adminPages) addForm(w http.ResponseWriter, r *http.Request) {
	c, ok := p.connectable(w, r)
	if !ok {
		return
	}
	switch {
	case c.Device:
		http.Redirect(w, r, devicePath(c.ID), http.StatusSeeOther)
		return
	case c.Files != nil && r.URL.Query().Get("on") == byUpload:
		p.showUpload(w, r, http.StatusOK, &addPage{Connector: c, DisplayName: c.DisplayName})
		return
	case c.OnDevices && !c.SignsIn && r.URL.Query().Get("on") != onServer:
		p.ShowPage(w, r, http.StatusOK, p.PageFrame(w, r, "Add "+c.DisplayName, "sources"), placeBody(c))
		return
	}
	page := addPage{Connector: c, DisplayName: c.DisplayName, Choice: asRecommended,
		rhythm: rhythmOf(c.Refresh.RecommendedSeconds)}
	p.showAdd(w, r, http.StatusOK, &page)
}

// connectable returns the connector that the owner goes on to connect. The first connection to one that is not
// built in confirms its program, so it needs a fresh proof, before anything is typed.
func (p *adminPages) connectable(w http.ResponseWriter, r *http.Request) (c api.Connector, ok bool) {
	if c, ok = p.connector(w, r); !ok {
		return c, false
	}
	if f := c.Foreign; f == nil || f.Confirmed || f.Changed || c.Device {
		return c, true
	}
	ok = false
	p.Confirmed(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { ok = true })).ServeHTTP(w, r)
	return c, ok
}

func (p *adminPages) showAdd(w http.ResponseWriter, r *http.Request, status int, page *addPage) {
	f := p.PageFrame(w, r, "Add "+page.Connector.DisplayName, "sources")
	p.ShowPage(w, r, status, f, addBody(page))
}

func (p *adminPages) add(w http.ResponseWriter, r *http.Request) {
	c, ok := p.connectable(w, r)
	if !ok || !p.ParseForm(w, r, "sources") {
		return
	}
	page := addPage{
		Connector: c, DisplayName: strings.TrimSpace(r.PostForm.Get("display_name")), Typed: map[string]string{},
		Choice: r.PostForm.Get("schedule"), rhythm: rhythm{r.PostForm.Get("every"), r.PostForm.Get("unit")},
		Profile: r.PostForm.Get("profile"), Views: map[string]string{},
	}
	asked := api.Connect{ConnectorID: c.ID, DisplayName: page.DisplayName, Fields: map[string]string{}}
	chosen := api.Selection{Profile: page.Profile, Streams: []api.SelectedStream{}}
	for _, s := range c.Streams {
		if view := r.PostForm.Get(ui.ViewMark + s.Name); view != "" {
			page.Views[s.Name] = view
			chosen.Streams = append(chosen.Streams, api.SelectedStream{Stream: s.Name, View: view})
		}
	}
	if chosen.Profile != "" || len(chosen.Streams) > 0 {
		asked.Selection = &chosen
	}
	if c.Form != nil {
		for _, f := range c.Form.Fields {
			given := r.PostForm.Get(fieldMark + f.Name)
			asked.Fields[f.Name] = given
			if !f.Secret && f.Type != "password" {
				page.Typed[f.Name] = given
			}
		}
	}
	if page.Problem = page.check(&asked); page.Problem == nil {
		made, err := p.Owner.Connect(r.Context(), asked)
		if err == nil {
			if c.Consent != nil {
				http.Redirect(w, r, api.AllowPage(made.ID), http.StatusSeeOther)
				return
			}
			if c.SignsIn { // the first run asks for it
				http.Redirect(w, r, api.SignInPage(made.ID)+"?opening", http.StatusSeeOther)
				return
			}
			ui.Done(w, r, "/sources/"+ui.Segment(made.ID),
				ui.Good("Connected. The first run starts now and checks the access."))
			return
		}
		found := p.ProblemOf(w, r, err)
		switch found.Param {
		case "interval_seconds", "jitter_seconds", "enabled":
			found.Param = "schedule"
		case "view", "stream":
			found.Param = "profile"
		}
		page.Problem = &found
	}
	p.showAdd(w, r, page.Problem.Status, &page)
}

// check finds what the form lacks, and reads the schedule.
func (page *addPage) check(asked *api.Connect) *ui.FormProblem {
	if page.Device {
		found := ui.FieldProblem("", "This source is collected on one of your computers, not here.")
		return &found
	}
	if page.Form != nil {
		for _, f := range page.Form.Fields {
			if f.Required && strings.TrimSpace(asked.Fields[f.Name]) == "" {
				found := ui.FieldProblem(f.Name, f.Label+" is needed.")
				return &found
			}
		}
	}
	switch page.Choice {
	case ownRhythm:
		seconds, ok := page.seconds()
		if !ok {
			found := ui.FieldProblem("schedule", "Give the time between two runs as a number.")
			return &found
		}
		if low := page.Refresh.MinimumSeconds; seconds < low {
			found := ui.FieldProblem("schedule",
				"The shortest time between two runs of this connector is "+words.ShortSpan(low)+".")
			return &found
		}
		asked.Schedule = &api.Schedule{IntervalSeconds: seconds, Enabled: true}
	case onlyWhenAsked:
		asked.Schedule = &api.Schedule{IntervalSeconds: max(page.Refresh.RecommendedSeconds, page.Refresh.MinimumSeconds,
			3600)}
	}
	return nil
}

// about returns the text of the problem with a field, or "" if the field has none.
func (page *addPage) about(param string) string {
	if page.Problem != nil && page.Problem.Param == param {
		return page.Problem.Text
	}
	return ""
}

// general returns the text of a problem that belongs to no field of this form.
func (page *addPage) general() string {
	if page.Problem == nil {
		return ""
	}
	switch page.Problem.Param {
	case "display_name", "schedule", "profile":
		return ""
	}
	if page.Form != nil {
		for _, f := range page.Form.Fields {
			if f.Name == page.Problem.Param {
				return ""
			}
		}
	}
	return page.Problem.Text
}

// refreshWords returns one sentence on how a connector refreshes.
func refreshWords(c api.Connector) string {
	switch {
	case c.Device:
		return "On your computer"
	case c.OnDevices && !c.SignsIn:
		return "From files, here or on your computer"
	case c.Refresh.Mode == "automatic" && c.Refresh.RecommendedSeconds > 0:
		return "By itself, " + strings.ToLower(words.RunInterval(c.Refresh.RecommendedSeconds))
	case c.Refresh.Mode == "automatic":
		return "By itself"
	default:
		return "When you ask"
	}
}

// inputType is the type of an input for a credential's field. What is not known is text.
func inputType(f api.CredentialField) string {
	if f.Secret {
		return "password"
	}
	switch f.Type {
	case "password", "email", "url", "number":
		return f.Type
	default:
		return "text"
	}
}

// byUpload means that the owner uploads the files in the browser.
const byUpload = "upload"

// onServer means that the files are on the machine that runs this server.
const onServer = "server"

// devicePath is where a computer is set up to collect.
func devicePath(connector string) string { return "/sources/add/" + ui.Segment(connector) + "/device" }

func listOrNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
