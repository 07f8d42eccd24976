package browser

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	chromium "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/target"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit/browser/internal/devtools"
	"github.com/pdpp-go/pdpp/protocol"
)

const (
	// startTimeout bounds how long a browser may take to answer.
	startTimeout = 60 * time.Second
	// closeTimeout bounds how long it may take to end; then its group is killed.
	closeTimeout = 3 * time.Second
	// maxStoredOutput is how much of what it writes is kept for the error of a failed start.
	maxStoredOutput = 8 << 10
)

// maxTempPath is how long the name of a folder may be in which the browser makes its socket;
// the system bounds the name of that.
const maxTempPath = 56

// browserFlags keep the browser from doing what no page asked for.
var browserFlags = []string{
	"--no-first-run", "--no-default-browser-check", "--hide-crash-restore-bubble", "--password-store=basic",
	"--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup,SpareRendererForSitePerProcess," +
		"Translate,OptimizationHints,MediaRouter",
	"--disable-extensions", "--disable-component-extensions-with-background-pages", "--disable-background-networking",
	"--disable-component-update", "--disable-sync", "--disable-default-apps",
}

// process is a running browser. Its own process group protects it from signals to the connector. It exits when its
// pipe closes, so that a killed connector leaves nothing behind, and saves its session before. A parent-death signal
// would take that time away.
type process struct {
	conn    *devtools.Conn
	browser *devtools.Session // the conversation with the browser itself
	cmd     *exec.Cmd
	pipe    [2]*os.File // ours: commands, answers
	output  *browserOutput
	exited  chan struct{} // closed when the main process is gone

	ending sync.Once
}

// launch starts the browser of the binding and waits until it answers.
func launch(ctx context.Context, b protocol.BrowserBinding) (*process, error) {
	p, err := startProcess(b)
	if err != nil {
		return nil, err
	}
	limit, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := p.ready(limit); err != nil {
		p.end(context.WithoutCancel(ctx))
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		p.output.wait(closeTimeout)
		return nil, fmt.Errorf("start the browser: %w%s", err, p.output.lastLine())
	}
	return p, nil
}

func (p *process) ready(ctx context.Context) error {
	version, err := cdp.Call(ctx, p.browser, chromium.GetVersion, cdp.Empty{})
	if err != nil {
		return err
	}
	if err := checkVersion(version.Product); err != nil {
		return err
	}
	crashes, _ := p.browser.Subscribe(target.TargetCrashed.Method) // it ends with the browser
	p.conn.Go(func(context.Context) { p.watchCrashes(crashes) })
	_, err = cdp.Call(ctx, p.browser, target.SetDiscoverTargets, target.SetDiscoverTargetsParams{Discover: true})
	return err
}

// minChromiumVersion is the first version of Chromium that keeps the pages of the Internet from addresses of this
// machine and its network in all kinds of requests. The guard judges documents; the other kinds are the browser's to
// refuse, and before this version it does not refuse WebSockets.
const minChromiumVersion = 147

// errTooOld means that the browser is older than that.
var errTooOld = fmt.Errorf("the browser is too old: Chromium %d or newer keeps pages from this machine's network",
	minChromiumVersion)

// checkVersion returns errTooOld for a product such as HeadlessChrome/146.0.1, and for one that does not name its
// version.
func checkVersion(product string) error {
	_, version, _ := strings.Cut(product, "/")
	major, _, _ := strings.Cut(version, ".")
	if number, err := strconv.Atoi(major); err != nil || number < minChromiumVersion {
		return fmt.Errorf("%w; this is %q", errTooOld, product)
	}
	return nil
}

func startProcess(b protocol.BrowserBinding) (*process, error) {
	theirs, commands, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make the browser's pipe: %w", err)
	}
	answers, theirAnswers, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make the browser's pipe: %w", err), theirs.Close(), commands.Close())
	}
	written, writing, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make the browser's pipe: %w", err), theirs.Close(), commands.Close(),
			answers.Close(), theirAnswers.Close())
	}
	cmd := exec.Command(b.Program, browserArguments(b)...)
	cmd.Dir, cmd.Env = b.Home, browserEnvironment(b)
	cmd.ExtraFiles = []*os.File{theirs, theirAnswers} // files 3 and 4, where the pipe is looked for
	cmd.Stdout, cmd.Stderr = writing, writing
	cmd.SysProcAttr = processAttributes(b.User)
	err = cmd.Start()
	for _, f := range []*os.File{theirs, theirAnswers, writing} {
		_ = f.Close() // the browser has its own copy
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the browser: %w", err), commands.Close(), answers.Close(), written.Close())
	}
	p := &process{cmd: cmd, pipe: [2]*os.File{commands, answers}, output: newBrowserOutput(), exited: make(chan struct{})}
	go p.output.readFrom(written)
	go func() {
		_ = cmd.Wait() // how it ended does not matter: its work is judged by answers
		close(p.exited)
	}()
	p.conn = devtools.NewConn(answers, commands)
	p.browser = p.conn.Browser()
	return p, nil
}

