package devicetest

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/quality/programs"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres/postgrestest"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
)

var quiet = log.New(io.Discard, "", 0)

// dose is how much has to go wrong.
type dose struct{ device, server, cuts, strangers, restarts, sleeps, deviceFull, serverFull int }

// measure is a short one, or the whole when PDPP_CHAOS_MINUTES is set.
func measure() dose {
	if os.Getenv("PDPP_CHAOS_MINUTES") != "" {
		return dose{device: 500, server: 300, cuts: 300, strangers: 300, restarts: 50, sleeps: 20, deviceFull: 10,
			serverFull: 5}
	}
	return dose{device: 10, server: 4, cuts: 2, strangers: 4, restarts: 1, sleeps: 3, deviceFull: 1}
}

const diaryManifest = `{"protocol_version":"0.1.0","connector_id":"https://registry.example/diary",` +
	`"version":"1.0.0","display_name":"Diary",
 "runtime_requirements":{"bindings":{"filesystem":{"required":true}},"local_paths":[{"path_env":"DIARY_FILE"}]},
 "streams":[{"name":"notes","semantics":"mutable_state","checkpoint":"slice","primary_key":"id",
  "schema":{"type":"object","required":["id"],"properties":{"id":{"type":"string"},"2":{"type":"string"},` +
	`"10":{"type":"integer"}}}}]}`

// world is one server and one device.
type world struct {
	t         *testing.T
	dir       string // of the programs
	home      string // of the server
	database  string
	port      int
	store     store.Store
	road      *road
	deviceDir string
	source    string

	mu     sync.Mutex
	server *exec.Cmd
	device *exec.Cmd
	kills  map[string]int
	lines  []string // of the diary
	naps   int

	// state and base are small disks of the device's queue and of the server's database; nil
	// where there are none.
	state, base *disk
	filled      map[string]int // how often a disk was full, by "device" or "server"
}

func TestDeviceChaos(t *testing.T) {
	dir := t.TempDir()
	if err := programs.Build(dir, "cmd/pdpp", "cmd/pdpp-local-collector"); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, filepath.Join(dir, clocked))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		home := t.TempDir()
		base := mountDisk(t, home, "1400m")
		st, err := sqlite.Open(t.Context(), sqlitetest.NewDatabase(t, filepath.Join(home, "pdpp.db")), sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		suffer(&world{t: t, dir: dir, home: home, base: base, store: st}, 1)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		address := postgrestest.NewDatabase(t)
		st, err := postgres.Open(t.Context(), address, postgres.Options{Connections: 2})
		if err != nil {
			t.Fatal(err)
		}
		suffer(&world{t: t, dir: dir, home: t.TempDir(), database: address, store: st}, 2)
	})
}

// suffer lets the diary grow while everything goes wrong, and compares in the end.
func suffer(w *world, seed uint64) {
	t := w.t
	t.Cleanup(func() { _ = w.store.Close() })
	w.kills, w.filled = map[string]int{}, map[string]int{}
	w.plant()
	w.state = mountDisk(t, filepath.Join(w.deviceDir, ".local", "state"), "96m")
	w.start()
	t.Cleanup(func() { w.end("server") })
	w.road = newRoad(t, seed, w.address())
	w.road.device, w.road.server = func() { w.end("device") }, func() { w.end("server"); w.start() }
	w.road.sleep = w.nap
	w.enrol()

	cuts, strangers := []mishap{resets, halfBody, lostAnswer, blackHole, busy, tooMany}, []mishap{portal, portalPage}
	for want, restarts := measure(), 0; ; {
		w.grow(60)
		w.mu.Lock()
		device, server := w.kills["device"], w.kills["server"]-restarts
		w.mu.Unlock()
		program := "pdpp-local-collector"
		switch {
		case w.state != nil && w.filled["device"] < want.deviceFull:
			w.road.allow()
			w.passOnFullDevice([]int64{0, 24 << 10, 32 << 20}) // none, hardly any, less than is spared
		case w.base != nil && w.filled["server"] < want.serverFull:
			w.road.allow()
			w.passOnFullServer()
		case restarts < want.restarts:
			w.end("server") // between two passes
			w.start()
			restarts++
			w.road.allow(killDevice, killDeviceNow)
		case device < want.device:
			w.road.allow(killDevice, killDeviceNow, killDeviceNow, portal)
		case server < want.server:
			w.road.allow(killServer, killServerNow)
		case w.road.count(strangers...) < want.strangers:
			w.road.allow(strangers...)
		case w.road.count(slept) < want.sleeps:
			program = clocked
			w.road.allow(slept)
		case w.road.count(cuts...) < want.cuts: // each is waited for, which takes seconds
			w.road.allow(cuts...)
		}
		_, _ = w.runProgram(program, "run", "--source-instance-id", w.source)
		if w.enough(want, restarts, cuts, strangers) {
			break
		}
	}
	w.road.allow()
	for range 3 { // one may bring home what waits, the next what is new
		w.pass()
	}
	if out, err := w.run("run", "--source-instance-id", w.source); err != nil {
		t.Fatalf("the last pass failed: %v\n%s", err, out)
	}
	w.judge()
}

