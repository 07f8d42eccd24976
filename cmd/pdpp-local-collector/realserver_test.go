package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/health"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres/postgrestest"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/view"
)

// place is a running server of the shipped program, a device of it with the diary
// connector, and a line between the two that can be cut.
type place struct {
	*host
	t       *testing.T
	store   store.Store
	env     []string // of the server
	address string
	server  *exec.Cmd
	line    *httptest.Server
	cut     atomic.Pointer[func(w http.ResponseWriter, r *http.Request) bool] // answers instead of the server

	source, connection string
	diary              string
}

// onBothDatabases runs a test in a place with each database.
func onBothDatabases(t *testing.T, test func(t *testing.T, p *place)) {
	t.Run("sqlite", func(t *testing.T) {
		home := t.TempDir()
		p := newPlace(t, home)
		p.start()
		st, err := sqlite.Open(t.Context(), filepath.Join(home, "pdpp.db"), sqlite.Options{})
		p.open(st, err)
		test(t, p)
	})
	t.Run("postgres", func(t *testing.T) {
		at := postgrestest.NewDatabase(t)
		p := newPlace(t, t.TempDir(), "PDPP_DATABASE_URL="+at)
		p.start()
		st, err := postgres.Open(t.Context(), at, postgres.Options{})
		p.open(st, err)
		test(t, p)
	})
}

func newPlace(t *testing.T, home string, env ...string) *place {
	t.Helper()
	p := &place{host: newHost(t), t: t}
	manifest, err := os.ReadFile("testdata/diary_stores.json")
	p.must(err)
	p.must(os.WriteFile(p.host.connector("manifest.json"), manifest, 0o600))
	installed := filepath.Join(home, "connectors", "diary")
	p.must(os.MkdirAll(installed, 0o700))
	p.must(os.WriteFile(filepath.Join(installed, "manifest.json"), manifest, 0o600))
	self, err := os.Executable()
	p.must(err)
	p.must(os.Symlink(self, filepath.Join(installed, "connector")))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	p.must(err)
	p.address = l.Addr().String()
	l.Close()
	p.env = append([]string{"PDPP_HOME=" + home, "HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir(),
		"GORACE=atexit_sleep_ms=0",
		"PDPP_OWNER_PASSWORD=a long password for the tests", "PDPP_LISTEN=" + p.address}, env...)
	target := &url.URL{Scheme: "http", Host: p.address}
	through := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusBadGateway)
		}}
	p.line = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if cut := p.cut.Load(); cut != nil && (*cut)(w, r) {
			return
		}
		through.ServeHTTP(w, r)
	}))
	t.Cleanup(p.line.Close)
	return p
}

func (p *place) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// start starts the server and waits until it is ready.
func (p *place) start() {
	p.t.Helper()
	cmd := exec.Command("pdpp", "serve", "--json")
	cmd.Env = p.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	p.must(err)
	var output strings.Builder
	cmd.Stderr = &output
	p.must(cmd.Start())
	p.server = cmd
	p.t.Cleanup(func() { p.kill(cmd) })
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.Contains(lines.Text(), `"worker_id"`) {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return
		}
	}
	p.t.Fatalf("the server is not ready: %s", output.String())
}

func (p *place) kill(cmd *exec.Cmd) {
	if cmd.ProcessState == nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	}
}

// open takes the server's database, plants a code, and sets the device up.
func (p *place) open(st store.Store, err error) {
	p.t.Helper()
	p.must(err)
	p.store = st
	p.t.Cleanup(func() { st.Close() })
	code := "lde_" + strings.Repeat("x", 24)
	hash := sha256.Sum256([]byte(code))
	now := time.Now()
	p.must(st.CreateDeviceCode(p.t.Context(), store.DeviceCode{ID: "dcode_1", Hash: hash[:], ConnectorID: "diary",
		LocalBinding: "attic",
		Status:       store.CodePending, CreatedAt: now, ExpiresAt: now.Add(time.Hour)}))
	p.host.must(p.t, exitOK, "setup", "--base-url", p.line.URL, "--code", code, "--device-label", "Attic", "--write-only")
	sources, err := st.DeviceSources(p.t.Context(), "")
	p.must(err)
	if len(sources) != 1 {
		p.t.Fatalf("sources %+v", sources)
	}
	p.source, p.connection = sources[0].ID, sources[0].ConnectionID
	p.diary = filepath.Join(p.home, "diary.txt")
	p.vars()
}

