package consoletest

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/providersim/chatgpt"
	"github.com/pdpp-go/pdpp/providersim/signin"
)

// The page of a run's browser, in the console.
const (
	signInPage = "/sources/cin_chatgpt_1/page"
	stageLive  = `document.querySelector(".stage")?.dataset.state === "live" && document.querySelector(".stage")` +
		`.dataset.shown > 0`
	stageOver = `document.querySelector("[data-when='over-settled']:not([hidden])") !== null`
)

// street is a house beside a simulated site that is reached by a browser.
func street(t *testing.T, c chatgpt.Config, env ...string) (*house, *chatgpt.Server) {
	t.Helper()
	sim, err := chatgpt.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sim.Close() })
	at, err := url.Parse(sim.BaseURL)
	if err != nil {
		t.Fatal(err)
	}
	h := found(t, append(env, "PDPP_CHATGPT_BASE_URL="+sim.BaseURL, "PDPP_BROWSER_LOCAL="+at.Host)...)
	h.open("serve")
	return h, sim
}

// types presses keys as a keyboard does, of which one event both is a key and types its text.
func (b *tab) types(keys string) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		for _, r := range keys {
			events := kb.Encode(r)
			if len(events) == 3 {
				events[0].Text, events[0].UnmodifiedText = events[1].Text, events[1].UnmodifiedText
				events = []*input.DispatchKeyEventParams{events[0], events[2]}
			}
			for _, e := range events {
				if _, err := chromedp.Call(ctx, input.DispatchKeyEvent, *e); err != nil {
					return err
				}
			}
		}
		return nil
	}))
}

// points clicks into the page that is shown, at a place of the page itself.
func (b *tab) points(x, y float64) {
	b.t.Helper()
	// of this window, not of the one before
	b.until(`document.querySelector("[data-part=picture]").getBoundingClientRect().height < innerHeight`)
	at := eval[[]float64](b, `(() => { const c = document.querySelector("[data-part=picture]"); `+
		`c.scrollIntoView({block: "center"}); const r = c.getBoundingClientRect(); return [r.left, r.top]; })()`)
	b.do(chromedp.MouseClickXY(at[0]+x, at[1]+y))
}

// picks opens a field with a native picker, which the streamed picture cannot show. It sets the
// value in the replacement control and waits for the resulting page title.
func (b *tab) picks(y float64, kind, value, title string) {
	b.t.Helper()
	b.until(`(c => Math.abs(c.width - c.getBoundingClientRect().width * Math.min(devicePixelRatio, 2)) < 4)` +
		`(document.querySelector("[data-part=picture]"))`)
	field := `document.querySelector("[data-part=choices] input[type=` + kind + `]")`
	// A page that is drawn for another width meanwhile is missed, and pointed at again.
	b.eventually("the window of "+kind, func() bool {
		b.points(60, y)
		return within(10*time.Second, func() bool { return eval[bool](b, field+`?.checkVisibility() === true`) })
	})
	b.shoot("sign-in-" + kind)
	b.until(`(f => f ? (f.value = "` + value + `", f.form.requestSubmit(), true) : false)(` + field + `)`)
	b.until(`document.querySelector("[data-part=picture]").getAttribute("aria-label").endsWith(": ` + title + `")`)
}

// signs signs in on the page that is shown, as a person would: a page that was not there yet
// when they typed is reloaded, and typed into again.
func (b *tab) signs(site *signin.Site, who signin.Account) {
	b.t.Helper()
	b.until(stageLive)
	before := site.State().Count.SignIns
	in := func() bool { return site.State().Count.SignIns > before }
	accepted := func() bool { return in() || site.State().Waiting > 0 }
	for try := 0; ; try++ {
		if try > 0 {
			b.click(`[data-do=reload]`)
		}
		time.Sleep(time.Second) // from the mouse to the keys a hand takes its time
		eval[bool](b, `(document.querySelector("[data-part=keys]").focus(), true)`)
		b.types(who.Email + "\t" + who.Password + "\r")
		if within(8*time.Second, accepted) {
			break
		}
		if try == 3 {
			b.shoot("sign-in-stuck")
			b.t.Fatalf("the password is not taken: %+v", site.State())
		}
	}
	if site.State().Second != signin.TOTP {
		return
	}
	b.eventually("a code that is taken", func() bool {
		time.Sleep(time.Second)
		b.types(site.State().Codes[who.ID] + "\r")
		return within(5*time.Second, in)
	})
}

func within(d time.Duration, holds func() bool) bool {
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if holds() {
			return true
		}
	}
	return false
}

func (b *tab) eventually(what string, holds func() bool) {
	b.t.Helper()
	if !within(patience, holds) {
		b.t.Fatalf("never: %s\nat %s", what, b.where())
	}
}

