package manage

import (
	"net/http"
	"strings"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

// fieldMark stands before the name of a credential's field in a form, so that a
// connector's field cannot be taken for one of the page's own.
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
	Problem *problem
}

// connector finds what the address names. When it cannot it answers, and gives false.
func (p *pages) connector(w http.ResponseWriter, r *http.Request) (api.Connector, bool) {
	id, ok := p.segmentOf(w, r, "connector", "connections")
	if !ok {
		return api.Connector{}, false
	}
	all, err := p.Owner.Connectors(r.Context())
	if err != nil {
		p.fail(w, r, "connections", err)
		return api.Connector{}, false
	}
	for _, c := range all {
		if c.ID == id && c.Problem == "" {
			return c, true
		}
		if c.ID == id {
			p.fail(w, r, "connections", &api.Error{Status: http.StatusConflict, Code: api.CodeNotInstalled, Message: c.Problem, Next: "Correct the connector, then look again."})
			return api.Connector{}, false
		}
	}
	p.fail(w, r, "connections", api.NotFound("This connector is not installed.", "Choose one of those that are."))
	return api.Connector{}, false
}

func (p *pages) addForm(w http.ResponseWriter, r *http.Request) {
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
		p.show(w, r, http.StatusOK, p.frame(w, r, "Add "+c.DisplayName, "connections"), placeBody(c))
		return
	}
	page := addPage{Connector: c, DisplayName: c.DisplayName, Choice: asRecommended, rhythm: rhythmOf(c.Refresh.RecommendedSeconds)}
	p.showAdd(w, r, http.StatusOK, &page)
}

// connectable returns the connector that the owner goes on to connect. The first connection to one that is not
// built in confirms its program, so it needs a fresh proof, before anything is typed.
func (p *pages) connectable(w http.ResponseWriter, r *http.Request) (c api.Connector, ok bool) {
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

func (p *pages) showAdd(w http.ResponseWriter, r *http.Request, status int, page *addPage) {
	f := p.frame(w, r, "Add "+page.Connector.DisplayName, "connections")
	p.show(w, r, status, f, addBody(page))
}

func (p *pages) add(w http.ResponseWriter, r *http.Request) {
	c, ok := p.connectable(w, r)
	if !ok || !p.form(w, r, "connections") {
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
			ui.Done(w, r, "/connections/"+segment(made.ID), ui.Good("Connected. The first run starts now and checks the access."))
			return
		}
		found := p.problem(w, r, err)
		switch found.Param {
		case "interval_seconds", "jitter_seconds", "enabled":
			found.Param = "schedule"
		case "view", "stream":
			found.Param = "profile"
		}
		page.Problem = &found
	}
	p.showAdd(w, r, page.Problem.status, &page)
}

// check finds what the form lacks, and reads the schedule.
func (page *addPage) check(asked *api.Connect) *problem {
	if page.Device {
		found := wrong("", "This source is collected on one of your computers, not here.")
		return &found
	}
	if page.Form != nil {
		for _, f := range page.Form.Fields {
			if f.Required && strings.TrimSpace(asked.Fields[f.Name]) == "" {
				found := wrong(f.Name, f.Label+" is needed.")
				return &found
			}
		}
	}
	switch page.Choice {
	case ownRhythm:
		seconds, ok := page.seconds()
		if !ok {
			found := wrong("schedule", "Give the time between two runs as a number.")
			return &found
		}
		if low := page.Refresh.MinimumSeconds; seconds < low {
			found := wrong("schedule", "The shortest time between two runs of this connector is "+ui.Span(low)+".")
			return &found
		}
		asked.Schedule = &api.Schedule{IntervalSeconds: seconds, Enabled: true}
	case onlyWhenAsked:
		asked.Schedule = &api.Schedule{IntervalSeconds: max(page.Refresh.RecommendedSeconds, page.Refresh.MinimumSeconds, 3600)}
	}
	return nil
}

// about gives the words of the problem with a field; empty when it is well.
func (page *addPage) about(param string) string {
	if page.Problem != nil && page.Problem.Param == param {
		return page.Problem.Text
	}
	return ""
}

// general gives the words of a problem that is with no field of this form.
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

// refreshWords say in one sentence how a connector refreshes.
func refreshWords(c api.Connector) string {
	switch {
	case c.Device:
		return "On your computer"
	case c.OnDevices && !c.SignsIn:
		return "From files, here or on your computer"
	case c.Refresh.Mode == "automatic" && c.Refresh.RecommendedSeconds > 0:
		return "By itself, " + strings.ToLower(ui.Rhythm(c.Refresh.RecommendedSeconds))
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

// byUpload says that the files are given in the browser.
const byUpload = "upload"

// onServer says that the files are on the machine that runs this server.
const onServer = "server"

// devicePath is where a computer is set up to collect.
func devicePath(connector string) string { return "/add/" + segment(connector) + "/device" }

func listOrNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