// vars sets further variables of the connector.
func (p *place) vars(more ...string) {
	p.t.Helper()
	profile := filepath.Join(p.home, ".config", "pdpp", "collectors", p.source+".env")
	body, err := os.ReadFile(profile)
	p.must(err)
	kept := slices.DeleteFunc(strings.Split(string(body), "\n"),
		func(line string) bool { return strings.HasPrefix(line, "DIARY_") || line == "" })
	kept = append(kept, "DIARY_FILE="+p.diary, "DIARY_RUNS=/dev/null")
	p.must(os.WriteFile(profile, []byte(strings.Join(append(kept, more...), "\n")+"\n"), 0o600))
}

// write writes n words to the diary and returns them.
func (p *place) write(n int) (words []string) {
	p.t.Helper()
	for i := range n {
		words = append(words, fmt.Sprintf("day%05d", i))
	}
	p.must(os.WriteFile(p.diary, []byte(strings.Join(words, " ")), 0o600))
	return words
}

func (p *place) run() (code int) {
	_, _, code = p.program(p.t, "run", "--source-instance-id", p.source)
	return code
}

// refuse rejects requests with a path of this suffix with an error of the server; an empty suffix lets everything
// pass.
func (p *place) refuse(suffix string, status int, code string) {
	if suffix == "" {
		p.cut.Store(nil)
		return
	}
	answer := func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, suffix) {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{"type": "invalid_request_error", "code": code,
			"message": "no", "request_id": "req_1"}})
		return true
	}
	p.cut.Store(&answer)
}

// seen is the connection as its owner sees it, so long from now while the server works.
func (p *place) seen(later time.Duration) view.Connection {
	p.t.Helper()
	found, err := p.store.Evidence(p.t.Context(), evidence.Query{ConnectionIDs: []string{p.connection}})
	p.must(err)
	return view.Judge(&found[0], time.Now().Add(later), true)
}

func (p *place) stored() (keys []string) {
	p.t.Helper()
	for after := int64(0); ; {
		page, err := p.store.ListRecords(context.WithoutCancel(p.t.Context()), store.RecordQuery{
			AccessFilter: store.AccessFilter{ConnectionID: p.connection, Stream: "notes"}, AfterSeq: after, Limit: 1000})
		p.must(err)
		for _, r := range page {
			keys, after = append(keys, r.Key), r.Seq
		}
		if len(page) < 1000 {
			slices.Sort(keys)
			return keys
		}
	}
}

func (p *place) holds(words []string) {
	p.t.Helper()
	if got := p.stored(); !slices.Equal(got, words) {
		p.t.Fatalf("%d records are stored, want %d", len(got), len(words))
	}
}

// outbox compares axis and cause, and what the owner is offered.
func (p *place) outbox(c view.Connection, axis health.Outbox, cause health.StalledCause) {
	p.t.Helper()
	if c.Health.Axes.Outbox != axis {
		p.t.Fatalf("the outbox is %s, want %s: %+v", c.Health.Axes.Outbox, axis, c.Local)
	}
	if axis != health.OutboxStalled {
		if c.Recovery != nil {
			p.t.Errorf("recovery of an outbox that is %s: %+v", axis, c.Recovery)
		}
		return
	}
	r := c.Recovery
	if r == nil || r.Cause != string(cause) || !r.Available || r.Host != "Attic" || r.SourceInstanceID != p.source ||
		r.Remedy == "" || len(r.Commands) == 0 {
		p.t.Fatalf("recovery %+v, want one of %s", r, cause)
	}
	for _, command := range r.Commands {
		if !strings.HasPrefix(command.Command, "pdpp-local-collector ") || !strings.Contains(command.Command, p.source) ||
			strings.Contains(command.Command, p.connection) ||
			strings.ContainsAny(command.Command, "/:") || command.Purpose == "" {
			p.t.Errorf("command %+v", command)
		}
	}
	if c.Verdict.Channel == verdict.Calm || strings.Contains(strings.ToLower(c.Verdict.ForwardStatement), "dead") {
		p.t.Errorf("the owner is told %s: %s", c.Verdict.Channel, c.Verdict.ForwardStatement)
	}
	if actions := c.Verdict.RequiredActions; len(actions) == 0 || actions[0].Remediation == nil ||
		actions[0].Remediation.Cause != string(cause) {
		p.t.Errorf("actions %+v", actions)
	}
}