// pushed counts what a webhook was sent.
type pushed struct {
	*httptest.Server
	mu    sync.Mutex
	texts []string
}

func newPushed(t *testing.T) *pushed {
	p := &pushed{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body bytes.Buffer
		_, _ = body.ReadFrom(r.Body)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.texts = append(p.texts, body.String())
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *pushed) all() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string{}, p.texts...)
}

// The owner connects a source that only has a web sign-in, signs in on the source's page with a
// code, and leaves. The source is collected. When the session ends, one push notifies the owner,
// and signing in again is enough. No typed secret is stored anywhere.
func TestSignInOnTheStreamedPage(t *testing.T) {
	t.Parallel()
	who := signin.Account{ID: "user-linden-07", Name: "Linden Marsh", Email: "linden@example.org",
		Password: "quarry-heron-8841"}
	h, sim := street(t, chatgpt.Config{Seed: 5, Chats: 6, Memories: 3,
		Signin: signin.Config{Accounts: []signin.Account{who}, Second: signin.TOTP}})
	site := sim.Sim.Site()
	push := newPushed(t)
	b := h.signIn(t)
	h.pdpp("notify", "add", "webhook", push.URL)

	b.click(`a[href="/sources/add"]`)
	b.click(`a[data-connector="chatgpt"]`)
	b.click(`[data-about] [data-connect]`)
	b.wait(`[data-signs-in]`)
	b.shoot("add-browser")
	if b.has(`form[data-add] input[type=password]`) {
		t.Error("a password is asked for")
	}
	b.submit(`form[data-add] input[name=display_name]`)
	b.until(`location.pathname === "` + signInPage + `"`)
	b.until(stageLive)
	if got := b.text(`[data-part=origin]`); got != sim.BaseURL {
		t.Errorf("the page is said to be at %q", got)
	}
	b.signs(site, who)
	b.until(stageOver)
	b.shoot("sign-in-settled")
	b.visit("/sources")
	b.until(`document.querySelector("#row-cin_chatgpt_1[data-tone=green]") !== null`)
	if n := site.State().Count.SignIns; n != 1 {
		t.Errorf("%d sign-ins", n)
	}

	if _, err := site.Do(signin.Order{SignOut: true}); err != nil {
		t.Fatal(err)
	}
	before := len(push.all())
	h.due("cin_chatgpt_1")
	b.until(`document.querySelector("#row-cin_chatgpt_1 [data-action=reauth]") !== null`)
	b.shoot("signed-out")
	b.eventually("a push", func() bool { return len(push.all()) > before })
	if all := push.all(); len(all) != before+1 || !strings.Contains(all[before], `"kind":"reauth"`) ||
		!strings.Contains(all[before], "Sign in") {
		t.Errorf("pushed: %v", all)
	}
	b.visit("/sources/cin_chatgpt_1")
	b.shoot("connection-signed-out")
	b.dress(390, false)
	var message struct {
		Link string `json:"link"`
	}
	if err := json.Unmarshal([]byte(push.all()[before]), &message); err != nil || message.Link != signInPage {
		t.Errorf("the push leads to %q: %v", message.Link, err)
	}
	b.visit(message.Link) // and there is one thing to press
	b.submit(`form[action="` + signInPage + `"] button`)
	b.until(`location.pathname === "` + signInPage + `"`)
	b.signs(site, who)
	b.until(stageOver)
	b.dress(1280, false)
	b.visit("/sources")
	b.until(`document.querySelector("#row-cin_chatgpt_1[data-tone=green]") !== null`)
	if all := push.all(); len(all) != before+1 {
		t.Errorf("pushed again: %v", all[before:])
	}
	b.quiet()
	h.close()
	if looked := h.holdsNot(who.Password); looked < 3 {
		t.Errorf("%d files were looked at: the database is missing", looked)
	}
}

// holdsNot checks that no file or log of the house contains a secret. It returns the number of
// files searched.
func (h *house) holdsNot(secret string) (looked int) {
	h.t.Helper()
	if strings.Contains(h.log.String(), secret) {
		h.t.Error("the log holds what was typed")
	}
	for _, root := range []string{h.home, h.temp} {
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return nil
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return nil
			}
			looked++
			if bytes.Contains(text, []byte(secret)) {
				h.t.Errorf("%s holds what was typed", path)
			}
			return nil
		})
	}
	return looked
}

