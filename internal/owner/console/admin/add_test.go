package admin

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

func TestConnecting(t *testing.T) {
	t.Parallel()
	o := mara()
	h := world(t, o)
	form := url.Values{"display_name": {"My kelp"}, "field.user": {"maralind"}, "field.token": {"kelp-secret"},
		"schedule": {asRecommended}, "every": {"6"}, "unit": {"hours"}}
	to(t, post(t, h, "/sources/add/kelp", form), "/sources/cin_kelp_2")
	want(t, o, "Connect kelp")
	if c := o.connect; c.DisplayName != "My kelp" || c.Fields["token"] != "kelp-secret" ||
		c.Fields["user"] != "maralind" || c.Schedule != nil {
		t.Errorf("connected %+v", c)
	}
	form.Set("schedule", ownRhythm)
	post(t, h, "/sources/add/kelp", form)
	if s := o.connect.Schedule; s == nil || *s != (api.Schedule{IntervalSeconds: 6 * 3600, Enabled: true}) {
		t.Errorf("its own rhythm became %+v", s)
	}
	form.Set("schedule", onlyWhenAsked)
	post(t, h, "/sources/add/kelp", form)
	if s := o.connect.Schedule; s == nil || s.Enabled {
		t.Errorf("only when asked became %+v", s)
	}
}

// The page of a connector that is not built in lists what the connector receives before it is
// connected.
func TestForeignConnectorSaysWhatItGets(t *testing.T) {
	t.Parallel()
	o := mara()
	h := world(t, o)
	if p := get(t, h, "/sources/add/kelp"); strings.Contains(p.Body.String(), "data-foreign") {
		t.Error("a built-in one has nothing to confirm")
	}
	o.connectors[0].Foreign = &api.Foreign{Executable: "ab12", Network: "Every address that this machine reaches.",
		Variables: []string{"KELP_TOKEN", "KELP_DIR"}, Paths: []string{"KELP_DIR"}}
	p := get(t, h, "/sources/add/kelp")
	for _, words := range []string{"data-foreign", "KELP_TOKEN, KELP_DIR", "SHA-256 ab12",
		"Every address that this machine reaches.", "Connecting it lets it run as it is now."} {
		if !strings.Contains(p.Body.String(), words) {
			t.Errorf("the page does not say %q", words)
		}
	}
	o.connectors[0].Foreign.Changed = true
	if p := get(t, h, "/sources/add/kelp"); !strings.Contains(p.Body.String(), "pdpp connectors confirm kelp") {
		t.Error("one that has changed does not say how it is confirmed")
	}
}

func TestARefusedConnectionKeepsWhatWasTypedButSecrets(t *testing.T) {
	t.Parallel()
	form := url.Values{"display_name": {"My kelp"}, "field.user": {"maralind"}, "field.token": {"kelp-secret"}}
	for name, c := range map[string]struct {
		change func(*owner)
		form   map[string]string
		field  string // field that the page marks as wrong
		words  string
	}{
		"by the service": {func(o *owner) {
			o.fails["Connect"] = api.Invalid("token", "This token was not accepted.", "Copy it again.")
		}, nil, "c1", "This token was not accepted. Copy it again."},
		"without a required field": {nil, map[string]string{"field.user": " "}, "c0", "User name is needed."},
		"by its rhythm": {nil, map[string]string{"schedule": ownRhythm, "every": "5", "unit": "minutes"},
			"add-every", "The shortest time between two runs of this connector is 1 h."},
		"by its name": {func(o *owner) {
			o.fails["Connect"] = api.Invalid("display_name", "This name is taken.", "")
		}, nil, "display-name", "This name is taken."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := mara()
			if c.change != nil {
				c.change(o)
			}
			sent := url.Values{}
			for k, v := range form {
				sent[k] = v
			}
			for k, v := range c.form {
				sent.Set(k, v)
			}
			p := post(t, world(t, o), "/sources/add/kelp", sent)
			if p.Code != http.StatusBadRequest {
				t.Errorf("answered %d", p.Code)
			}
			if strings.Contains(p.Body.String(), "kelp-secret") {
				t.Error("the secret is on the page")
			}
			if attr(p.by(t, "id", "display-name"), "value") != "My kelp" ||
				attr(p.by(t, "id", "c0"), "value") != sent.Get("field.user") {
				t.Error("what was typed is gone")
			}
			field := p.by(t, "id", c.field)
			if attr(field, "aria-invalid") != "true" {
				t.Errorf("the field is %v", field.Attr)
			}
			node := p.by(t, "id", strings.Fields(attr(field, "aria-describedby"))[0])
			if textOf(node) != c.words {
				t.Errorf("it shows %q", textOf(node))
			}
		})
	}
	t.Run("for no field", func(t *testing.T) {
		t.Parallel()
		o := mara()
		o.fails["Connect"] = &api.Error{Status: http.StatusConflict, Code: api.CodeNotInstalled,
			Message: "Kelp is not installed.", Next: "Install it."}
		p := post(t, world(t, o), "/sources/add/kelp", form)
		if p.Code != http.StatusConflict || textOf(p.by(t, "role", "alert")) != "Kelp is not installed. Install it." {
			t.Errorf("answered %d: %s", p.Code, p.text())
		}
	})
}

