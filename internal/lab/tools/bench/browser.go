package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/browser"
	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/protocol"
)

const (
	browserStarts  = 7
	browserFetches = 1000
	watchdogLimit  = 2 * time.Second
)

// atWill keeps the pace, which has figures of its own, out of these.
var atWill = map[string]string{"PDPP_BENCH_PACING_INITIAL_INTERVAL_MS": "0", "PDPP_BENCH_PACING_MIN_INTERVAL_MS": "0.001"}

// browserRoom is what a worker gives a run with a browser.
type browserRoom struct {
	dir     string
	binding protocol.BrowserBinding
	web     *httptest.Server
}

func newBrowserRoom(program string, web *httptest.Server) (*browserRoom, error) {
	dir, err := os.MkdirTemp("", "bench-*")
	if err != nil {
		return nil, err
	}
	at, err := url.Parse(web.URL)
	if err != nil {
		return nil, err
	}
	b := protocol.BrowserBinding{
		Program: program, Profile: filepath.Join(dir, "profile"), Home: filepath.Join(dir, "home"),
		Hosts: []string{at.Hostname()}, Local: []string{at.Host},
	}
	if os.Geteuid() == 0 {
		nobody, err := user.Lookup("nobody")
		if err != nil {
			return nil, err
		}
		uid, uidErr := strconv.ParseUint(nobody.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(nobody.Gid, 10, 32)
		if err := errors.Join(uidErr, gidErr); err != nil {
			return nil, err
		}
		b.User = &protocol.BrowserUser{UID: uint32(uid), GID: uint32(gid)}
	}
	for _, d := range []string{b.Profile, b.Home} {
		err := os.Mkdir(d, 0o700)
		if b.User != nil {
			err = errors.Join(err, os.Chown(d, int(b.User.UID), int(b.User.GID)))
		}
		if err != nil {
			return nil, err
		}
	}
	return &browserRoom{dir: dir, binding: b, web: web}, os.Chmod(dir, 0o755)
}

const browserManifest = `{
	"protocol_version": "0.1.0", "connector_id": "bench", "version": "1.0.0", "display_name": "Bench",
	"runtime_requirements": {"bindings": {"browser": {"required": true}, "network": {"required": true}}},
	"streams": [{"name": "items", "semantics": "append_only", "checkpoint": "slice", "primary_key": "id",
		"schema": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}}]
}`

// run runs a connector on the room's browser: probe is asked for the session, collect is
// called when that is proven. It returns when the browser is gone, with the time of DONE.
func (b *browserRoom) run(ctx context.Context, env map[string]string, probe func(context.Context, *browser.Page) (browser.State, error), collect func(context.Context, *browser.Browser) error) (time.Time, error) {
	failed := errors.New("the run did not get to its session")
	c := connectorkit.MustNew([]byte(browserManifest), func(ctx context.Context, s *connectorkit.Setup) ([]connectorkit.Collector, error) {
		open, err := browser.Open(ctx, s, browser.Site{Home: b.web.URL, Probe: probe})
		if err != nil {
			return nil, err
		}
		failed = collect(ctx, open)
		return nil, failed
	})
	raw, err := json.Marshal(b.binding)
	if err != nil {
		return time.Time{}, err
	}
	start, err := protocol.AppendLine(nil, &protocol.Start{
		RunID: "r", CollectionMode: protocol.Incremental, Scope: protocol.Scope{Streams: []protocol.StreamScope{{Name: "items"}}},
		Bindings: map[string]jsontext.Value{"browser": raw, "network": jsontext.Value("{}")}, DetailGaps: []protocol.GapEntry{},
	})
	if err != nil {
		return time.Time{}, err
	}
	stays, hold := io.Pipe()
	defer hold.Close()
	var said doneClock
	var log bytes.Buffer
	connectorkit.Run(ctx, c, connectorkit.Process{
		Stdin: io.MultiReader(bytes.NewReader(start), stays), Stdout: &said, Stderr: &log,
		Env: func(name string) string { return env[name] }, Now: time.Now,
	})
	if failed != nil {
		failed = fmt.Errorf("%w: %s", failed, strings.TrimSpace(log.String()))
	}
	return said.at, failed
}

// doneClock notes when the last message came.
type doneClock struct{ at time.Time }

func (d *doneClock) Write(b []byte) (int, error) {
	d.at = time.Now()
	return len(b), nil
}

// measureBrowser measures the browser of connectors, against chromedp's in the same run.
func measureBrowser(ctx context.Context, c config, dir string, r *report) error {
	program := os.Getenv("PDPP_TEST_CHROMIUM")
	if program == "" {
		found, err := exec.LookPath("chromium")
		if err != nil {
			fmt.Println("browser: left out, no Chromium on PATH")
			return nil
		}
		program = found
	}
	web := browserSite()
	defer web.Close()
	room, err := newBrowserRoom(program, web)
	if err != nil {
		return err
	}
	defer os.RemoveAll(room.dir)
	other, err := newBrowserRoom(program, web)
	if err != nil {
		return err
	}
	defer os.RemoveAll(other.dir)
	if err := r.startBrowsers(ctx, room, other); err != nil {
		return err
	}
	if err := r.useBrowser(ctx, room); err != nil {
		return err
	}
	if err := r.wedgeBrowser(ctx, room); err != nil {
		return err
	}
	return r.nameWedged(ctx, dir)
}

// nameWedged measures address and title of a page that loops. Nothing outside of the kit asks for
// them but by a question to the owner, so that the test of the kit measures.
func (r *report) nameWedged(ctx context.Context, dir string) error {
	file := filepath.Join(dir, "wedged")
	cmd := exec.CommandContext(ctx, "go", "test", "-count=1", "-vet=off", "-run", "^TestMetadataOfAPage$", "./connectorkit/browser", "-measure", file)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("name a page that loops: %w\n%s", err, out)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	took, err := strconv.ParseFloat(string(text), 64)
	r.tell(figure{Name: "browser: address and title of a page that loops", Value: took, Unit: "ms", Below: 50})
	return err
}

func browserSite() *httptest.Server {
	small, large := strings.Repeat("x", 1<<10), strings.Repeat("x", 1<<20)
	mux := http.NewServeMux()
	for path, body := range map[string]string{"/robots.txt": "User-agent: *", "/api/session": `{"account":"ada"}`, "/small": small, "/large": large} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			_, _ = io.WriteString(w, body) // whoever asked may be gone
		})
	}
	return httptest.NewServer(mux)
}