// Whatever is not the owner's own window gets nothing of the page, and the owner's gets what
// no picture shows: the browser's own windows for days and colours.
func TestPageIsTheOwnersAlone(t *testing.T) {
	t.Parallel()
	h, sim := street(t, chatgpt.Config{Seed: 6, Chats: 2})
	if _, err := sim.Sim.Site().Do(signin.Order{Page: signin.Pickers}); err != nil {
		t.Fatal(err)
	}
	b := h.signIn(t)
	h.pdpp("connect", "chatgpt", "--no-wait")
	b.visit(signInPage + "?opening")
	b.until(stageLive)
	b.picks(20, "date", "1991-12-24", "born 1991-12-24")
	b.dress(390, true)
	b.picks(70, "color", "#ff8800", "likes #ff8800")
	b.dress(1280, false)
	token, reading := h.token("all"), h.token("read")
	asked := h.handOff(token)
	asked.attacks(t, token, reading)

	// A second window sees that the page is elsewhere, and may take it.
	second := h.signIn(t)
	second.visit(signInPage)
	second.until(`document.querySelector(".stage").dataset.state === "elsewhere"`)
	second.shoot("sign-in-elsewhere")
	second.click(`[data-do=take]`)
	second.until(stageLive)
	second.points(200, 200)
	second.until(`document.activeElement?.dataset.part === "keys"`)
	b.until(`document.querySelector(".stage").dataset.state === "elsewhere"`)

	// Signing out elsewhere ends it within a second.
	h.pdpp("sessions", "end", "--all")
	began := time.Now()
	second.until(`location.pathname.startsWith("/login")`)
	t.Logf("signed out: gone after %v", time.Since(began))

	asked.replays(t)
	asked.closes(t, token)
}

// A hostile page remains a picture: its dialogs are shown as its own, nothing is downloaded, and
// blocked navigation is reported.
func TestHostilePage(t *testing.T) {
	t.Parallel()
	h, sim := street(t, chatgpt.Config{Seed: 7, Chats: 2})
	if _, err := sim.Sim.Site().Do(signin.Order{Page: signin.Hostile}); err != nil {
		t.Fatal(err)
	}
	b := h.signIn(t)
	h.pdpp("connect", "chatgpt", "--no-wait")
	b.visit(signInPage + "?opening")
	b.until(`document.querySelector("[data-part=dialog]:not([hidden])") !== null`)
	if got := b.text(`[data-part=dialog]`); !strings.Contains(got, "says:") ||
		!strings.Contains(got, "Your computer is at risk") {
		t.Errorf("the dialog: %q", got)
	}
	// Its title is text, beside the address that it cannot write.
	b.until(`document.querySelector("[data-part=picture]").getAttribute("aria-label").includes("<img id=")`)
	if b.has("#painted") || b.text(`[data-part=origin]`) != sim.BaseURL {
		t.Errorf("the page is said to be at %q", b.text(`[data-part=origin]`))
	}
	b.shoot("sign-in-dialog")
	b.press(`[data-part=dialog] .solid`)
	b.until(`document.querySelector("[data-part=dialog]:not([hidden])")?.innerText.includes("Install it now")`)
	b.press(`[data-part=dialog] button:last-child`)
	b.until(`document.querySelector("[data-part=refused]:not([hidden])") !== null`)
	if got := b.text(`[data-part=refused]`); !strings.Contains(got, "169.254.169.254") &&
		!strings.Contains(got, "10.0.0.1") {
		t.Errorf("refused: %q", got)
	}
	b.shoot("sign-in-refused")
	if n := sim.Sim.Site().State().Count; n.Downloads > 1 || n.Leaks > 0 {
		t.Errorf("%d downloads, %d things got out", n.Downloads, n.Leaks)
	}
	b.submit(`input[name=interaction_id]`)
}

// due asks for a run as the schedule does.
func (h *house) due(connectionID string) {
	h.t.Helper()
	st, err := sqlite.Open(h.t.Context(), filepath.Join(h.home, "pdpp.db"), sqlite.Options{})
	if err != nil {
		h.t.Fatal(err)
	}
	defer func() { _ = st.Close() }()
	now := time.Now()
	if _, err := st.RequestRun(h.t.Context(), store.RunRequest{ConnectionID: connectionID, Trigger: store.TriggerScheduled,
		RequestedAt: now}); err != nil {
		h.t.Fatal(err)
	}
}

// session signs in without a browser and returns the cookie.
func (h *house) session() string {
	h.t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.PostForm(h.ready.URL+"/login", url.Values{"password": {h.ready.Password}})
	if err != nil {
		h.t.Fatal(err)
	}
	defer answer.Body.Close()
	for _, c := range answer.Cookies() {
		if c.Name == "pdpp_session" {
			return c.Name + "=" + c.Value
		}
	}
	h.t.Fatalf("no session: %s", answer.Status)
	return ""
}

// token makes an owner token.
func (h *house) token(scope string) string {
	h.t.Helper()
	var made struct {
		Secret string `json:"secret"`
	}
	if err := json.Unmarshal([]byte(h.pdpp("tokens", "create", "Robot "+scope, "--scope", scope, "--json")),
		&made); err != nil || made.Secret == "" {
		h.t.Fatal(err, made)
	}
	return made.Secret
}
