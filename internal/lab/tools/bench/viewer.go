package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
	"time"

	cdpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

const (
	viewerConnects = 5
	viewerJoins    = 7
	viewerKeys     = 60
	viewerRate     = 4 * time.Second
)

// signInPage is a page to sign in on: a key changes the colour of all of it, and from the key
// "m" on it never stands still.
const signInPage = `<!doctype html><title>Sign in</title>
<style>html, body { margin: 0; height: 100%; overflow: hidden; background: rgb(0, 160, 0); } canvas { position: fixed; inset: 40px 0 0 0; }</style>
<script>
let odd = false;
addEventListener("keydown", e => {
	odd = !odd;
	document.documentElement.style.background = document.body.style.background = odd ? "rgb(200, 0, 0)" : "rgb(0, 160, 0)";
	if (e.key !== "m") return;
	const c = document.body.appendChild(document.createElement("canvas"));
	c.width = innerWidth; c.height = innerHeight;
	const p = c.getContext("2d");
	let n = 0;
	const move = () => {
		n++;
		for (let i = 0; i < 60; i++) { p.fillStyle = "hsl(" + (n * 7 + i * 6) % 360 + " 70% 50%)"; p.fillRect(i * c.width / 60, (n * 5 + i * 40) % c.height, c.width / 60, 120); }
		requestAnimationFrame(move);
	};
	move();
});
</script>`

// viewerProbe is put into every document of the owner's window: it notes when pictures are
// painted and of which colour they are.
const viewerProbe = `(() => {
	const seen = window.bench = {pictures: 0, first: 0, colour: "", keys: [], waiting: 0};
	const draw = CanvasRenderingContext2D.prototype.drawImage;
	addEventListener("keydown", e => { seen.waiting = e.timeStamp; }, true);
	CanvasRenderingContext2D.prototype.drawImage = function (...given) {
		draw.apply(this, given);
		const [r, g] = this.getImageData(20, 20, 1, 1).data;
		const colour = r > 150 && g < 80 ? "red" : g > 110 && r < 80 ? "green" : "";
		seen.pictures++;
		const changed = colour && colour !== seen.colour;
		if (!changed) return;
		const since = seen.colour ? seen.waiting : 0;
		seen.colour = colour;
		requestAnimationFrame(() => setTimeout(() => { // when that is on the screen
			if (!seen.first) seen.first = performance.timeOrigin + performance.now();
			if (since) seen.keys.push(performance.now() - since);
		}));
	};
})();`

// measureViewer measures what the owner of a connection sees of its browser: a real server and
// its console, a run with a real browser, and the owner's own, all on this machine.
func measureViewer(ctx context.Context, _ config, dir string, r *report) error {
	program := os.Getenv("PDPP_TEST_CHROMIUM")
	if program == "" {
		found, err := exec.LookPath("chromium")
		if err != nil {
			fmt.Println("viewer: left out, no Chromium on PATH")
			return nil
		}
		program = found
	}
	p, err := build(ctx, dir)
	if err != nil {
		return err
	}
	site := viewerSite()
	defer site.Close()
	at, err := url.Parse(site.URL)
	if err != nil {
		return err
	}
	home, err := os.MkdirTemp(dir, "viewer-")
	if err != nil {
		return err
	}
	p.env = []string{"PDPP_CHATGPT_BASE_URL=" + site.URL, "PDPP_BROWSER_LOCAL=" + at.Host, "TMPDIR=" + os.TempDir()}
	s, err := p.serve(ctx, home, "", "--listen", "127.0.0.1:0")
	if err != nil {
		return err
	}
	w, end, err := openWindow(ctx, program, site, s)
	if err == nil {
		err = r.watchBrowser(w)
		end()
	}
	_, stopErr := s.stop()
	return errors.Join(err, stopErr)
}

