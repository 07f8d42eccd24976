package admin

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// shop has sources of all five ways in, and one that asks for nothing.
func shop() *owner {
	o := mara()
	form := &api.CredentialForm{Label: "Access",
		Fields: []api.CredentialField{{Name: "t", Label: "Access token", Required: true}}}
	streams := func(labels ...string) (out []api.StreamLabel) {
		for _, l := range labels {
			out = append(out, api.StreamLabel{Name: strings.ToLower(l), Label: l, Description: "All " + strings.ToLower(l) +
				" of yours."})
		}
		return out
	}
	byItself := api.RefreshPolicy{Mode: "automatic", RecommendedSeconds: 3600, Rationale: "Asking costs nothing."}
	o.connectors = []api.Connector{
		{ID: "kelp", DisplayName: "Kelp", Form: form, Refresh: byItself,
			Streams: streams("Letters", "Stars", "Walks", "Songs", "Nights", "Bills")},
		{ID: "gull", DisplayName: "Gull", Refresh: byItself, Streams: streams("Sleep"),
			Lacks:   "This server has no app at Gull yet. Register one there.",
			Consent: &api.Consent{Host: "gull.example"}, FirstRun: "About a minute for ten years",
			OutOfReach: []string{"What your ring has not told yet", "Workouts"}},
		{ID: "reef", DisplayName: "Reef", SignsIn: true, Refresh: byItself, Streams: streams("Conversations"),
			Files: &api.FileImport{Label: "An export", Wanted: "a zip"}},
		{ID: "tide", DisplayName: "Tide log", Steps: []string{"Paste one line."}, Device: true, OnDevices: true,
			Refresh: byItself, Streams: streams("Steps")},
		{ID: "sand", DisplayName: "Sand", OnDevices: true, Form: form, Refresh: api.RefreshPolicy{Mode: "manual"},
			Files: &api.FileImport{Label: "An export", Wanted: "a csv"}, Streams: streams("Articles")},
		{ID: "dune", DisplayName: "Dune", Refresh: api.RefreshPolicy{Mode: "manual"}, Streams: streams("Photos")},
		{ID: "moss", DisplayName: "moss",
			Problem: "connector moss cannot be used: manifest.json: version: is missing; add it"},
	}
	return o
}

