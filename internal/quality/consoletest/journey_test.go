package consoletest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/view"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/github"
)

// client is a third-party app: it has a token and no cookie.
type client struct {
	t           *testing.T
	base, token string
}

// get requests an address and returns the status and the body.
func (c client) get(path string) (int, string) {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodGet, c.base+path, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// An owner's first hour, in a browser: start, sign in, connect, watch, search, export,
// grant, revoke, break, repair.
func TestJourney(t *testing.T) {
	t.Parallel()
	sim, err := github.Start(github.Config{Seed: 3, Repositories: 6, Stars: 8, Issues: 30, Pulls: 6, Gists: 2, Events: 10})
	if err != nil {
		t.Fatal(err)
	}
	defer sim.Close()
	h := found(t, "PDPP_GITHUB_BASE_URL="+sim.BaseURL, "PDPP_GITHUB_PACING_INITIAL_INTERVAL_MS=400",
		"PDPP_GITHUB_PACING_MIN_INTERVAL_MS=400")
	h.open("serve")
	if h.ready.Password == "" {
		t.Fatal("the first start shows no password")
	}
	b := h.signIn(t)
	b.shoot("dashboard-empty")

	connect(b, sim.Sim.Token())
	watch(b)
	read(b, sim.Sim)
	grant(b)
	repair(b, sim.Sim)
	agree(b, h)
	b.quiet()
}

// agree compares the page with the command's output for the same connection.
func agree(b *tab, h *house) {
	b.t.Helper()
	b.t.Attr("spec", "CH-06.1")
	var reported struct {
		Connection view.Connection `json:"connection"`
	}
	if err := json.Unmarshal([]byte(h.pdpp("status", "cin_github_1", "--json")), &reported); err != nil {
		b.t.Fatal(err)
	}
	b.visit("/sources/cin_github_1")
	compare(b.t, b, "header", "#verdict", &reported.Connection)
	b.visit("/sources")
	compare(b.t, b, "dashboard", "#row-cin_github_1", &reported.Connection)
	plain := h.pdpp("status", "cin_github_1")
	for _, field := range []string{reported.Connection.Verdict.Pill.Label, reported.Connection.Verdict.ForwardStatement,
		reported.Connection.Verdict.Annotations[0].Text} {
		if !strings.Contains(plain, field) {
			b.t.Errorf("pdpp status does not say %q:\n%s", field, plain)
		}
	}
}

// connect adds the source by its form.
func connect(b *tab, token string) {
	b.t.Helper()
	b.click(`a[href="/sources/add"]`)
	b.click(`a[data-connector="github"]`)
	b.click(`[data-about] [data-connect]`)
	b.fill(`form[data-add] input[type=password]`, token)
	b.submit(`form[data-add] input[type=password]`)
	b.until(`location.pathname === "/sources/cin_github_1"`)
}

// watch follows the first run to its end, on one page that is never loaded again.
func watch(b *tab) {
	b.t.Helper()
	b.wait(`a[data-follow-run]`)
	b.click(`a[data-follow-run]`)
	b.until(`location.pathname.startsWith("/runs/")`)
	eval[bool](b, `(window.sameDocument = true)`)
	b.shoot("run-live")
	b.until(`document.querySelector("#run-head[data-run-status=succeeded]") !== null`)
	if !eval[bool](b, `window.sameDocument === true`) {
		b.t.Error("the page was loaded again to show the end of the run")
	}
	b.shoot("run-over")
	b.visit("/sources")
	b.until(`document.querySelector("[data-connection=cin_github_1][data-tone=green][data-channel=calm]") !== null`)
}

// read searches for a record that exists, opens it, and exports its stream whole.
func read(b *tab, sim *github.GitHub) {
	b.t.Helper()
	issues := sim.Truth()[github.StreamIssues]
	var title, key string
	for k, item := range issues {
		var data struct {
			Title string `json:"title"`
		}
		if err := json.Unmarshal(item.Data, &data); err != nil {
			b.t.Fatal(err)
		}
		if len(data.Title) > len(title) {
			title, key = data.Title, k
		}
	}
	b.visit("/complete")
	b.fill(`#seek`, title)
	b.submit(`#seek`)
	b.until(`location.search.includes("q=")`)
	row := fmt.Sprintf(`[data-key=%q] a`, key)
	b.wait(row)
	b.shoot("records-search")
	b.click(row)
	b.wait(`[data-close]`)
	if body := b.text("main"); !strings.Contains(body, title) {
		b.t.Errorf("the record does not show its title %q", title)
	}
	b.shoot("record")
	lines := eval[int](b, `fetch("/search/export?part=connection_id%3Dcin_github_1%26stream%3Dissues&format=jsonl").`+
		`then(r => r.text()).then(t => t.trim().split("\n").length)`)
	if lines != len(issues) {
		b.t.Errorf("%d lines exported, %d issues exist", lines, len(issues))
	}
}

// grant lets a client read two fields of one stream, and takes it back.
func grant(b *tab) {
	b.t.Helper()
	b.visit("/sharing/new")
	b.fill(`#g-client`, "Ledger of Ida Lund")
	b.fill(`#g-purpose`, "Counts open questions")
	eval[bool](b, `(() => {
		const part = document.querySelector("[data-stream=issues]");
		part.querySelector("input[name=stream]").checked = true;
		for (const f of part.querySelectorAll("input[name^='fields:']")) f.checked = f.value === "title";
		return true;
	})()`)
	b.submit(`#g-client`)
	b.until(`document.body.innerText.includes("pdpp_gt_")`)
	token := eval[string](b, `document.body.innerText.match(/pdpp_gt_[A-Za-z0-9]+/)[0]`)
	b.shoot("grant-token")
	app := client{t: b.t, base: b.base, token: token}
	status, body := app.get("/v1/streams/issues/records?limit=100")
	var page struct {
		Data []struct {
			Data map[string]any `json:"data"`
		} `json:"data"`
	}
	if err := json.Unmarshal([]byte(body), &page); status != http.StatusOK || err != nil || len(page.Data) == 0 {
		b.t.Fatalf("with the grant: %d, %v, %.300s", status, err, body)
	}
	for _, r := range page.Data {
		for field := range r.Data {
			if field != "title" && field != "id" {
				b.t.Fatalf("the client sees %q: %v", field, r.Data)
			}
		}
	}
	if status, body := app.get("/v1/streams/repositories/records"); status != http.StatusForbidden &&
		status != http.StatusNotFound {
		b.t.Errorf("another stream: %d %.200s", status, body)
	}
	if status, _ := app.get("/_ref/connections"); status != http.StatusUnauthorized {
		b.t.Errorf("the owner's routes with a grant: %d", status)
	}
	b.visit("/sharing")
	b.shoot("grants")
	b.click(`[data-grant] a`)
	b.until(`/^\/sharing\/(?!new)/.test(location.pathname)`)
	b.shoot("grant")
	b.click(`form[action$='/revoke'] button`)
	b.until(`document.body.innerText.includes("Ended.")`)
	if status, body := app.get("/v1/streams/issues/records"); status != http.StatusForbidden ||
		!strings.Contains(body, "grant_revoked") {
		b.t.Errorf("after revoking: %d %.200s", status, body)
	}
}

// repair breaks the credential, sees that the owner is needed, and fixes it by one step.
func repair(b *tab, sim *github.GitHub) {
	b.t.Helper()
	if _, err := sim.ChangeToken(providersim.TokenChange{Action: "revoke"}); err != nil {
		b.t.Fatal(err)
	}
	b.visit("/sources/cin_github_1")
	b.press(`form[action$='/run'] button`)
	b.until(`document.querySelector("#verdict[data-channel=attention][data-tone=red]") !== null`)
	b.visit("/sources/cin_github_1")
	b.shoot("connection-needs-you")
	if _, err := sim.ChangeToken(providersim.TokenChange{Action: "rotate"}); err != nil {
		b.t.Fatal(err)
	}
	eval[bool](b, `(window.sameDocument = true)`)
	b.fill(`[data-action=reauth] input[type=password]`, sim.Token())
	b.submit(`[data-action=reauth] input[type=password]`)
	b.until(`document.querySelector("#verdict[data-channel=calm][data-tone=green]") !== null`)
	if !eval[bool](b, `window.sameDocument === true`) {
		b.t.Error("the page was loaded again to show the repair")
	}
	b.shoot("connection-repaired")
}