// What a connector lets choose is chosen on the form that connects it, by default
// everything, and is what is asked for.
func TestAddingWithAProfileAndAView(t *testing.T) {
	t.Parallel()
	o := mara()
	h := world(t, o)
	get(t, h, "/sources/add/kelp").says(t, "What should it collect?", "Everything All streams of Kelp",
		"Just the letters Letters (Headings)", "Headings only: Id and Title")
	form := url.Values{"display_name": {"My kelp"}, "field.user": {"maralind"}, "field.token": {"kelp-secret"},
		"schedule": {asRecommended}, "profile": {""}, "view:letters": {""}}
	post(t, h, "/sources/add/kelp", form)
	if o.connect.Selection != nil {
		t.Errorf("everything is asked for as %+v", o.connect.Selection)
	}
	form.Set("profile", "brief")
	form.Set("view:letters", "headings")
	post(t, h, "/sources/add/kelp", form)
	if s := o.connect.Selection; s == nil || s.Profile != "brief" || len(s.Streams) != 1 ||
		s.Streams[0].Stream != "letters" || s.Streams[0].View != "headings" {
		t.Errorf("it is asked for as %+v", s)
	}
	o.fails["Connect"] = api.Invalid("view", "There is no such view.", "")
	p := post(t, h, "/sources/add/kelp", form)
	if textOf(p.by(t, "id", "profile-e")) != "There is no such view." {
		t.Errorf("it says %s", p.text())
	}
	var kept []string
	for _, n := range p.elements("input") {
		if attr(n, "name") == "profile" && has(n, "checked") {
			kept = append(kept, attr(n, "value"))
		}
	}
	if !slices.Equal(kept, []string{"brief"}) {
		t.Errorf("refused, the form shows %v", kept)
	}
}

func TestADeviceIsConnectedElsewhere(t *testing.T) {
	t.Parallel()
	o := mara()
	h := world(t, o)
	if p := get(t, h, "/sources/add/tide"); p.Code != http.StatusSeeOther ||
		p.Header().Get("Location") != "/sources/add/tide/device" {
		t.Errorf("the form of a device is at %q", p.Header().Get("Location"))
	}
	if p := post(t, h, "/sources/add/tide", url.Values{}); p.Code != http.StatusBadRequest {
		t.Errorf("connecting it here answered %d", p.Code)
	}
	want(t, o, "")

	// Files are on the server or on a device; the owner chooses which.
	p := get(t, h, "/sources/add/shore")
	p.says(t, "Where are they?")
	for place, address := range map[string]string{"server": "/sources/add/shore?on=server",
		"device": "/sources/add/shore/device"} {
		if got := attr(p.by(t, "data-place", place), "href"); got != address {
			t.Errorf("%s leads to %q", place, got)
		}
	}
	get(t, h, "/sources/add/shore?on=server").says(t, "Connect and run once")
}

// The list and the connector's own page both show why a connector cannot be used.
func TestUnusableConnectorSaysWhy(t *testing.T) {
	t.Parallel()
	o := mara()
	h := world(t, o)
	const why = "connector moss cannot be used: manifest.json: version: is missing; add it"
	o.connectors = append(o.connectors, api.Connector{ID: "moss", DisplayName: "moss", Problem: why})
	for _, path := range []string{"/sources/add", "/sources/add/moss"} {
		if p := get(t, h, path); !strings.Contains(p.Body.String(), why) ||
			strings.Contains(p.Body.String(), `href="/sources/add/moss"`) {
			t.Errorf("%s answers %d and does not say why", path, p.Code)
		}
	}
}