func live(ctx context.Context, p *browser.Page) (browser.State, error) {
	if _, err := p.Fetch(ctx, governhttp.Request{Path: "/api/session"}); err != nil {
		return nil, err
	}
	return browser.Live{Account: "ada"}, nil
}

// startBrowsers measures from nothing to a first answer of the site; both have a profile that
// was used before, and take turns.
func (r *report) startBrowsers(ctx context.Context, room, other *browserRoom) error {
	var ours, theirs, cpus, memories []float64
	for i := range browserStarts + 1 {
		began := time.Now()
		var took, cpu, memory float64
		_, err := room.run(ctx, atWill, live, func(context.Context, *browser.Browser) error {
			took = time.Since(began).Seconds()
			spent, err := costOf(room.dir)
			cpu, memory = spent.cpu, spent.shared
			return err
		})
		if err != nil {
			return fmt.Errorf("start the browser: %w", err)
		}
		their, err := startChromedp(ctx, other)
		if err != nil {
			return fmt.Errorf("start chromedp: %w", err)
		}
		if i == 0 {
			r.tell(figure{Name: "browser: start to a site's answer, fresh profile", Value: took, Unit: "s"})
			continue
		}
		ours, theirs, cpus, memories = append(ours, took), append(theirs, their), append(cpus, cpu), append(memories, memory)
	}
	r.tell(figure{Name: "browser: start to a site's answer, reused profile", Value: median(ours), Unit: "s", Below: 0.6, Note: fmt.Sprintf("median of %d; chromedp to a loaded page %.2f s", len(ours), median(theirs))})
	r.tell(figure{Name: "browser: CPU to the first answer", Value: median(cpus), Unit: "s", Below: 0.65})
	r.tell(figure{Name: "browser: memory of its processes on the quiet page", Value: median(memories), Unit: "MB", Below: 330})
	inverse := func(x []float64) []float64 {
		out := make([]float64, len(x))
		for i := range x {
			out[i] = 1 / x[i]
		}
		return out
	}
	r.compare("browser: starts against chromedp's", inverse(ours), inverse(theirs), 1.2)
	return nil
}

// startChromedp is the same with the library's own launcher.
func startChromedp(ctx context.Context, room *browserRoom) (float64, error) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(room.binding.Program), chromedp.UserDataDir(room.binding.Profile),
		chromedp.Env("HOME="+room.binding.Home), chromedp.ModifyCmdFunc(func(cmd *exec.Cmd) {
			if u := room.binding.User; u != nil {
				if cmd.SysProcAttr == nil {
					cmd.SysProcAttr = &syscall.SysProcAttr{}
				}
				cmd.SysProcAttr.Credential = &syscall.Credential{Uid: u.UID, Gid: u.GID}
				cmd.Dir = room.binding.Home
			}
		}))
	began := time.Now()
	allocated, end := chromedp.NewExecAllocator(ctx, options...)
	defer end()
	tab, endTab := chromedp.NewContext(allocated)
	defer endTab()
	if err := chromedp.Do(tab, chromedp.Navigate(room.web.URL+"/robots.txt")); err != nil {
		return 0, err
	}
	return time.Since(began).Seconds(), nil
}

