package admin

import (
	_ "embed"
	"net/http"
	"strings"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

//go:embed push.js
var pushScript []byte

// servePushScript serves the script of the button that subscribes this browser.
func servePushScript(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-cache")
	_, _ = w.Write(pushScript) // a browser that is gone does not need it
}

func (p *adminPages) addPush(w http.ResponseWriter, r *http.Request) {
	if !p.ParseForm(w, r, "settings") {
		return
	}
	f := r.PostForm
	t := api.NewPushTarget{
		Kind: f.Get("kind"), Label: strings.TrimSpace(f.Get("label")), Endpoint: strings.TrimSpace(f.Get("endpoint")),
		P256DH: f.Get("p256dh"), Auth: f.Get("auth"), Secret: f.Get("secret"),
	}
	if _, err := p.Owner.AddPushTarget(r.Context(), t); err != nil {
		page := settingsPage{}
		if t.Kind != "web_push" {
			page.Push = api.NewPushTarget{Kind: t.Kind, Label: t.Label, Endpoint: t.Endpoint}
		}
		p.refuse(w, r, &page, "push", p.ProblemOf(w, r, err))
		return
	}
	ui.Done(w, r, "/settings#push", ui.Good("Added. Send a test to see that it arrives."))
}

func (p *adminPages) testPush(w http.ResponseWriter, r *http.Request) {
	tests, err := p.Owner.TestPush(r.Context(), "")
	if err == nil {
		err = untaken(tests)
	}
	if err != nil {
		p.refuse(w, r, &settingsPage{}, "push", p.ProblemOf(w, r, err))
		return
	}
	ui.Done(w, r, "/settings#push", ui.Good("A test was sent everywhere in the list."))
}

// untaken names the places that did not take a test, and why when it is one; nil when all
// took it.
func untaken(tests []api.PushTest) error {
	var names []string
	out := &api.Error{Status: http.StatusBadGateway, Code: "push_failed"}
	for _, t := range tests {
		if t.Error != nil {
			names, out.Message, out.Next = append(names, t.Label), t.Error.Message, t.Error.Next
		}
	}
	switch len(names) {
	case 0:
		return nil
	case 1:
		out.Message = names[0] + ": " + out.Message
	default:
		out.Message = "These did not take the test: " + strings.Join(names, ", ") + "."
		out.Next = "Send a test with pdpp notify test, which says why of each."
	}
	return out
}

func (p *adminPages) removePush(w http.ResponseWriter, r *http.Request) {
	if err := p.Owner.DeletePushTarget(r.Context(), r.PathValue("id")); err != nil {
		p.refuse(w, r, &settingsPage{}, "push", p.ProblemOf(w, r, err))
		return
	}
	ui.Done(w, r, "/settings#push", ui.Good("Removed. Nothing is sent there any more."))
}

// quietHours is the daily window in which nothing is sent, as typed.
type quietHours struct{ From, To, Zone string }

// readQuiet takes a window such as "22:00-07:00 Europe/Berlin" apart.
func readQuiet(window string) quietHours {
	hours, zone, _ := strings.Cut(window, " ")
	from, to, _ := strings.Cut(hours, "-")
	return quietHours{from, to, zone}
}

// window puts it together; nothing at all is no quiet hours.
func (q quietHours) window() string {
	if q.From == "" && q.To == "" {
		return ""
	}
	return q.From + "-" + q.To + " " + q.Zone
}

func (p *adminPages) setQuiet(w http.ResponseWriter, r *http.Request) {
	if !p.ParseForm(w, r, "settings") {
		return
	}
	trimmed := func(name string) string { return strings.TrimSpace(r.PostForm.Get(name)) }
	q := quietHours{trimmed("from"), trimmed("to"), trimmed("zone")}
	if err := p.Owner.SetQuietHours(r.Context(), q.window()); err != nil {
		p.refuse(w, r, &settingsPage{Quiet: q}, "quiet", p.ProblemOf(w, r, err))
		return
	}
	text := "Saved. What comes up in these hours is sent when they end."
	if q.window() == "" {
		text = "Saved. There are no quiet hours."
	}
	ui.Done(w, r, "/settings#push", ui.Good(text))
}

// targetWords returns the label for a kind of push target.
func targetWords(kind string) string {
	switch kind {
	case "web_push":
		return "Browser"
	case "ntfy":
		return "ntfy"
	default:
		return "Web address"
	}
}