// viewerSite is a site where nobody is signed in.
func viewerSite() *httptest.Server {
	mux := http.NewServeMux()
	for path, answer := range map[string][2]string{
		"/robots.txt": {"text/plain", "User-agent: *"}, "/api/auth/session": {"application/json", "{}"}, "/auth/login": {"text/html", signInPage},
	} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", answer[0])
			_, _ = io.WriteString(w, answer[1]) // whoever asked may be gone
		})
	}
	return httptest.NewServer(mux)
}

// ownWindow is a window of the owner's browser, signed in to the console.
type ownWindow struct {
	ctx  context.Context
	base string
}

// openWindow starts the owner's browser and signs in to the console.
func openWindow(ctx context.Context, program string, site *httptest.Server, s *server) (*ownWindow, func(), error) {
	room, err := newBrowserRoom(program, site)
	if err != nil {
		return nil, nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.UserDataDir(room.binding.Profile), chromedp.WindowSize(1400, 1000),
		chromedp.Env("HOME="+room.binding.Home), chromedp.ModifyCmdFunc(func(cmd *exec.Cmd) {
			if u := room.binding.User; u != nil {
				if cmd.SysProcAttr == nil {
					cmd.SysProcAttr = &syscall.SysProcAttr{}
				}
				cmd.SysProcAttr.Credential = &syscall.Credential{Uid: u.UID, Gid: u.GID}
				cmd.Dir = room.binding.Home
			}
		}))
	allocated, endBrowser := chromedp.NewExecAllocator(ctx, options...)
	tab, endTab := chromedp.NewContext(allocated)
	end := func() {
		endTab()
		endBrowser()
		_ = os.RemoveAll(room.dir)
	}
	w := &ownWindow{ctx: tab, base: s.url}
	err = chromedp.Do(tab, chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, cdpage.AddScriptToEvaluateOnNewDocument, cdpage.AddScriptToEvaluateOnNewDocumentParams{Source: viewerProbe})
		return err
	}))
	if err == nil {
		err = w.signIn(s.password)
	}
	if err != nil {
		end()
		return nil, nil, err
	}
	return w, end, nil
}

func (w *ownWindow) visit(path string) error {
	return chromedp.Do(w.ctx, chromedp.Navigate(w.base+path))
}

// ask gives what an expression of the page is.
func ask[T any](w *ownWindow, expression string) (T, error) {
	return chromedp.Run(w.ctx, chromedp.Evaluate[T](expression))
}

// until waits for an expression to become true. A page that is on its way to another cannot be
// asked, which is no answer.
func (w *ownWindow) until(expression string) error {
	limit := time.Now().Add(time.Minute)
	for {
		if ok, err := ask[bool](w, expression); err == nil && ok {
			return nil
		}
		if time.Now().After(limit) {
			at, _ := ask[string](w, `location.href + " " + document.body.innerText.slice(0, 400)`)
			return fmt.Errorf("never true: %s at %s", expression, at)
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-w.ctx.Done():
			return context.Cause(w.ctx)
		}
	}
}

func (w *ownWindow) signIn(password string) error {
	if err := w.visit("/"); err != nil {
		return err
	}
	if _, err := ask[bool](w, fmt.Sprintf(`(() => { const f = document.querySelector("input[name=password]"); f.value = %q; f.form.requestSubmit(); return true; })()`, password)); err != nil {
		return fmt.Errorf("sign in to the console: %w", err)
	}
	return w.until(`location.pathname === "/"`)
}

// connect connects the source, and tells how many seconds later its sign-in page is seen.
func (w *ownWindow) connect() (float64, error) {
	if err := w.visit("/add/chatgpt"); err != nil {
		return 0, err
	}
	if err := w.until(`document.querySelector("form[data-add]") !== null`); err != nil {
		return 0, err
	}
	pressed, err := ask[float64](w, `(() => { const at = performance.timeOrigin + performance.now(); document.querySelector("form[data-add]").requestSubmit(); return at; })()`)
	if err != nil {
		return 0, err
	}
	if err := w.until(`window.bench?.first > 0`); err != nil {
		return 0, err
	}
	first, err := ask[float64](w, `bench.first`)
	return (first - pressed) / 1000, err
}