// useBrowser measures requests of the page against direct ones, and what they leave behind.
func (r *report) useBrowser(ctx context.Context, room *browserRoom) error {
	ask := func(t http.RoundTripper, path string) (float64, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, room.web.URL+path, nil)
		if err != nil {
			return 0, err
		}
		began := time.Now()
		resp, err := t.RoundTrip(req)
		if err != nil {
			return 0, err
		}
		_, err = io.Copy(io.Discard, resp.Body)
		return time.Since(began).Seconds() * 1000, errors.Join(err, resp.Body.Close())
	}
	many := func(t http.RoundTripper, path string, n int) (float64, error) {
		var took []float64
		for range n {
			x, err := ask(t, path)
			if err != nil {
				return 0, err
			}
			took = append(took, x)
		}
		return median(took), nil
	}
	_, err := room.run(ctx, atWill, live, func(_ context.Context, b *browser.Browser) error {
		if _, err := many(b.Transport(), "/small", 100); err != nil {
			return err
		}
		before, err := costOf(room.dir)
		if err != nil {
			return err
		}
		small, err := many(b.Transport(), "/small", browserFetches)
		if err != nil {
			return err
		}
		after, err := costOf(room.dir)
		if err != nil {
			return err
		}
		large, err := many(b.Transport(), "/large", 10)
		if err != nil {
			return err
		}
		direct, err := many(http.DefaultTransport, "/small", browserFetches)
		if err != nil {
			return err
		}
		r.tell(figure{Name: "browser: 1 KB through the page beyond a direct request", Value: small - direct, Unit: "ms", Below: 5})
		r.tell(figure{Name: "browser: 1 MB through the page", Value: large, Unit: "ms"})
		r.tell(figure{Name: fmt.Sprintf("browser: memory of its own after %d requests against before", browserFetches), Value: after.own / before.own, Unit: "times", Below: 1.05})
		return nil
	})
	return err
}

// wedgeBrowser measures what a sign-in that hangs costs beyond its limit.
func (r *report) wedgeBrowser(ctx context.Context, room *browserRoom) error {
	var since time.Time // when the sign-in began to hang
	env := map[string]string{"PDPP_SESSION_ESTABLISH_WATCHDOG_MS": strconv.FormatInt(watchdogLimit.Milliseconds(), 10)}
	done, _ := room.run(ctx, env, func(ctx context.Context, p *browser.Page) (browser.State, error) {
		p.Checkpoint(ctx, "bench:hangs")
		since = time.Now()
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}, func(context.Context, *browser.Browser) error { return nil })
	if since.IsZero() {
		return errors.New("the sign-in did not begin")
	}
	r.tell(figure{Name: "browser: the watchdog's end to DONE, browser gone", Value: done.Sub(since.Add(watchdogLimit)).Seconds(), Unit: "s", Below: 5})
	return nil
}

// cost is what the processes of a browser have taken.
type cost struct {
	cpu    float64 // seconds
	shared float64 // megabytes, pages that others have too by share; other browsers make it less
	own    float64 // megabytes that they alone have, and wrote
}

// costOf sums up the processes that name the folder in their command or environment.
func costOf(dir string) (cost, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return cost{}, err
	}
	const ticks = 100 // of the kernel, in a second
	var sum cost
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		at := func(name string) string {
			text, _ := os.ReadFile(filepath.Join("/proc", e.Name(), name)) // it may be gone
			return string(text)
		}
		if !strings.Contains(at("cmdline"), dir) && !strings.Contains(at("environ"), dir) {
			continue
		}
		stat := at("stat")
		if fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:]); len(fields) > 14 {
			for _, f := range fields[11:15] { // its own and that of its dead children, in user and system mode
				n, _ := strconv.ParseFloat(f, 64)
				sum.cpu += n / ticks
			}
		}
		for line := range strings.Lines(at("smaps_rollup")) {
			if kb, ok := strings.CutPrefix(line, "Pss:"); ok {
				n, _ := strconv.ParseFloat(strings.Fields(kb)[0], 64)
				sum.shared += n / 1000
			}
			if kb, ok := strings.CutPrefix(line, "Private_Dirty:"); ok {
				n, _ := strconv.ParseFloat(strings.Fields(kb)[0], 64)
				sum.own += n / 1000
			}
		}
	}
	if sum.own == 0 {
		return cost{}, errors.New("the browser's processes were not found")
	}
	return sum, nil
}