func listed(p page) (ids []string) {
	for _, n := range p.elements("li") {
		if id := attr(n, "data-good"); id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}

// Each source lists what it collects, by which method and how often, before it asks for anything.
func TestCatalogueListsEverySource(t *testing.T) {
	t.Parallel()
	p := get(t, world(t, shop()), "/sources/add")
	for id, words := range map[string]string{
		"kelp": "Ke Kelp connected Letters, Stars, Walks, Songs and 2 more Token, every hour",
		"gull": "Gu Gull Sleep Sign in at the provider, every hour Needs setup first.",
		"reef": "Re Reef Conversations Sign in in a browser here, every hour",
		"tide": "Tl Tide log connected Steps On a device, every hour",
		"sand": "Sa Sand Articles Import a file, when you import",
		"dune": "Du Dune Photos Nothing to enter, when you ask",
		"moss": "Mo moss Cannot be used. connector moss cannot be used: manifest.json: version: is missing; add it",
	} {
		if got := textOf(p.by(t, "data-good", id)); got != words {
			t.Errorf("%s says %q, want %q", id, got, words)
		}
	}
	for way, words := range map[string]string{wayToken: "Token 1", wayProvider: "Sign in at the provider 1",
		wayBrowser: "Sign in in a browser here 1", wayDevice: "On a device 2", wayFile: "Import a file 2"} {
		if got := textOf(p.by(t, "data-way", way)); got != words {
			t.Errorf("%s says %q, want %q", way, got, words)
		}
	}
}

// Sources are listed by what they bring, the least effort first; what needs a step first is apart. The first group has
// what the owner can connect with a file, a line or a field.
func TestCatalogueIsGrouped(t *testing.T) {
	t.Parallel()
	o := shop()
	kind := func(i int, kind string, roles map[string]string) {
		o.connectors[i].Streams[0].Kind, o.connectors[i].Streams[0].Roles = kind, roles
	}
	kind(0, "message", map[string]string{"title": "subject"})
	kind(1, "measurement", nil)
	kind(2, "conversation", nil)
	kind(5, "file", nil)
	o.connectors[5].Streams = append(o.connectors[5].Streams,
		api.StreamLabel{Name: "coverage_diagnostics", Label: "Noted"})
	h := world(t, o)
	p := get(t, h, "/sources/add")
	var got []string
	for _, n := range p.elements("section") {
		group := attr(n, "data-group")
		for d := range n.Descendants() {
			if id := cmp.Or(attr(d, "data-good"), attr(d, "data-easy")); id != "" {
				group += " " + id
			}
		}
		got = append(got, group)
	}
	want := "easiest dune sand|mail kelp|chat reef|photos dune|more sand tide|setup gull moss"
	if strings.Join(got, "|") != want {
		t.Errorf("grouped %s, want %s", strings.Join(got, "|"), want)
	}
	if about := get(t, h, "/sources/add/dune/about").Body.String(); strings.Contains(about, "Noted") {
		t.Error("what a connector notes about its work is advertised")
	}
	if strings.Contains(get(t, h, "/sources/add?q=articles").Body.String(), "data-easy") {
		t.Error("a search begins with what was not searched")
	}
}

// The words and the way are in the address, so that both work without a script and can be kept.
func TestCatalogueIsSearched(t *testing.T) {
	t.Parallel()
	h := world(t, shop())
	for query, want := range map[string]string{
		"q=sleep": "gull", "q=ALL+stars": "kelp", "q=reef": "reef", "q=stars+sleep": "", "way=file": "sand reef",
		"way=device&q=steps": "tide", "way=token&q=steps": "",
		"way=none": "dune sand tide kelp reef gull moss", "q=%22%3E%3Cb%3E": "",
	} {
		p := get(t, h, "/sources/add?"+query)
		if got := strings.Join(listed(p), " "); got != want {
			t.Errorf("%s finds %q, want %q", query, got, want)
		}
		if want == "" && !strings.Contains(p.Body.String(), "Show all sources") {
			t.Errorf("%s finds nothing, and offers nothing", query)
		}
		asked, _ := url.ParseQuery(query)
		for _, n := range p.elements("input") {
			if attr(n, "name") == "q" && attr(n, "value") != asked.Get("q") {
				t.Errorf("%s: the field holds %q", query, attr(n, "value"))
			}
		}
	}
	p := get(t, h, "/sources/add?q=s&way=device")
	if got := attr(p.by(t, "data-way", wayFile), "href"); got != "/sources/add?q=s&way=file" {
		t.Errorf("another way leads to %q", got)
	}
}

// The facts of a source have their own address, and all of them precede the first button.
func TestFactsComeBeforeTheButton(t *testing.T) {
	t.Parallel()
	h := world(t, shop())
	p := get(t, h, "/sources/add/gull/about?q=s")
	panel := p.by(t, "data-about", "gull")
	message := textOf(panel)
	var at []int
	for _, words := range []string{"This server has no app at Gull yet. Register one there.",
		"Your part Sign in at gull.example and allow it", "First run About a minute for ten years",
		"After that Every hour. Asking costs nothing.", "Collects Sleep", "Kept where On this server only.",
		"Not included What your ring has not told yet Workouts", "Connect Gull"} {
		at = append(at, strings.Index(message, words))
		if at[len(at)-1] < 0 {
			t.Errorf("the facts do not say %q: %s", words, message)
		}
	}
	if !slices.IsSorted(at) {
		t.Errorf("the order is %v: %s", at, message)
	}
	if got := attr(p.by(t, "data-connect", ""), "href"); got != "/sources/add/gull" {
		t.Errorf("the button leads to %q", got)
	}
	if got := attr(p.by(t, "data-connector", "gull"), "aria-current"); got != "true" {
		t.Error("the row is not marked")
	}
	if got := attr(p.by(t, "data-close", ""), "href"); got != "/sources/add?q=s" {
		t.Errorf("close leads to %q", got)
	}
	for id, words := range map[string]string{
		"kelp": "Enter: Access token", "reef": "Sign in once in a page that is shown here, or give a file",
		"tide": "Paste one line on the computer that has the data", "sand": "Give a csv", "dune": "Nothing to enter",
	} {
		if text := textOf(get(t, h, "/sources/add/"+id+"/about").by(t, "data-about", id)); !strings.Contains(text,
			"Your part "+words) {
			t.Errorf("%s: %s", id, text)
		}
	}
	if p := get(t, h, "/sources/add/none/about"); p.Code != 404 {
		t.Errorf("a source that is not there answers %d", p.Code)
	}
}
