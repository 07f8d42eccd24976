// Package deliveries serves the page on which an owner decides where changes of records are delivered.
package deliveries

import (
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
	"github.com/pdpp-go/pdpp/internal/owner/webhook"
	"github.com/pdpp-go/pdpp/internal/view"
)

// Config is what the page needs. All members must be set.
type Config struct {
	Owner api.Owner
	// Now returns the time in the zone that pages show.
	Now func() time.Time
	Log *slog.Logger
}

type deliveryPages struct {
	Config
	*ui.Responder
}

// Routes returns the routes.
func Routes(c Config) []ui.Route {
	p := &deliveryPages{c, ui.NewResponder(c.Owner, c.Now, c.Log)}
	const one = ui.DeliveriesAddress + "/{id}/"
	return []ui.Route{
		{Pattern: "GET " + ui.DeliveriesAddress, Handler: http.HandlerFunc(p.list)},
		{Pattern: "POST " + ui.DeliveriesAddress, Handler: http.HandlerFunc(p.add)},
		{Pattern: "POST " + one + "test", Handler: http.HandlerFunc(p.test)},
		{Pattern: "POST " + one + "replay", Handler: http.HandlerFunc(p.replay)},
		{Pattern: "POST " + one + "secret", Handler: http.HandlerFunc(p.rotate)},
		{Pattern: "POST " + one + "pause", Handler: p.act("Paused. Nothing is lost.",
			func(r *http.Request, id string) error { return c.Owner.PauseWebhook(r.Context(), id) })},
		{Pattern: "POST " + one + "resume", Handler: p.act("Deliveries go on.",
			func(r *http.Request, id string) error { return c.Owner.ResumeWebhook(r.Context(), id) })},
		{Pattern: "POST " + one + "remove", Handler: p.act("Removed. Nothing more is delivered there.",
			func(r *http.Request, id string) error { return c.Owner.RemoveWebhook(r.Context(), id) })},
		{Pattern: "POST " + ui.DeliveriesAddress + "/triggers", Handler: http.HandlerFunc(p.addTrigger)},
		{Pattern: "POST " + ui.DeliveriesAddress + "/triggers/{id}/remove", Handler: p.act("Removed. Nothing answers there.",
			func(r *http.Request, id string) error { return c.Owner.RemoveTrigger(r.Context(), id) })},
	}
}

// listPage is all webhooks, and the form for a new one.
type listPage struct {
	Webhooks []webhook.Webhook
	Grants   []api.Grant // that are active
	Typed    webhook.NewWebhook
	Added    webhook.Webhook
	Secret   string // of the added one, or a new one of Rotated; shown once
	Rotated  webhook.Webhook
	Triggers []webhook.RunTrigger
	Sources  []view.Connection  // that can have a trigger
	Trigger  webhook.RunTrigger // that was added
	ui.FormProblem
}

func (p *deliveryPages) list(w http.ResponseWriter, r *http.Request) {
	p.show(w, r, &listPage{FormProblem: ui.FormProblem{Status: http.StatusOK}})
}

func (p *deliveryPages) show(w http.ResponseWriter, r *http.Request, page *listPage) {
	var err error
	if page.Webhooks, err = p.Owner.Webhooks(r.Context()); err != nil {
		p.ShowFailure(w, r, "sharing", err)
		return
	}
	all, err := p.Owner.Grants(r.Context())
	if err != nil {
		p.ShowFailure(w, r, "sharing", err)
		return
	}
	for _, g := range all {
		if g.Status == "active" && g.Mode == "continuous" {
			page.Grants = append(page.Grants, g)
		}
	}
	if page.Triggers, err = p.Owner.Triggers(r.Context()); err != nil {
		p.ShowFailure(w, r, "sharing", err)
		return
	}
	sources, err := p.Owner.Overview(r.Context())
	if err != nil {
		p.ShowFailure(w, r, "sharing", err)
		return
	}
	for i := range sources.Connections {
		if c := sources.Connections[i]; c.SourceKind != "local_device" {
			page.Sources = append(page.Sources, c)
		}
	}
	p.ShowPage(w, r, page.Status, p.PageFrame(w, r, "Deliveries", "sharing"), listBody(page, p.Now()))
}

func (p *deliveryPages) add(w http.ResponseWriter, r *http.Request) {
	if !p.ParseForm(w, r, "sharing") {
		return
	}
	page := &listPage{FormProblem: ui.FormProblem{Status: http.StatusCreated}, Typed: webhook.NewWebhook{
		Address: strings.TrimSpace(r.PostForm.Get("address")), Name: strings.TrimSpace(r.PostForm.Get("name")),
		GrantID: r.PostForm.Get("grant"), Since: r.PostForm.Get("since"), Local: r.PostForm.Get("local") != ""}}
	var err error
	if page.Added, page.Secret, err = p.Owner.AddWebhook(r.Context(), page.Typed); err != nil {
		page.FormProblem = p.ProblemOf(w, r, err)
	} else {
		page.Typed = webhook.NewWebhook{}
	}
	p.show(w, r, page)
}

