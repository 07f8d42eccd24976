package crashtest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/collect/browser"
	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres/postgrestest"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

const (
	// browserKills is the number of kills per database, unless PDPP_TEST_BROWSER_KILLS sets
	// another. `make chaos` runs for a set time.
	browserKills = 4
	visitor      = "visitor"
)

const visitorManifest = `{"protocol_version":"0.1.0","connector_id":"visitor","version":"1","display_name":"Visitor",
 "runtime_requirements":{"bindings":{"browser":{"required":true}}},"browser":{"hosts":["visitor.example"]},
 "streams":[{"name":"visits","semantics":"append_only","checkpoint":"slice","primary_key":"id",` +
	`"schema":{"type":"object","required":["id"],
  "properties":{"id":{"type":"string"},"cookie":{"type":"integer"},"session":{"type":"integer"},` +
	`"set":{"type":"integer"}}}}]}`

// visit is what a run of the visitor finds and leaves: a number that only grows.
type visit struct {
	ID      string `json:"id"`
	Cookie  int    `json:"cookie"`  // in the browser's own store
	Session int    `json:"session"` // in the checkpoint beside it
	Set     int    `json:"set"`     // the cookie of the new sign-in
}

// playVisitor is a connector with a browser, reduced to what a sign-in is: it reads a cookie
// and sets the next one, and then stays until it is ended.
func playVisitor() int {
	lines, dec := protocol.NewLineReader(os.Stdin, 0), protocol.NewDecoder(protocol.ToConnector)
	line, err := lines.Next()
	if err != nil {
		return 20
	}
	message, err := dec.Decode(line)
	start, ok := message.(*protocol.Start)
	if err != nil || !ok {
		return 21
	}
	b, err := protocol.ParseBrowserBinding(start.Bindings["browser"])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 22
	}
	chromium, err := launchPipe(b)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 23
	}
	checkpoint := filepath.Join(b.Home, browser.SessionFile)
	v := visit{ID: start.RunID, Cookie: -1}
	if text, err := os.ReadFile(checkpoint); err == nil {
		v.Session, _ = strconv.Atoi(string(text))
	}
	v.Cookie, err = chromium.cookie()
	if errors.Is(err, os.ErrDeadlineExceeded) { // on a busy machine a browser may start and never answer
		_ = syscall.Kill(-chromium.pid, syscall.SIGKILL)
		if chromium, err = launchPipe(b); err == nil {
			v.Cookie, err = chromium.cookie()
		}
	}
	v.Set = max(v.Cookie, v.Session) + 1
	if err == nil {
		err = chromium.setCookie(v.Set)
	}
	if err == nil {
		err = os.WriteFile(checkpoint+".new", []byte(strconv.Itoa(v.Set)), 0o600)
	}
	if err == nil {
		err = os.Rename(checkpoint+".new", checkpoint)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 24
	}
	data, _ := json.Marshal(v)
	fmt.Printf(`{"type":"RECORD","stream":"visits","key":%q,"data":%s,"emitted_at":"2026-01-02"}`+"\n", v.ID, data)
	fmt.Printf(`{"type":"STATE","stream":"visits","cursor":{"n":%d}}`+"\n", v.Set)
	gone := make(chan struct{})
	go func() { _, _ = chromium.answers.ReadBytes(0); close(gone) }() // the browser ends
	closed := make(chan struct{})
	go func() { _, _ = lines.Next(); close(closed) }() // the worker ends
	stay := time.Duration(rand.IntN(1500)) * time.Millisecond
	select {
	case <-gone:
		return 25
	case <-closed:
		return 26
	case <-time.After(stay):
	}
	_, _ = chromium.call("Browser.close", nil)
	<-gone
	fmt.Println(`{"type":"DONE","status":"succeeded","records_emitted":1}`)
	<-closed
	return 0
}

// pipe is a browser that is driven over its debugging pipe: in a group of its own, ended by
// the end of the pipe, and by nothing else.
type pipe struct {
	pid      int
	commands *os.File
	answers  *bufio.Reader
	last     int
}

// browserPatience is how long a browser may take for a visit.
const browserPatience = 2 * time.Minute

