package consoletest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// patience bounds every wait for the browser, which a busy machine makes slow.
const patience = 5 * time.Minute

// chromium starts one browser for all tests; each has a window and cookies of its own.
var chromium = sync.OnceValues(func() (context.Context, error) {
	program := os.Getenv("PDPP_TEST_CHROMIUM")
	if program == "" {
		return nil, fmt.Errorf("PDPP_TEST_CHROMIUM is not set; run `make test`, which finds or installs a browser")
	}
	home, err := os.MkdirTemp("", "pdpp-chromium")
	if err != nil {
		return nil, err
	}
	atEnd(func() { _ = os.RemoveAll(home) })
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program),
		chromedp.Env("HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+home),
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("hide-scrollbars", true),
		// The browser's own invisible pages would take most of its start time.
		chromedp.Flag("disable-features",
			"Translate,WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup,SpareRendererForSitePerProcess,"+
				"OptimizationHints,MediaRouter"))
	if os.Geteuid() == 0 {
		unprivileged, err := asNobody(home)
		if err != nil {
			return nil, err
		}
		options = append(options, unprivileged)
	}
	ctx, err := launch(append(options, chromedp.UserDataDir(filepath.Join(home, "profile"))))
	if err == nil {
		return ctx, nil
	}
	// Some containers have nothing to make a sandbox of; what is looked at is our own.
	ctx, second := launch(append(options, chromedp.UserDataDir(filepath.Join(home, "second")), chromedp.NoSandbox))
	if second != nil {
		return nil, errors.Join(err, second)
	}
	return ctx, nil
})

// launch starts a browser and waits until it shows a page. It ends with the tests.
func launch(options []chromedp.ExecAllocatorOption) (context.Context, error) {
	allocated, end := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, endBrowser := chromedp.NewContext(allocated)
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		endBrowser()
		end()
		return nil, err
	}
	atEnd(end)
	atEnd(endBrowser)
	return ctx, nil
}

// closers run when all tests are over, the last first.
var closers struct {
	sync.Mutex
	all []func()
}

func atEnd(do func()) {
	closers.Lock()
	defer closers.Unlock()
	closers.all = append(closers.all, do)
}

// atOnce is how many tests run beside each other: most of what they do is to wait.
const atOnce = "4"

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", atOnce); err != nil {
		panic(err)
	}
	code := m.Run()
	for _, do := range slices.Backward(closers.all) {
		do()
	}
	os.Exit(code)
}

// asNobody lets the browser run without root's rights, so that its own sandbox works.
func asNobody(home string) (chromedp.ExecAllocatorOption, error) {
	unprivileged, err := user.Lookup("nobody")
	if err != nil {
		return nil, err
	}
	uid, err := strconv.ParseUint(unprivileged.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(unprivileged.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	if err := os.Chown(home, int(uid), int(gid)); err != nil {
		return nil, err
	}
	return chromedp.ModifyCmdFunc(func(cmd *exec.Cmd) {
		if cmd.SysProcAttr == nil {
			cmd.SysProcAttr = &syscall.SysProcAttr{}
		}
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		cmd.Dir = home
	}), nil
}

// tab is one window of the browser.
type tab struct {
	t    *testing.T
	ctx  context.Context
	base string

	width  int64  // of the window
	scheme string // the theme

	mu    sync.Mutex
	texts []string // what the page wrote to its console
}

// open returns a window without cookies.
func open(t *testing.T, base string) *tab {
	t.Helper()
	browser, err := chromium()
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	t.Cleanup(end)
	b := &tab{t: t, ctx: ctx, base: base}
	// The window lives as long as the context of its first step.
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		t.Fatal(err)
	}
	// Every window behaves as focused, even while another one is in front.
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetFocusEmulationEnabled,
			emulation.SetFocusEmulationEnabledParams{Enabled: true})
		return err
	}))
	b.dress(1280, false)
	go func() {
		for m, err := range chromedp.Console(ctx) {
			if err != nil {
				return
			}
			b.mu.Lock()
			b.texts = append(b.texts, fmt.Sprint(m))
			b.mu.Unlock()
		}
	}()
	return b
}