// plant creates a server home with the diary's connector, and a device home with the connector's
// program.
func (w *world) plant() {
	t := w.t
	w.deviceDir = t.TempDir()
	self, err := os.Executable()
	for _, dir := range []string{filepath.Join(w.home, "connectors", "diary"),
		filepath.Join(w.deviceDir, ".config", "pdpp", "connectors", "diary")} {
		if err == nil {
			err = os.MkdirAll(dir, 0o700)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "manifest.json"), []byte(diaryManifest), 0o600)
		}
		if err == nil {
			err = os.Symlink(self, filepath.Join(dir, "connector"))
		}
	}
	if err == nil {
		var free net.Listener
		if free, err = net.Listen("tcp", "127.0.0.1:0"); err == nil {
			w.port = free.Addr().(*net.TCPAddr).Port
			err = free.Close()
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// start starts the server and returns when it listens.
func (w *world) start() {
	w.mu.Lock()
	defer w.mu.Unlock()
	cmd := exec.Command(filepath.Join(w.dir, "pdpp"), "serve", "--role", "web", "--listen",
		fmt.Sprintf("127.0.0.1:%d", w.port), "--json", "--log-level", "error")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.home, "PDPP_HOME=" + w.home, "PDPP_DATABASE_URL=" +
		w.database, "GOMAXPROCS=2"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		w.t.Error(err)
		return
	}
	if !bufio.NewScanner(out).Scan() { // it prints its address
		w.t.Errorf("the server says nothing: %s", &complaint)
	}
	w.server = cmd
}

// end kills a process and waits until it is gone.
func (w *world) end(which string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch which {
	case "server":
		if w.server != nil {
			_ = syscall.Kill(-w.server.Process.Pid, syscall.SIGKILL)
			_ = w.server.Wait()
			w.server = nil
			w.kills[which]++
		}
	case "device":
		if w.device != nil {
			_ = syscall.Kill(-w.device.Process.Pid, syscall.SIGKILL)
			w.kills[which]++
		}
	}
}

// enough reports whether every required failure has occurred.
func (w *world) enough(want dose, restarts int, cuts, strangers []mishap) bool {
	w.mu.Lock()
	device, server := w.kills["device"], w.kills["server"]-restarts
	w.mu.Unlock()
	return restarts >= want.restarts && device >= want.device && server >= want.server &&
		w.road.count(strangers...) >= want.strangers &&
		w.road.count(slept) >= want.sleeps && w.road.count(cuts...) >= want.cuts &&
		(w.state == nil || w.filled["device"] >= want.deviceFull) && (w.base == nil || w.filled["server"] >= want.serverFull)
}

// passOnFullDevice lets a pass meet a disk of the device that has room for these many bytes, in
// turn.
func (w *world) passOnFullDevice(leave []int64) {
	w.pass() // what waits is gone, so that it meets the disk with something new
	w.grow(120)
	w.state.fill(leave[w.filled["device"]%len(leave)])
	w.pass()
	w.state.empty()
	w.filled["device"]++
}

// passOnFullServer lets a pass meet a server that can write nothing, until it has refused
// something.
func (w *world) passOnFullServer() {
	w.pass()
	w.grow(120)
	w.base.fill(0)
	before, over := w.road.refused.Load(), make(chan struct{})
	go func() { defer close(over); w.pass() }()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for waiting := true; waiting && w.road.refused.Load() == before; {
		select {
		case <-over:
			waiting = false
		case <-look.C:
		}
	}
	if w.road.refused.Load() > before {
		w.filled["server"]++
	}
	w.base.empty()
	<-over
}

// run starts the device's program and waits for its end, whichever that is.
func (w *world) run(args ...string) (string, error) {
	return w.runProgram("pdpp-local-collector", args...)
}

func (w *world) runProgram(name string, args ...string) (string, error) {
	cmd := exec.Command(filepath.Join(w.dir, name), args...)
	cmd.Env = []string{clockVariable + "=" + w.clock(), "PATH=" + os.Getenv("PATH"), "HOME=" + w.deviceDir, "TMPDIR=" +
		w.deviceDir, "GORACE=atexit_sleep_ms=0"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	w.mu.Lock()
	err := cmd.Start()
	w.device = cmd
	w.mu.Unlock()
	if err != nil {
		w.t.Fatal(err)
	}
	err = cmd.Wait()
	w.mu.Lock()
	w.device = nil
	w.mu.Unlock()
	return output.String(), err
}

func (w *world) pass() { _, _ = w.run("run", "--source-instance-id", w.source) }

// enrol makes a code and spends it with the real command.
func (w *world) enrol() {
	t := w.t
	const code = "lde_chaos"
	hash, now := sha256.Sum256([]byte(code)), time.Now()
	err := w.store.CreateDeviceCode(t.Context(), store.DeviceCode{ID: "dcode_chaos", Hash: hash[:], ConnectorID: "diary",
		LocalBinding: "attic",
		Status:       store.CodePending, CreatedAt: now, ExpiresAt: now.Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	out, err := w.run("setup", "--base-url", w.road.URL, "--code", code, "--write-only")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	w.profile()
}

func (w *world) address() string { return fmt.Sprintf("http://127.0.0.1:%d", w.port) }

// connection is the one that the device feeds.
func (w *world) connection() string {
	w.t.Helper()
	connections, err := w.store.ListConnections(w.t.Context())
	if err != nil || len(connections) != 1 {
		w.t.Fatalf("%v, %v", connections, err)
	}
	return connections[0].ID
}

func (w *world) diary() string { return filepath.Join(w.deviceDir, "diary.txt") }

// grow adds lines to the diary. One line in fifty is unreadable.
func (w *world) grow(n int) {
	for range n {
		line := fmt.Sprintf("note%06d", len(w.lines))
		if len(w.lines)%50 == 49 {
			line = "?" + line
		}
		w.lines = append(w.lines, line)
	}
	if err := os.WriteFile(w.diary(), []byte(strings.Join(w.lines, "\n")+"\n"), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// judge holds what is stored and what is declared missing against the diary.
func (w *world) judge() {
	t := w.t
	id := w.connection()
	stored := map[string]bool{}
	for after := int64(0); ; {
		page, err := w.store.Changes(t.Context(),
			store.RecordQuery{AccessFilter: store.AccessFilter{ConnectionID: id, Stream: "notes"}, AfterSeq: after, Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page {
			if r.Version != 1 || stored[r.Key] {
				t.Errorf("%s was written %d times", r.Key, r.Version)
			}
			stored[r.Key], after = true, r.Seq
		}
		if len(page) < 1000 {
			break
		}
	}
	gaps, err := w.store.ListGaps(t.Context(), store.GapQuery{ConnectionID: id, Missing: true, Limit: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	missing := map[string]bool{}
	for _, g := range gaps {
		missing[g.RecordKey] = true
	}
	for _, line := range w.lines {
		key, lost := strings.CutPrefix(line, "?")
		if stored[key] == lost || missing[key] != lost {
			t.Errorf("%s: stored %t, declared missing %t", line, stored[key], missing[key])
		}
		delete(stored, key)
	}
	if len(stored) > 0 {
		t.Errorf("%d records were invented", len(stored))
	}
	var happened []string
	for m, n := range w.road.counts {
		happened = append(happened, fmt.Sprintf("%s %d", m, n))
	}
	slices.Sort(happened)
	if w.state != nil {
		happened = append(happened, fmt.Sprintf("the device's disk full %d, the server's %d", w.filled["device"],
			w.filled["server"]))
	}
	t.Attr("result", fmt.Sprintf("%d lines, %d kills of the device, %d of the server; %s: ground truth == stored + "+
		"declared missing, nothing twice",
		len(w.lines), w.kills["device"], w.kills["server"], strings.Join(happened, ", ")))
}