// cancel ends what the run asks.
func (w *ownWindow) cancel() error {
	if _, err := ask[bool](w, `(document.querySelector("button[value=cancelled]").click(), true)`); err != nil {
		return err
	}
	return w.until(`!location.pathname.endsWith("/page")`)
}

// press types one key into the page that is shown, and waits for its picture.
func (w *ownWindow) press(key string, n int) error {
	if err := chromedp.Do(w.ctx, chromedp.KeyEvent(key)); err != nil {
		return err
	}
	return w.until("bench.keys.length >= " + strconv.Itoa(n))
}

func (r *report) watchBrowser(w *ownWindow) error {
	var connects []float64
	for i := range viewerConnects + 1 {
		took, err := w.connect()
		if err != nil {
			return fmt.Errorf("connect: %w", err)
		}
		if i > 0 { // the first one finds nothing in the machine's memory
			connects = append(connects, took)
		}
		if i == viewerConnects {
			break
		}
		if err := w.cancel(); err != nil {
			return fmt.Errorf("cancel: %w", err)
		}
	}
	r.tell(figure{Name: "viewer: Connect to the first picture", Value: median(connects), Unit: "s", Below: 3, Note: fmt.Sprintf("median of %d, the slowest %.1f s", len(connects), slices.Max(connects))})
	path, err := ask[string](w, "location.pathname")
	if err != nil {
		return err
	}
	var joins []float64
	for range viewerJoins {
		if err := errors.Join(w.visit("/connections"), w.visit(path), w.until("bench.first > 0")); err != nil {
			return fmt.Errorf("join: %w", err)
		}
		took, err := ask[float64](w, "bench.first - performance.timeOrigin")
		if err != nil {
			return err
		}
		joins = append(joins, took)
	}
	r.tell(figure{Name: "viewer: opened to the first picture, browser up", Value: median(joins), Unit: "ms", Below: 250, Note: fmt.Sprintf("median of %d", len(joins))})
	if _, err := ask[bool](w, `(document.querySelector("[data-part=keys]").focus(), true)`); err != nil {
		return err
	}
	for n := range viewerKeys {
		if err := w.press("x", n+1); err != nil {
			return fmt.Errorf("press a key: %w", err)
		}
	}
	keys, err := ask[[]float64](w, "bench.keys")
	if err != nil {
		return err
	}
	slices.Sort(keys)
	r.tell(figure{Name: "viewer: key to painted picture, median", Value: median(keys), Unit: "ms", Below: 40, Note: fmt.Sprintf("%d keys", len(keys))})
	r.tell(figure{Name: "viewer: key to painted picture, 95 of 100", Value: keys[len(keys)*95/100], Unit: "ms", Below: 80})
	return r.watchMoving(w)
}

// watchMoving counts pictures of a page that never stands still.
func (r *report) watchMoving(w *ownWindow) error {
	if err := w.press("m", viewerKeys+1); err != nil {
		return err
	}
	before, err := ask[float64](w, "bench.pictures")
	if err != nil {
		return err
	}
	began := time.Now()
	select {
	case <-time.After(viewerRate):
	case <-w.ctx.Done():
		return context.Cause(w.ctx)
	}
	after, err := ask[float64](w, "bench.pictures")
	if err != nil {
		return err
	}
	size, err := ask[string](w, `(c => c.width + " x " + c.height)(document.querySelector("[data-part=picture]"))`)
	if err != nil {
		return err
	}
	r.tell(figure{Name: "viewer: pictures of a moving page", Value: (after - before) / time.Since(began).Seconds(), Unit: "per s", AtLeast: 25, Note: size})
	return w.cancel()
}