func launchPipe(b protocol.BrowserBinding) (*pipe, error) {
	theirsIn, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	from, theirsOut, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(b.Program, "--headless=new", "--user-data-dir="+b.Profile, "--remote-debugging-pipe",
		"--no-first-run", "--disable-extensions",
		"--disable-background-networking", "--disable-component-update", "--disable-sync",
		"--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup,SpareRendererForSitePerProcess",
		"about:blank")
	cmd.Env, cmd.Dir, cmd.ExtraFiles = []string{"HOME=" + b.Home, "PATH=/usr/bin:/bin", "TMPDIR=" + b.Home}, b.Home,
		[]*os.File{theirsIn, theirsOut}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() { _ = cmd.Wait() }()
	_, _ = theirsIn.Close(), theirsOut.Close()
	return &pipe{pid: cmd.Process.Pid, commands: ours, answers: bufio.NewReader(from)},
		from.SetReadDeadline(time.Now().Add(browserPatience))
}

func (p *pipe) call(method string, params any) (json.RawMessage, error) {
	p.last++
	text, err := json.Marshal(map[string]any{"id": p.last, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	if _, err := p.commands.Write(append(text, 0)); err != nil {
		return nil, err
	}
	for {
		text, err := p.answers.ReadBytes(0)
		if err != nil {
			return nil, err
		}
		var answer struct {
			ID     int             `json:"id"`
			Result json.RawMessage `json:"result"`
			Error  *struct{ Message string }
		}
		if err := json.Unmarshal(bytes.TrimSuffix(text, []byte{0}), &answer); err != nil {
			return nil, err
		}
		if answer.ID == p.last && answer.Error != nil {
			return nil, errors.New(answer.Error.Message)
		}
		if answer.ID == p.last {
			return answer.Result, nil
		}
	}
}

func (p *pipe) cookie() (int, error) {
	result, err := p.call("Storage.getCookies", nil)
	if err != nil {
		return 0, err
	}
	var all struct {
		Cookies []struct{ Name, Value string }
	}
	if err := json.Unmarshal(result, &all); err != nil {
		return 0, err
	}
	for _, c := range all.Cookies {
		if c.Name == visitor {
			return strconv.Atoi(c.Value)
		}
	}
	return 0, nil
}

func (p *pipe) setCookie(n int) error {
	_, err := p.call("Storage.setCookies", map[string]any{"cookies": []any{map[string]any{
		"name": visitor, "value": strconv.Itoa(n), "url": "https://visitor.example/",
		"expires": float64(time.Now().Add(24 * time.Hour).Unix()),
	}}})
	return err
}

// browserRole is the configuration of a worker process.
type browserRole struct {
	Database, Root, Key, Program, RunID string
	Clock                               time.Duration
}

// playBrowserWorker is the worker: it settles what the one before it left, and makes one run.
func playBrowserWorker() int {
	var r browserRole
	err := json.Unmarshal([]byte(os.Getenv(specVariable)), &r)
	if err == nil {
		err = r.run(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitFailedRun
	}
	return 0
}

func openDatabase(ctx context.Context, database string) (store.Store, error) {
	if strings.Contains(database, "://") {
		return postgres.Open(ctx, database, postgres.Options{})
	}
	return sqlite.Open(ctx, database, sqlite.Options{})
}

func (r browserRole) run(ctx context.Context) error {
	st, err := openDatabase(ctx, r.Database)
	if err != nil {
		return err
	}
	defer st.Close()
	key, err := credential.ParseKey(r.Key)
	if err != nil {
		return err
	}
	m, err := manifest.Parse([]byte(visitorManifest))
	if err != nil {
		return err
	}
	user, err := browser.UserFor("")
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	now := func() time.Time { return time.Now().Add(r.Clock) }
	l := &launch.Launcher{
		Store: st, Holder: "crashtest", Now: now, NewRunID: func() string { return r.RunID },
		Connectors: catalog.Fixed(catalog.Connector{Name: visitor, Builtin: true, Manifest: m, Path: self,
			Args: []string{visitor}}),
		Bindings: map[string]jsontext.Value{"browser": jsontext.Value("{}")},
		Secrets:  launch.StoredSecrets(st, key),
		Browsers: &browser.Profiles{Root: r.Root, Keeper: st, Key: key, Program: r.Program, User: user,
			Memory: []string{"/dev/shm"}, Now: now},
	}
	if _, err := l.Browsers.Recover(ctx); err != nil {
		return err
	}
	result, err := l.Run(ctx, launch.RunRequest{ConnectionID: visitor, Trigger: store.TriggerManual})
	if err != nil {
		return err
	}
	if result.Status != runner.Succeeded {
		return fmt.Errorf("%v\n%s", result.Failure, result.StderrTail)
	}
	return nil
}

// hall is one database and one machine that live through the kills.
type hall struct {
	browserRole
	st        store.Store
	runs      int
	confirmed int           // the newest number that is known to have been signed in with
	victim    string        // of the last kill
	forgot    int           // times that the browser's own store had less than the checkpoint
	slowest   time.Duration // until every process of a killed worker was gone
}

func newHall(t *testing.T, database string) *hall {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal("no Chromium is installed; run make test, which installs it")
	}
	h := &hall{browserRole: browserRole{Root: filepath.Join(t.TempDir(), "profiles"), Key: strings.Repeat("7f", 32),
		Program: program}}
	if database == "sqlite" {
		h.Database = sqlitetest.NewDatabase(t, filepath.Join(t.TempDir(), "pdpp.db"))
	} else {
		h.Database = postgrestest.NewDatabase(t)
	}
	if h.st, err = openDatabase(t.Context(), h.Database); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.st.Close() })
	now := time.Now()
	if err := h.st.CreateConnection(t.Context(),
		store.Connection{ID: visitor, ConnectorID: visitor, Status: store.ConnectionActive, SourceKind: store.SourceAccount,
			CreatedAt: now, UpdatedAt: now}); err != nil {
		t.Fatal(err)
	}
	return h
}