func run[T any](b *tab, a chromedp.Action[T]) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, a)
	if err != nil {
		b.t.Fatalf("in the browser: %v\nat %s", err, b.where())
	}
	return v
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	run(b, chromedp.Steps(steps...))
}

// where is for messages, and forgives a browser that does not answer.
func (b *tab) where() string {
	ctx, cancel := context.WithTimeout(b.ctx, 5*time.Second)
	defer cancel()
	at, err := chromedp.Run(ctx,
		chromedp.Evaluate[string](`location.href + "\n" + document.body.innerText.slice(0, 1500)`))
	if err != nil {
		return "an unknown page"
	}
	return at
}

func (b *tab) visit(path string) { b.t.Helper(); b.do(chromedp.Navigate(b.base + path)) }

// pressing is a script that returns the point at which to click an element: visible, in the
// window, and not covered. It also records whether the next click hits such an element, because
// the page may be redrawn before the click. A click that hits another element has no effect.
const pressing = `(css => {
	const e = document.querySelector(css);
	if (!e?.checkVisibility()) return null;
	e.scrollIntoView({block: "center", inline: "center", behavior: "instant"});
	const r = e.getClientRects()[0], x = r.left + r.width / 2, y = r.top + r.height / 2;
	if (!e.contains(document.elementFromPoint(x, y))) return null;
	window.pressed = false;
	removeEventListener("click", window.pressListener, true);
	window.pressListener = c => {
		window.pressed = c.target.closest(css) !== null;
		if (!window.pressed) { c.preventDefault(); c.stopImmediatePropagation(); }
	};
	addEventListener("click", window.pressListener, {capture: true, once: true});
	return [x, y];
})`

// click presses with the mouse what is visible, and sees that it was met.
func (b *tab) click(css string) {
	b.t.Helper()
	b.again("clicking "+css, func(ctx context.Context) bool {
		at, err := chromedp.Run(ctx, chromedp.Evaluate[[]float64](fmt.Sprintf("%s(%q)", pressing, css)))
		if err != nil || at == nil {
			return false
		}
		if err := chromedp.Do(ctx, chromedp.MouseClickXY(at[0], at[1])); err != nil {
			b.t.Fatalf("clicking %s: %v\nat %s", css, err, b.where())
		}
		missed, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`window.pressed === false`))
		// another page does not know of it, and one that is on its way to another cannot be asked
		return err != nil || !missed
	})
}

// text reads an element in one evaluation, because the page may redraw it between two.
func (b *tab) text(css string) (message string) {
	b.t.Helper()
	b.again("reading "+css, func(ctx context.Context) bool {
		text, err := chromedp.Run(ctx,
			chromedp.Evaluate[*string](fmt.Sprintf(`(e => e?.checkVisibility() ? e.innerText : null)`+
				`(document.querySelector(%q))`, css)))
		if err != nil || text == nil {
			return false
		}
		message = strings.TrimSpace(*text)
		return true
	})
	return message
}

func (b *tab) path() string {
	b.t.Helper()
	return strings.TrimPrefix(run(b, chromedp.Location()), b.base)
}
func (b *tab) wait(css string) {
	b.t.Helper()
	b.until(fmt.Sprintf(`document.querySelector(%q)?.checkVisibility() === true`, css))
}

// fill writes into a field and keeps the focus there, because a page does not update a focused
// field.
func (b *tab) fill(css, value string) {
	b.t.Helper()
	b.until(fmt.Sprintf(`(e => e?.checkVisibility() ? (e.focus(), e.value = %q, true) : false)`+
		`(document.querySelector(%q))`, value, css))
}

// press clicks a visible element in one evaluation, because the page may redraw it between two.
func (b *tab) press(css string) {
	b.t.Helper()
	b.until(fmt.Sprintf(`(e => e?.checkVisibility() ? (e.click(), true) : false)(document.querySelector(%q))`, css))
}