// unproven checks that the device's evidence does not prove a collection.
func (p *place) unproven(c view.Connection) {
	p.t.Helper()
	if collection := c.Health.Condition(health.CollectionSucceeded); collection.Status != health.StatusUnknown ||
		c.Health.State == health.Healthy || c.LastRun != nil {
		p.t.Errorf("%s by %+v", c.Health.State, collection.ConditionKind)
	}
}

// neverRun holds that a source which only its owner refreshes, that has aged and of which no run has ended, is
// shown as that: idle, and not due for a refresh.
func (p *place) neverRun() {
	p.t.Helper()
	body, _, err := p.store.Manifest(p.t.Context(), "diary")
	p.must(err)
	manual := strings.Replace(string(body), `{`,
		`{"capabilities":{"refresh_policy":{"recommended_mode":"manual","rationale":"x","maximum_staleness_seconds":3600}},`,
		1)
	conn, err := p.store.Connection(p.t.Context(), p.connection)
	p.must(err)
	conn.ManifestGeneration, err = p.store.PutManifest(p.t.Context(), "diary", []byte(manual), time.Now())
	p.must(err)
	p.must(p.store.UpdateConnection(p.t.Context(), conn))
	if c := p.seen(3 * time.Hour); c.Health.Axes.Freshness != health.Stale || c.Health.State != health.Idle ||
		c.Health.ReasonCode == health.ReasonStaleManual {
		p.t.Errorf("never run and stale: %s, %s, %s", c.Health.State, c.Health.ReasonCode, c.Health.Axes.Freshness)
	}
	conn.ManifestGeneration, err = p.store.PutManifest(p.t.Context(), "diary", body, time.Now())
	p.must(err)
	p.must(p.store.UpdateConnection(p.t.Context(), conn))
}

// TestDeviceIsJudgedByWhatItTells runs the device program from its first pass to uploads that the
// server rejects. The owner sees the reported status and the commands that fix it, and those commands
// work.
//
//pdpp:tier unraced
func TestDeviceIsJudgedByWhatItTells(t *testing.T) {
	for _, statement := range []string{"CH-08", "CH-08.1", "CH-08.2", "CH-08.3", "CH-11", "CH-11.1", "CH-11.2", "CH-11.3",
		"CH-14.2", "CH-14.3", "CH-14.4", "CH-15.5", "CH-16", "CH-16.1", "CH-16.2", "CH-16.4",
		"CH-17", "CH-17.1", "CH-17.2", "CH-17.3", "CH-17.4", "CH-23.6", "CH-23.7", "CH-23.8", "CH-23.9", "CH-23.10",
		"CH-23.11"} {
		t.Attr("spec", statement)
	}
	onBothDatabases(t, func(t *testing.T, p *place) {
		words := p.write(3)
		if code := p.run(); code != exitOK {
			t.Fatalf("the first pass ended with %d", code)
		}
		p.holds(words)
		c := p.seen(0)
		p.outbox(c, health.OutboxIdle, "")
		if counts := c.Local.OutboxCounts; counts == nil || counts.Pending != 0 || counts.Succeeded == 0 ||
			c.Local.SourceCount != 1 {
			t.Errorf("progress %+v", c.Local)
		}
		if c.Health.Axes.Coverage != health.CoverageUnknown { // a drained queue proves nothing
			t.Errorf("coverage %s", c.Health.Axes.Coverage)
		}
		p.unproven(c)
		p.neverRun()
		for stores, want := range map[string]health.Coverage{"notes=collected trash=excluded": health.Complete,
			"notes=collected odd=unaccounted": health.Gapped} {
			p.vars("DIARY_STORES=" + stores)
			if code := p.run(); code != exitOK {
				t.Fatalf("a pass with stores ended with %d", code)
			}
			if got := p.seen(0).Health.Axes.Coverage; got != want {
				t.Errorf("%s: coverage %s, want %s", stores, got, want)
			}
			c := p.seen(0) // nothing declares how old the data may be, so that not even a full account makes it healthy
			p.unproven(c)
			if idle := c.Health.State == health.Idle; c.Health.Axes.Freshness != health.FreshnessUnknown ||
				idle != (want == health.Complete) {
				t.Errorf("%s: %s, %s", stores, c.Health.State, c.Health.Axes.Freshness)
			}
			p.vars("DIARY_STORES=odd=collected")
			p.run()
		}
		p.vars("DIARY_STORES=notes=collected", "DIARY_FAILS=1")
		p.run()
		if got := p.seen(0).Health.Axes.Coverage; got == health.Complete || got == health.CoverageUnknown {
			t.Errorf("coverage %s although the connector failed", got)
		}
		if c := p.seen(0); c.LastRun == nil || c.Health.Axes.Outbox != health.OutboxIdle ||
			c.Health.State == health.Healthy || !c.Health.Condition(health.CollectionSucceeded).Fails() {
			t.Errorf("a failed run of a drained device: %s, %+v", c.Health.State,
				c.Health.Condition(health.CollectionSucceeded).ConditionKind)
		}
		p.vars()
		p.run()

		p.refuse("/state", http.StatusBadRequest, "invalid_request")
		p.run()
		p.outbox(p.seen(0), health.OutboxStalled, health.StateReadFailed)
		if c := p.seen(0); c.Health.State == health.Healthy || c.Verdict.Pill.Tone == "green" {
			t.Errorf("a stalled device is %s, %s", c.Health.State, c.Verdict.Pill.Tone)
		}
		if r := p.seen(0).Recovery; len(r.Commands) != 1 ||
			!strings.HasPrefix(r.Commands[0].Command, "pdpp-local-collector run ") {
			t.Errorf("commands %+v", r.Commands)
		}
		p.refuse("", 0, "")
		p.run()
		p.outbox(p.seen(0), health.OutboxIdle, "")

		words = p.write(5)
		p.refuse("/ingest-batches", http.StatusBadRequest, "invalid_request")
		p.run()
		c = p.seen(0)
		p.outbox(c, health.OutboxStalled, health.DeadLetterBacklog)
		if c.Local.OutboxCounts == nil || c.Local.OutboxCounts.DeadLetter == 0 || len(c.Recovery.Commands) != 2 {
			t.Fatalf("progress %+v, recovery %+v", c.Local, c.Recovery)
		}
		p.refuse("", 0, "")
		p.holds(words[:3])
		for _, command := range c.Recovery.Commands { // as they are printed, on the host
			p.host.must(t, exitOK, strings.Fields(command.Command)[1:]...)
		}
		p.holds(words)
		p.outbox(p.seen(0), health.OutboxIdle, "")
		sources, err := p.store.DeviceSources(t.Context(), "")
		p.must(err)
		_, err = p.store.RevokeDevice(t.Context(), sources[0].DeviceID, time.Now())
		p.must(err)
		if c = p.seen(0); c.Local.OutboxCounts != nil {
			t.Errorf("counts of a revoked device: %+v", c.Local.OutboxCounts)
		}
		if code := p.run(); code == exitOK {
			t.Error("a revoked device made a pass")
		}
	})
}