// live is the room of the run under way; empty when there is none.
func (h *hall) live() string {
	room, _ := os.Readlink(filepath.Join(h.Root, "visitor__visitor", "live"))
	return room
}

// running lists the processes of a room, with the first words of each.
func running(room string) (found []string) {
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, path := range processes {
		line, _ := os.ReadFile(filepath.Join(path, "cmdline"))
		home, _ := os.ReadFile(filepath.Join(path, "environ"))
		if room != "" && (bytes.Contains(line, []byte(room)) || bytes.Contains(home, []byte(room))) {
			found = append(found, filepath.Base(path)+" "+string(line[:min(len(line), 80)]))
		}
	}
	return found
}

// round makes one run and ends its victim a while after the start, or after the sign-in. It
// reports whether the victim was met before the run was over.
func (h *hall) round(t *testing.T, victim string, signedIn bool, after time.Duration) bool {
	t.Helper()
	h.runs++
	h.Clock += time.Hour // whatever lease the last victim left has run out
	h.RunID = fmt.Sprintf("run_visit_%d", h.runs)
	spec, err := json.Marshal(h.browserRole)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), roleVariable+"=browser worker", specVariable+"="+string(spec))
	var output tail
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	over := make(chan error, 1)
	go func() { over <- cmd.Wait() }()
	met, room := false, ""
	if victim != "" {
		ready := make(chan struct{})
		ctx, stop := context.WithCancel(t.Context())
		go func() {
			defer close(ready)
			for signedIn && ctx.Err() == nil {
				if _, err := h.st.Record(ctx, visitor, "visits", h.RunID); err == nil {
					break
				}
				time.Sleep(5 * time.Millisecond)
			}
			time.Sleep(after)
		}()
		select {
		case err = <-over:
			over <- err
		case <-ready:
			room = h.live()
			met = h.kill(cmd.Process, victim, room)
		}
		stop()
		<-ready
	}
	err = <-over
	began := time.Now()
	for len(running(room)) > 0 { // no sweep runs: a killed process must leave nothing behind
		if time.Since(began) > 3*time.Minute {
			t.Fatalf("after the kill of %s these are left: %q", victim, running(room))
		}
		time.Sleep(10 * time.Millisecond)
	}
	if met {
		h.slowest = max(h.slowest, time.Since(began))
	}
	if err != nil && !met {
		t.Fatalf("the worker ended by itself: %v\n%s", err, output.String())
	}
	h.check(t)
	if met {
		h.victim = victim
	}
	return met
}

