package consoletest

import (
	"bufio"
	"context"
	"io"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"

	"github.com/pdpp-go/pdpp/internal/cli"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
)

// clocked is `pdpp serve` in this process, with a clock that the test turns.
type clocked struct {
	t    *testing.T
	home string
	port string
	by   atomic.Int64
}

const ownPassword = "correct horse battery"

func (c *clocked) env(args ...string) cli.Env {
	vars := map[string]string{"PDPP_HOME": c.home, "PDPP_OWNER_PASSWORD": ownPassword}
	return cli.Env{
		Args: args, Stdin: strings.NewReader(""), Stderr: io.Discard, Holder: "house:1",
		Lookup:   func(name string) (string, bool) { v, ok := vars[name]; return v, ok },
		LookPath: func(string) (string, error) { return "", os.ErrNotExist },
		Exit:     func(int) {},
		Now:      func() time.Time { return time.Now().Add(time.Duration(c.by.Load())) },
	}
}

func (c *clocked) later(by time.Duration) { c.by.Add(int64(by)) }

func (c *clocked) pdpp(args ...string) string {
	c.t.Helper()
	var out strings.Builder
	env := c.env(args...)
	env.Stdout = &out
	if code := cli.Main(env); code != failure.ExitOK {
		c.t.Fatalf("pdpp %v: %d", args, code)
	}
	return out.String()
}

func serveByClock(t *testing.T) *clocked {
	t.Helper()
	c := &clocked{t: t, home: t.TempDir()}
	out, in := io.Pipe()
	stop := make(chan os.Signal, 1)
	env := c.env("serve", "--listen", "127.0.0.1:0")
	env.Stdout, env.Interrupts = in, stop
	over := make(chan struct{})
	go func() { defer close(over); cli.Main(env); in.Close() }()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	go io.Copy(io.Discard, out)
	c.port = regexp.MustCompile(`127\.0\.0\.1:(\d+)`).FindStringSubmatch(line)[1]
	t.Cleanup(func() { stop <- syscall.SIGTERM; <-over })
	return c
}

// authenticator adds a virtual authenticator with a screen lock to the window, and returns its id.
func (b *tab) authenticator() webauthn.AuthenticatorID {
	b.t.Helper()
	var id webauthn.AuthenticatorID
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		if _, err := chromedp.Call(ctx, webauthn.Enable, webauthn.EnableParams{}); err != nil {
			return err
		}
		made, err := chromedp.Call(ctx, webauthn.AddVirtualAuthenticator,
			webauthn.AddVirtualAuthenticatorParams{Options: &webauthn.VirtualAuthenticatorOptions{
				Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal,
				HasResidentKey: true, HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true,
			}})
		if err == nil {
			id = made.AuthenticatorID
		}
		return err
	}))
	return id
}

// forge lets the device answer with signatures of zeros.
func (b *tab) forge(id webauthn.AuthenticatorID, forged bool) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, webauthn.SetResponseOverrideBits,
			webauthn.SetResponseOverrideBitsParams{AuthenticatorID: id, IsBogusSignature: &forged})
		return err
	}))
}

// unlock sets whether the authenticator's screen lock is open.
func (b *tab) unlock(id webauthn.AuthenticatorID, opened bool) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, webauthn.SetUserVerified,
			webauthn.SetUserVerifiedParams{AuthenticatorID: id, IsUserVerified: opened})
		return err
	}))
}

// usePasskey presses the button, and keeps what the page sends.
func (b *tab) usePasskey(kind string) {
	b.t.Helper()
	b.until(`!document.querySelector("[data-passkey=` + kind + `]").hidden`)
	eval[bool](b, `(() => { const send = fetch; window.fetch = (to, how) => { sessionStorage.setItem("sent", how.body)`+
		`; return send(to, how); }; return true; })()`)
	b.click("[data-passkey=" + kind + "]")
}

const refusedPasskey = `document.querySelector("[data-passkey-say]").textContent.includes("That passkey was not ` +
	`accepted")`