// Work that waits is on its way while the device speaks, and stalled when it no longer does.
func TestWaitingWorkOfADevice(t *testing.T) {
	for _, statement := range []string{"CH-16.3", "CH-23.12", "CH-31", "CH-31.1", "CH-31.2"} {
		t.Attr("spec", statement)
	}
	onBothDatabases(t, func(t *testing.T, p *place) {
		p.write(4)
		reportedTexts := make(chan struct{}, 16)
		held := func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, "/ingest-batches") {
				return false
			}
			_, _ = io.Copy(io.Discard, r.Body) // who is gone is noticed only then
			reportedTexts <- struct{}{}
			<-r.Context().Done()
			return true
		}
		p.cut.Store(&held)
		for range 2 { // the second pass finds what the first one left
			cmd := exec.Command("pdpp-local-collector", "run", "--source-instance-id", p.source)
			cmd.Env, cmd.Dir, cmd.SysProcAttr = p.host.env, p.home, &syscall.SysProcAttr{Setpgid: true}
			p.must(cmd.Start())
			<-reportedTexts
			p.kill(cmd)
		}
		c := p.seen(0)
		p.outbox(c, health.OutboxActive, "")
		if c.Upload == nil || c.Upload.RecordsPending == 0 || !slices.Equal(c.Upload.Hosts, []string{"Attic"}) ||
			c.Verdict.Channel != verdict.Calm {
			t.Errorf("%s: upload %+v", c.Verdict.Channel, c.Upload)
		}
		late := p.seen(31 * time.Minute)
		p.outbox(late, health.OutboxStalled, health.StalePending)
		if late.Upload != nil || strings.Contains(fmt.Sprint(late.Recovery.Commands), "recover") {
			t.Errorf("%+v beside %+v", late.Upload, late.Recovery)
		}
	})
}