// kill ends the victim, and reports whether it was there.
func (h *hall) kill(worker *os.Process, victim, room string) bool {
	met := false
	for _, line := range running(room) {
		pid, _ := strconv.Atoi(strings.Fields(line)[0])
		isBrowser := strings.Contains(line, "chrom")
		isMain := isBrowser && !strings.Contains(line, "--type=") && !strings.Contains(line, "crashpad")
		if victim == "browser" && isMain || !isBrowser && (victim == "connector" || victim == "both") {
			met = syscall.Kill(pid, syscall.SIGKILL) == nil || met
		}
	}
	if victim == "worker" || victim == "both" {
		met = worker.Kill() == nil || met
	}
	return met
}

// check reads what the last run found, and holds it against what is known to have been there.
func (h *hall) check(t *testing.T) {
	t.Helper()
	r, err := h.st.Record(t.Context(), visitor, "visits", h.RunID)
	if errors.Is(err, store.ErrNotFound) {
		return // it was killed before
	}
	if err != nil {
		t.Fatal(err)
	}
	var v visit
	if err := json.Unmarshal(r.Data, &v); err != nil {
		t.Fatal(err)
	}
	// A browser that is killed itself, or that a busy machine lets end too slowly, loses what it
	// has not written down; the checkpoint beside it does not.
	if v.Cookie < h.confirmed {
		h.forgot++
	}
	if v.Session < h.confirmed {
		t.Fatalf("after the kill of %s the sign-in is lost: %d was signed in with, the browser has %d and the checkpoint %d",
			h.victim, h.confirmed, v.Cookie, v.Session)
	}
	h.confirmed, h.victim = v.Set, ""
}

// TestBrowserKill kills workers, connectors and browsers at random moments. No process is left,
// no profile is broken, and no sign-in lost.
func TestBrowserKill(t *testing.T) {
	minutes, _ := strconv.Atoi(os.Getenv("PDPP_CHAOS_MINUTES"))
	until := time.Now().Add(time.Duration(minutes) * time.Minute)
	kills, err := strconv.Atoi(os.Getenv("PDPP_TEST_BROWSER_KILLS"))
	if err != nil {
		kills = browserKills
	}
	for _, database := range []string{"sqlite", "postgres"} {
		t.Run(database, func(t *testing.T) {
			t.Parallel()
			h, met := newHall(t, database), map[string]int{}
			random := newRand(uint64(time.Now().UnixNano()))
			for n := 0; n < kills || time.Now().Before(until); n++ {
				victim := []string{"worker", "both", "connector", "browser"}[n%4]
				signedIn := n/4%2 == 0 // within a second of it, and else whenever
				within := 4000
				if signedIn {
					within = 1000
				}
				if h.round(t, victim, signedIn, time.Duration(random.IntN(within))*time.Millisecond) {
					met[victim]++
				}
			}
			if h.round(t, "", false, 0); h.live() != "" {
				t.Errorf("files of a run are left at %s", h.live())
			}
			row, err := h.st.BrowserProfile(t.Context(), visitor, "visitor__visitor")
			if err != nil || row.Generation == 0 {
				t.Errorf("kept: %+v, %v", row, err)
			}
			if rooms, _ := filepath.Glob("/dev/shm/pdpp-browser-*"); len(rooms) > 0 {
				t.Logf("rooms in memory, of this test or of others: %d", len(rooms))
			}
			var texts []string
			for victim, n := range met {
				texts = append(texts, fmt.Sprintf("%s %d", victim, n))
			}
			slices.Sort(texts)
			t.Attr("result", fmt.Sprintf("%d SIGKILLs (%s): no process left (all gone after %v at most), %d sign-ins, none "+
				"lost (%d of them by the checkpoint alone)", sum(met), strings.Join(texts, ", "), h.slowest.Round(time.Millisecond),
				h.confirmed, h.forgot))
		})
	}
}

func sum(counts map[string]int) (all int) {
	for _, n := range counts {
		all += n
	}
	return all
}