func browserArguments(b protocol.BrowserBinding) []string {
	args := append([]string{"--remote-debugging-pipe", "--user-data-dir=" + b.Profile}, browserFlags...)
	if b.Display == "" {
		args = append(args, "--headless=new", "--window-size=1280,800")
	}
	if b.NoSandbox {
		args = append(args, "--no-sandbox")
	}
	return append(args, "about:blank")
}

// browserEnvironment is all that the browser gets: nothing of the connector's own.
func browserEnvironment(b protocol.BrowserBinding) []string {
	env := []string{
		"HOME=" + b.Home, "XDG_CONFIG_HOME=" + filepath.Join(b.Home, ".config"), "XDG_CACHE_HOME=" +
			filepath.Join(b.Home, ".cache"),
		"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8",
	}
	if len(b.Home) <= maxTempPath {
		env = append(env, "TMPDIR="+b.Home)
	}
	if b.Display != "" {
		env = append(env, "DISPLAY="+b.Display, "XAUTHORITY="+filepath.Join(b.Home, ".Xauthority"))
	}
	return env
}

// watchCrashes ends the sessions of crashed pages: the browser lists them, but they no longer respond.
func (p *process) watchCrashes(crashes <-chan jsontext.Value) {
	for raw := range crashes {
		var e target.EventTargetCrashed
		if devtools.Decode(raw, &e) == nil {
			p.conn.MarkCrashed(e.TargetID)
		}
	}
}

// lost is closed when the browser cannot be spoken with any more.
func (p *process) lost() <-chan struct{} { return p.conn.Over() }

// end closes the browser, which writes its session down, and kills what is left of its group
// after closeLimit or when ctx ends. It returns when the main process is gone.
func (p *process) end(ctx context.Context) {
	p.ending.Do(func() {
		limit, cancel := context.WithTimeout(ctx, closeTimeout)
		defer cancel()
		go func() {
			// The answer may be lost with the browser. One that does not take the command is
			// left by closing its pipe.
			asked, cancel := context.WithTimeout(limit, closeTimeout/3)
			defer cancel()
			_, _ = cdp.Call(asked, p.browser, chromium.Close, cdp.Empty{})
			_ = p.pipe[0].Close()
		}()
		select {
		case <-p.exited:
		case <-limit.Done():
		}
		// The main process wrote down what it had, or does not get to it. What it started has
		// nothing to write.
		killProcessGroup(p.cmd.Process)
		<-p.exited
		p.conn.End()
		_ = p.pipe[0].Close()
		_ = p.pipe[1].Close()
		p.conn.Wait()
	})
}

// browserOutput keeps the first of what the browser writes, for the error of a start that failed.
type browserOutput struct {
	whole chan struct{} // closed when all writers have closed

	mu   sync.Mutex
	text []byte
}

func newBrowserOutput() *browserOutput { return &browserOutput{whole: make(chan struct{})} }

func (o *browserOutput) readFrom(r io.ReadCloser) {
	defer close(o.whole)
	defer r.Close()
	b := make([]byte, 4<<10)
	for {
		n, err := r.Read(b)
		o.mu.Lock()
		o.text = append(o.text, b[:min(n, maxStoredOutput-len(o.text))]...)
		o.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// wait returns when all that was written is taken, or after the limit: what left the browser's
// group may hold its end open.
func (o *browserOutput) wait(limit time.Duration) {
	select {
	case <-o.whole:
	case <-time.After(limit):
	}
}

// lastLine returns the last non-empty line.
func (o *browserOutput) lastLine() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, line := range reversed(bytes.Split(o.text, []byte("\n"))) {
		if text := strings.TrimSpace(string(line)); text != "" {
			return ": " + text
		}
	}
	return ""
}

func reversed(lines [][]byte) [][]byte {
	for i, j := 0, len(lines)-1; i < j; i, j = i+1, j-1 {
		lines[i], lines[j] = lines[j], lines[i]
	}
	return lines
}
