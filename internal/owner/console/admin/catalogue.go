package admin

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/goods"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
	"github.com/pdpp-go/pdpp/internal/owner/words"
)

// way is a way in: what the owner does to bring a source here.
type way struct{ ID, Words string }

// The ways in, in the order in which they are offered.
const (
	wayToken    = "token"
	wayProvider = "provider"
	wayBrowser  = "browser"
	wayDevice   = "device"
	wayFile     = "file"
)

var ways = []way{
	{wayToken, "Token"}, {wayProvider, "Sign in at the provider"}, {wayBrowser, "Sign in in a browser here"},
	{wayDevice, "On a device"}, {wayFile, "Import a file"},
}

// waysOf are the ways in of a connector, its own first; none for one that asks for nothing.
func waysOf(c *api.Connector) (out []string) {
	switch {
	case c.Consent != nil:
		out = append(out, wayProvider)
	case c.SignsIn:
		out = append(out, wayBrowser)
	case c.Form != nil && !c.OnDevices && !c.Device:
		out = append(out, wayToken)
	}
	if c.Files != nil {
		out = append(out, wayFile)
	}
	if c.Device || c.OnDevices && !c.SignsIn {
		out = append(out, wayDevice)
	}
	return out
}

func wayWords(id string) string {
	for _, w := range ways {
		if w.ID == id {
			return w.Words
		}
	}
	return "Nothing to enter"
}

// firstWay is the way that a connector is known by.
func firstWay(c *api.Connector) string { return wayWords(cmp.Or(append(waysOf(c), "")...)) }

// catalogue is what can be brought here, as far as it was asked for.
type catalogue struct {
	Query, Way string
	All        int // sources, whatever is asked for
	Shown      []api.Connector
	Counts     map[string]int // by way, of those that match the words
	Matching   int
	Connected  map[string]int // connections by connector
	About      *api.Connector // the connector with the shown facts
}

// matches reports whether every word of a search is somewhere in what a connector collects.
func matches(c *api.Connector, words []string) bool {
	var b strings.Builder
	for _, part := range []string{c.DisplayName, c.ID, c.Problem} {
		b.WriteString(strings.ToLower(part) + "\n")
	}
	for i := range c.Streams {
		b.WriteString(strings.ToLower(c.Streams[i].Label+"\n"+c.Streams[i].Description) + "\n")
	}
	for _, w := range words {
		if !strings.Contains(b.String(), w) {
			return false
		}
	}
	return true
}

// longestSearch bounds what is looked for, in bytes.
const longestSearch = 200

func (p *adminPages) catalogue(w http.ResponseWriter, r *http.Request) {
	p.showCatalogue(w, r, nil)
}

// aboutConnector is the catalogue with the facts of one connector beside it.
func (p *adminPages) aboutConnector(w http.ResponseWriter, r *http.Request) {
	if c, ok := p.connector(w, r); ok {
		p.showCatalogue(w, r, &c)
	}
}

func (p *adminPages) showCatalogue(w http.ResponseWriter, r *http.Request, about *api.Connector) {
	all, err := p.Owner.Connectors(r.Context())
	if err != nil {
		p.ShowFailure(w, r, "sources", err)
		return
	}
	overview, err := p.Owner.Overview(r.Context())
	if err != nil {
		p.ShowFailure(w, r, "sources", err)
		return
	}
	asked := r.URL.Query()
	c := catalogue{Query: text.Cut(text.Line(asked.Get("q")), longestSearch), Way: asked.Get("way"), All: len(all),
		Counts: map[string]int{}, Connected: map[string]int{}, About: about}
	if !slices.ContainsFunc(ways, func(one way) bool { return one.ID == c.Way }) {
		c.Way = ""
	}
	for i := range overview.Connections {
		c.Connected[overview.Connections[i].ConnectorID]++
	}
	words := strings.Fields(strings.ToLower(c.Query))
	for i := range all {
		if !matches(&all[i], words) {
			continue
		}
		c.Matching++
		in := waysOf(&all[i])
		for _, id := range in {
			c.Counts[id]++
		}
		if c.Way == "" || slices.Contains(in, c.Way) {
			c.Shown = append(c.Shown, all[i])
		}
	}
	title := "Add a source"
	if about != nil {
		title = about.DisplayName
	}
	p.ShowPage(w, r, http.StatusOK, p.PageFrame(w, r, title, "sources"), catalogueBody(&c))
}