// submit presses the button of the form that an element belongs to, or the Enter key in a form without a button.
func (b *tab) submit(css string) {
	b.t.Helper()
	b.until(fmt.Sprintf(`((form) => { if (!form) return false; `+
		`const button = form.querySelector("button[type=submit], button:not([type])"); `+
		`button ? button.click() : form.requestSubmit(); return true; })(document.querySelector(%q)?.form)`, css))
}

// eval returns the value of a JavaScript expression.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	return run(b, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// until waits for an expression to become true.
func (b *tab) until(expression string) {
	b.t.Helper()
	b.again("waiting for "+expression, func(ctx context.Context) bool { return b.holds(ctx, expression) })
}

// holds reports whether an expression is true of a page that is there with all its elements. A page
// has its address before it has those, and one that is on its way to another cannot be asked.
func (b *tab) holds(ctx context.Context, expression string) bool {
	ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`document.readyState !== "loading" && (`+expression+`)`))
	return err == nil && ok
}

// again does something until it succeeds.
func (b *tab) again(what string, succeeds func(context.Context) bool) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !succeeds(ctx) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			b.t.Fatalf("%s: it never came\nat %s", what, b.where())
		}
	}
}

func (b *tab) has(css string) bool {
	b.t.Helper()
	return eval[bool](b, fmt.Sprintf("document.querySelector(%q) !== null", css))
}

// all returns the text of every element that matches the selector.
func (b *tab) all(css string) []string {
	b.t.Helper()
	return eval[[]string](b, fmt.Sprintf("[...document.querySelectorAll(%q)].map(e => e.innerText.trim())", css))
}

// dress sets the width of the window and the theme. It skips unchanged values, because each change
// redraws the page.
func (b *tab) dress(width int64, dark bool) {
	b.t.Helper()
	if b.width != width {
		b.width = width
		height := int64(900)
		if width < 600 {
			height = 844
		}
		b.do(chromedp.EmulateViewport(width, height))
	}
	scheme := map[bool]string{false: "light", true: "dark"}[dark]
	if b.scheme == scheme {
		return
	}
	b.scheme = scheme
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			// Endless animations would cost processor time and no test needs them.
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme},
				{Name: "prefers-reduced-motion", Value: "reduce"}},
		})
		return err
	}))
}

// picture keeps what the page looks like for people, in build/shots, when PDPP_TEST_SHOTS asks for it.
func (b *tab) picture(name string) {
	b.t.Helper()
	if os.Getenv("PDPP_TEST_SHOTS") == "" {
		return
	}
	dir := filepath.Join("..", "..", "..", "build", "shots")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".jpg"), run(b, chromedp.FullScreenshot(90)), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// publish writes the visible part of a page in both themes to docs/images, for the documents, if
// PDPP_TEST_SCREENSHOTS is set.
func (b *tab) publish(name string) {
	b.t.Helper()
	if os.Getenv("PDPP_TEST_SCREENSHOTS") == "" {
		return
	}
	folder := filepath.Join("..", "..", "..", "docs", "images")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		b.t.Fatal(err)
	}
	for theme, dark := range map[string]bool{"light": false, "dark": true} {
		b.dress(1280, dark)
		picture := run(b, chromedp.CaptureScreenshot())
		if err := os.WriteFile(filepath.Join(folder, name+"-"+theme+".png"), picture, 0o644); err != nil {
			b.t.Fatal(err)
		}
	}
	b.dress(1280, false)
}

// forgive removes exactly the stated number of browser messages about responses that the test
// expected.
func (b *tab) forgive(text string, times int) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	before := len(b.texts)
	b.texts = slices.DeleteFunc(b.texts, func(line string) bool { return strings.Contains(line, text) })
	if got := before - len(b.texts); got != times {
		b.t.Errorf("the page said %d times, not %d: %s", got, times, text)
	}
}

// quiet checks that no page violated its own policy or logged an error. It ignores the browser's
// advice to developers, and blocked autofocus when a field was focused before the page did so.
func (b *tab) quiet() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, line := range b.texts {
		if strings.HasPrefix(line, "debug:") || strings.Contains(line, "Autofocus processing was blocked") {
			continue
		}
		b.t.Errorf("the page said: %s", line)
	}
}