func (p *deliveryPages) rotate(w http.ResponseWriter, r *http.Request) {
	if !p.ParseForm(w, r, "sharing") {
		return
	}
	page := &listPage{FormProblem: ui.FormProblem{Status: http.StatusOK}}
	var err error
	page.Rotated, page.Secret, err = p.Owner.RotateWebhook(r.Context(), r.PathValue("id"),
		webhook.Rotation{AtOnce: r.PostForm.Get("at-once") != ""})
	if err != nil {
		p.ShowFailure(w, r, "sharing", err)
		return
	}
	p.show(w, r, page)
}

func (p *deliveryPages) addTrigger(w http.ResponseWriter, r *http.Request) {
	if !p.ParseForm(w, r, "sharing") {
		return
	}
	page := &listPage{FormProblem: ui.FormProblem{Status: http.StatusCreated}}
	var err error
	page.Trigger, page.Secret, err = p.Owner.AddTrigger(r.Context(),
		webhook.NewTrigger{ConnectionID: r.PostForm.Get("source"), Kind: r.PostForm.Get("kind")})
	if err != nil {
		p.ShowFailure(w, r, "sharing", err)
		return
	}
	p.show(w, r, page)
}

// sourceName returns how the source of a trigger is called.
func (page *listPage) sourceName(t webhook.RunTrigger) string {
	for i := range page.Sources {
		if page.Sources[i].ID == t.ConnectionID {
			return page.Sources[i].DisplayName
		}
	}
	return t.ConnectionID
}

// act answers a button.
func (p *deliveryPages) act(done string, do func(*http.Request, string) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := do(r, r.PathValue("id")); err != nil {
			p.ShowFailure(w, r, "sharing", err)
			return
		}
		ui.Done(w, r, ui.DeliveriesAddress, ui.Good(done))
	})
}

func (p *deliveryPages) test(w http.ResponseWriter, r *http.Request) {
	how, err := p.Owner.TestWebhook(r.Context(), r.PathValue("id"))
	if err != nil {
		p.ShowFailure(w, r, "sharing", err)
		return
	}
	m := ui.Good("The address accepted the test.")
	if how.Failure != "" {
		m = ui.Message{Kind: "bad", Text: "The address did not accept the test: " + failureWords(how.Failure) + "."}
	}
	ui.Done(w, r, ui.DeliveriesAddress, m)
}

func (p *deliveryPages) replay(w http.ResponseWriter, r *http.Request) {
	if !p.ParseForm(w, r, "sharing") {
		return
	}
	err := p.Owner.ReplayWebhook(r.Context(), r.PathValue("id"), webhook.Replay{Letter: r.PostForm.Get("letter")})
	if err != nil {
		p.ShowFailure(w, r, "sharing", err)
		return
	}
	ui.Done(w, r, ui.DeliveriesAddress, ui.Good("It is delivered again, with everything after it."))
}

// failureWords describes how an address failed.
func failureWords(failure string) string {
	if code, is := strings.CutPrefix(failure, "http_"); is {
		return "it answered " + code
	}
	switch failure {
	case "timeout":
		return "it did not answer in time"
	case "forbidden_address":
		return "it leads into a private network"
	case "secret_unreadable":
		return "the key of this server is missing"
	}
	return "it cannot be reached"
}

// stateWords describe how deliveries go.
func stateWords(w *webhook.Webhook) string {
	switch {
	case w.Status == "failing":
		return "Deliveries fail: " + failureWords(w.LastFailure) + ". They are repeated, and nothing is lost."
	case w.Status != "paused":
		return "Changes are delivered as they happen."
	}
	switch w.PauseReason {
	case "owner":
		return "You paused it. What changes is delivered when you resume it."
	case "gone":
		return "Paused: the address wants no more deliveries."
	case "grant":
		return "Paused: the app's permission ended."
	}
	return "Paused, because it failed for too long: " + failureWords(w.LastFailure) + ". Fix the receiver, then resume it."
}

// what describes what a webhook delivers.
func (page *listPage) what(w *webhook.Webhook) string {
	of := "Everything that you can read"
	if w.GrantID != "" {
		of = "What an app may read"
		for _, g := range page.Grants {
			if g.ID == w.GrantID {
				of = "What " + g.ClientName + " may read"
			}
		}
	}
	var names []string
	for _, s := range w.Streams {
		names = append(names, text.Name(s))
	}
	if len(names) > 0 {
		of += ", of " + strings.Join(names, ", ")
	}
	return of + "."
}