// at is the address of the catalogue, with what was asked for.
func (c *catalogue) at(path, way string) string {
	q := url.Values{}
	if c.Query != "" {
		q.Set("q", c.Query)
	}
	if way != "" {
		q.Set("way", way)
	}
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}

func (c *catalogue) aboutAt(id string) string {
	return c.at("/sources/add/"+ui.Segment(id)+"/about", c.Way)
}

func (c *catalogue) current(id string) bool { return c.About != nil && c.About.ID == id }

// goodMark returns the attribute that names a connector in the list.
func goodMark(c *api.Connector, listed bool) templ.Attributes {
	if !listed {
		return templ.Attributes{"data-easy": c.ID}
	}
	return templ.Attributes{"data-good": c.ID}
}

// mostNamed is how many streams a row names.
const mostNamed = 4

// collects names what is collected, in a few words.
func collects(c *api.Connector) string {
	labels := goods.Things(c)
	if rest := len(labels) - mostNamed; rest > 1 {
		labels = append(labels[:mostNamed], text.Number(int64(rest))+" more")
	}
	return text.List(labels)
}

// howOften is when it is collected after the first time.
func howOften(c *api.Connector) string {
	switch {
	case c.Refresh.Mode == "automatic" && c.Refresh.RecommendedSeconds > 0:
		return strings.ToLower(words.RunInterval(c.Refresh.RecommendedSeconds))
	case c.Refresh.Mode == "automatic":
		return "by itself"
	case c.Files != nil && !c.SignsIn && c.Consent == nil:
		return "when you import"
	default:
		return "when you ask"
	}
}

// fact is a statement that the owner reads before providing any credential or file.
type fact struct{ Head, Words string }

// factsOf returns the facts that the connector's manifest declares. Facts that it does not declare
// are shown as unknown.
func factsOf(c *api.Connector) []fact {
	out := []fact{{"Your part", yourPart(c)}, {"First run", firstRunOf(c)}, {"After that", text.Upper(howOften(c))}}
	if c.Refresh.Rationale != "" {
		out[2].Words += ". " + c.Refresh.Rationale
	}
	if labels := goods.Things(c); len(labels) > 0 {
		out = append(out, fact{"Collects", strings.Join(labels, ", ")})
	}
	kept := "On this server only."
	switch {
	case c.SignsIn:
		kept += " The sign-in is sealed, and no password is kept."
	case c.Consent != nil:
		kept += " The provider's token is stored encrypted."
	case c.Form != nil && !c.OnDevices:
		kept += " What you enter is stored encrypted, and only this connector receives it."
	}
	return append(out, fact{"Kept where", kept})
}

func yourPart(c *api.Connector) string {
	switch {
	case c.Consent != nil && c.Consent.Host != "":
		return "Sign in at " + c.Consent.Host + " and allow it"
	case c.Consent != nil:
		return "Sign in at the provider and allow it"
	case c.SignsIn && c.Files != nil:
		return "Sign in once in a page that is shown here, or give a file"
	case c.SignsIn:
		return "Sign in once in a page that is shown here"
	case c.Files != nil:
		return "Give " + c.Files.Wanted
	case c.Device:
		return "Paste one line on the computer that has the data"
	case c.OnDevices:
		return "Say where the files are: here, or on a computer on which you paste one line"
	case c.Form == nil:
		return "Nothing to enter"
	default:
		var labels []string
		for _, f := range c.Form.Fields {
			if f.Required {
				labels = append(labels, f.Label)
			}
		}
		if len(labels) == 0 {
			return c.Form.Label
		}
		return "Enter: " + strings.Join(labels, ", ")
	}
}

func firstRunOf(c *api.Connector) string {
	switch {
	case c.FirstRun != "":
		return c.FirstRun
	case c.Device || c.OnDevices || c.Files != nil && !c.SignsIn:
		return "As long as it takes to read the files. What is read is there at once"
	default:
		return "Not known in advance. It collects as fast as the source allows and shows its progress; you need not wait"
	}
}
