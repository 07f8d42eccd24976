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

	"github.com/pdpp-go/pdpp/protocol"
)

const (
	// startLimit bounds how long a browser may take to answer.
	startLimit = 60 * time.Second
	// closeLimit bounds how long it may take to end; then its group is killed.
	closeLimit = 3 * time.Second
	// keptOutput is how much of what it writes is kept for the error of a failed start.
	keptOutput = 8 << 10
)

// longestTemp is how long the name of a folder may be in which the browser makes its socket;
// the system bounds the name of that.
const longestTemp = 56

// quietFlags keep the browser from doing what no page asked for.
var quietFlags = []string{
	"--no-first-run", "--no-default-browser-check", "--hide-crash-restore-bubble", "--password-store=basic",
	"--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup,SpareRendererForSitePerProcess,Translate,OptimizationHints,MediaRouter",
	"--disable-extensions", "--disable-component-extensions-with-background-pages", "--disable-background-networking",
	"--disable-component-update", "--disable-sync", "--disable-default-apps",
}

// process is a running browser. It stands in a process group of its own, so that nobody
// else's signal reaches it, and ends by itself when its pipe does: whoever kills the
// connector leaves nothing behind, and the browser writes its session down before it goes.
// A signal to die with its parent would take that time away.
type process struct {
	conn    *conn
	browser *session // the conversation with the browser itself
	cmd     *exec.Cmd
	pipe    [2]*os.File // ours: commands, answers
	output  *output
	exited  chan struct{} // closed when the main process is gone

	ending sync.Once
}

// launch starts the browser of the binding and waits until it answers.
func launch(ctx context.Context, b protocol.BrowserBinding) (*process, error) {
	p, err := start(b)
	if err != nil {
		return nil, err
	}
	limit, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	if err := p.ready(limit); err != nil {
		p.end(context.WithoutCancel(ctx))
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		p.output.wait(closeLimit)
		return nil, fmt.Errorf("start the browser: %w%s", err, p.output.said())
	}
	return p, nil
}

func (p *process) ready(ctx context.Context) error {
	version, err := cdp.Call(ctx, p.browser, chromium.GetVersion, cdp.Empty{})
	if err != nil {
		return err
	}
	if err := recent(version.Product); err != nil {
		return err
	}
	crashes, _ := p.browser.Subscribe(target.TargetCrashed.Method) // it ends with the browser
	go p.watch(crashes)
	_, err = cdp.Call(ctx, p.browser, target.SetDiscoverTargets, target.SetDiscoverTargetsParams{Discover: true})
	return err
}

// oldest is the first version of Chromium that keeps the pages of the Internet from addresses of this machine and its
// network in all kinds of requests. The guard judges documents; the other kinds are the browser's to refuse, and before
// this version it does not refuse WebSockets.
const oldest = 147

// errTooOld means that the browser is older than that.
var errTooOld = fmt.Errorf("the browser is too old: Chromium %d or newer keeps pages from this machine's network",
	oldest)

// recent returns errTooOld for a product such as HeadlessChrome/146.0.1, and for one that does not name its version.
func recent(product string) error {
	_, version, _ := strings.Cut(product, "/")
	major, _, _ := strings.Cut(version, ".")
	if number, err := strconv.Atoi(major); err != nil || number < oldest {
		return fmt.Errorf("%w; this is %q", errTooOld, product)
	}
	return nil
}

func start(b protocol.BrowserBinding) (*process, error) {
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
		return nil, errors.Join(fmt.Errorf("make the browser's pipe: %w", err), theirs.Close(), commands.Close(), answers.Close(), theirAnswers.Close())
	}
	cmd := exec.Command(b.Program, arguments(b)...)
	cmd.Dir, cmd.Env = b.Home, environment(b)
	cmd.ExtraFiles = []*os.File{theirs, theirAnswers} // files 3 and 4, where the pipe is looked for
	cmd.Stdout, cmd.Stderr = writing, writing
	cmd.SysProcAttr = attributes(b.User)
	err = cmd.Start()
	for _, f := range []*os.File{theirs, theirAnswers, writing} {
		_ = f.Close() // the browser has its own copy
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the browser: %w", err), commands.Close(), answers.Close(), written.Close())
	}
	p := &process{cmd: cmd, pipe: [2]*os.File{commands, answers}, output: newOutput(), exited: make(chan struct{})}
	go p.output.take(written)
	go func() {
		_ = cmd.Wait() // how it ended does not matter: its work is judged by answers
		close(p.exited)
	}()
	p.conn = newConn(answers, commands)
	p.browser = &session{c: p.conn}
	return p, nil
}

func arguments(b protocol.BrowserBinding) []string {
	args := append([]string{"--remote-debugging-pipe", "--user-data-dir=" + b.Profile}, quietFlags...)
	if b.Display == "" {
		args = append(args, "--headless=new", "--window-size=1280,800")
	}
	if b.NoSandbox {
		args = append(args, "--no-sandbox")
	}
	return append(args, "about:blank")
}

// environment is all that the browser gets: nothing of the connector's own.
func environment(b protocol.BrowserBinding) []string {
	env := []string{
		"HOME=" + b.Home, "XDG_CONFIG_HOME=" + filepath.Join(b.Home, ".config"), "XDG_CACHE_HOME=" + filepath.Join(b.Home, ".cache"),
		"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8",
	}
	if len(b.Home) <= longestTemp {
		env = append(env, "TMPDIR="+b.Home)
	}
	if b.Display != "" {
		env = append(env, "DISPLAY="+b.Display, "XAUTHORITY="+filepath.Join(b.Home, ".Xauthority"))
	}
	return env
}

// watch ends the sessions of pages that crash: the browser keeps them, but they answer nothing.
func (p *process) watch(crashes <-chan jsontext.Value) {
	for raw := range crashes {
		var e target.EventTargetCrashed
		if decode(raw, &e) == nil {
			p.conn.crashed(e.TargetID)
		}
	}
}

// lost is closed when the browser cannot be spoken with any more.
func (p *process) lost() <-chan struct{} { return p.conn.over }

// end closes the browser, which writes its session down, and kills what is left of its group
// after closeLimit or when ctx ends. It returns when the main process is gone.
func (p *process) end(ctx context.Context) {
	p.ending.Do(func() {
		limit, cancel := context.WithTimeout(ctx, closeLimit)
		defer cancel()
		go func() {
			// The answer may be lost with the browser. One that does not take the command is
			// left by closing its pipe.
			asked, cancel := context.WithTimeout(limit, closeLimit/3)
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
		endGroup(p.cmd.Process)
		<-p.exited
		p.conn.end(errLost)
		_ = p.pipe[0].Close()
		_ = p.pipe[1].Close()
	})
}

// output keeps the first of what the browser writes, for the error of a start that failed.
type output struct {
	whole chan struct{} // closed when nobody writes any more

	mu   sync.Mutex
	text []byte
}

func newOutput() *output { return &output{whole: make(chan struct{})} }

func (o *output) take(r io.ReadCloser) {
	defer close(o.whole)
	defer r.Close()
	b := make([]byte, 4<<10)
	for {
		n, err := r.Read(b)
		o.mu.Lock()
		o.text = append(o.text, b[:min(n, keptOutput-len(o.text))]...)
		o.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// wait returns when all that was written is taken, or after the limit: what left the browser's
// group may hold its end open.
func (o *output) wait(limit time.Duration) {
	select {
	case <-o.whole:
	case <-time.After(limit):
	}
}

// said gives the last line that tells something.
func (o *output) said() string {
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