// A passkey is added, signs in, confirms and is removed, in a real browser; what is
// forged, locked, replayed or removed does none of it.
func TestPasskeys(t *testing.T) {
	t.Parallel()
	c := serveByClock(t)
	byAddress := open(t, "http://127.0.0.1:"+c.port)
	byAddress.visit("/login")
	if byAddress.has("[data-passkey]") {
		t.Error("a passkey is offered where none works")
	}
	b := open(t, "http://localhost:"+c.port)
	device := b.authenticator()
	b.visit("/login/recovery")
	b.shoot("login-recovery")
	b.visit("/login?next=/settings/sign-in")
	b.shoot("login-passkey")
	b.fill(`input[name=password]`, ownPassword)
	b.submit(`input[name=password]`)
	b.until(`location.pathname === "/settings/sign-in"`)

	b.fill("#passkey-label", "Desk")
	b.usePasskey("add")
	b.until(`document.querySelectorAll("[data-passkey-id]").length === 1`)
	if got := b.text("[data-passkey-id]"); !strings.Contains(got, "Desk") || !strings.Contains(got, "localhost") ||
		!strings.Contains(got, "Not used yet") {
		t.Errorf("the passkey is shown as %q", got)
	}
	if got := c.pdpp("passkeys"); !strings.Contains(got, "Desk") {
		t.Errorf("the command says %q", got)
	}
	b.usePasskey("add") // the device has one for this server
	b.until(`document.querySelector("[data-passkey-say]").textContent.includes("has a passkey for this server already")`)
	b.fill("#token-label", "Night script")
	b.submit("#token-label")
	b.until(`document.querySelector("#new-token") !== null`)
	b.until(`document.querySelectorAll("[data-token]").length === 1`)
	b.shoot("settings-sign-in")
	b.click(`form[action="/settings/recovery-codes"] button`)
	b.until(`document.querySelectorAll("[data-codes] li").length === 10`)
	code := b.all("[data-codes] li")[0]

	out := func() {
		t.Helper()
		eval[bool](b, `(document.querySelector('form[action="/logout"]').submit(), true)`)
		b.until(`location.pathname === "/login"`)
	}
	out()
	b.forge(device, true)
	b.usePasskey("sign_in")
	b.until(refusedPasskey)
	b.forge(device, false)
	b.unlock(device, false)
	b.usePasskey("sign_in")
	b.until(`document.querySelector("[data-passkey-say]").textContent.includes("The browser gave no passkey")`)
	b.unlock(device, true)
	b.usePasskey("sign_in")
	b.until(`location.pathname === "/"`)
	if got := c.pdpp("sessions"); !strings.Contains(got, "Passkey") {
		t.Errorf("the sessions are %q", got)
	}

	c.later(11 * time.Minute)
	b.visit("/settings/sign-in")
	b.shoot("settings-sign-in-stale")
	b.visit("/settings/password")
	b.until(`location.pathname === "/confirm"`)
	b.shoot("confirm")
	b.usePasskey("confirm")
	b.until(`location.pathname === "/settings/password"`)
	b.shoot("settings-password")
	replayed := `fetch("/passkey/confirm/finish", {method: "POST", headers: {"Content-Type": "application/json"}, ` +
		`body: sessionStorage.getItem("sent")}).then(r => r.status)`
	if status := eval[int](b, replayed); status != 401 {
		t.Errorf("an answer that is sent again gets %d", status)
	}

	b.visit("/settings/sign-in")
	if got := b.text("[data-passkey-id]"); strings.Contains(got, "Not used yet") {
		t.Errorf("the passkey is shown as %q", got)
	}
	b.click(`[data-passkey-id] button`)
	b.until(`document.querySelectorAll("[data-passkey-id]").length === 0`)
	out()
	b.usePasskey("sign_in")
	b.until(refusedPasskey)

	b.visit("/login/recovery")
	b.fill("#code", code)
	b.submit("#code")
	b.until(`location.pathname === "/settings/password"`)
	b.fill("#p-next", "a new long password")
	b.fill("#p-again", "a new long password")
	b.submit("#p-next")
	b.until(`location.pathname === "/settings/sign-in"`)
	if got := b.text("[data-codes-left]"); got != "9 of 10 left" {
		t.Errorf("the codes are %q", got)
	}
	b.forgive("status of 401", 3) // the forged one, the replayed one and the removed one
	b.quiet()
	byAddress.quiet()
}
