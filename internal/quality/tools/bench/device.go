package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
)

// Sizes of the measurement of a device.
const (
	firstLoadLines, firstLoadBytes = 512, 2000 // of a file, about 1.1 MB
	appends                        = 20
	// growth is how often a line comes to a file that keeps growing.
	growth = 300 * time.Millisecond
)

// measureDevice measures the shipped programs, one server and one computer, from outside: the
// first load of a folder of transcripts by the line that is pasted, and then how long a line
// that is appended takes until a search finds it.
func measureDevice(ctx context.Context, c config, dir string, r *report) error {
	return withDevice(ctx, dir, func(d *device, s *server) error {
		if _, err := d.firstLoad(ctx, c.FirstLoad, s, r); err != nil {
			return err
		}
		return d.appended(ctx, s, r)
	})
}

// withDevice works with a server that runs and a computer that has nothing yet.
func withDevice(ctx context.Context, dir string, work func(*device, *server) error) error {
	p, err := build(ctx, dir)
	if err != nil {
		return err
	}
	d := &device{bin: filepath.Dir(p.pdpp), server: filepath.Join(dir, "device-server"),
		home: filepath.Join(dir, "device-home")}
	for _, folder := range []string{d.server, d.home} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return err
		}
		defer os.RemoveAll(folder)
	}
	if out, err := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", d.bin+"/",
		"./cmd/pdpp-local-collector").CombinedOutput(); err != nil {
		return fmt.Errorf("build the collector: %w: %s", err, out)
	}
	s, err := p.serve(ctx, d.server, "", "--role", "web", "--listen", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer s.stop()
	if d.store, err = sqlite.Open(ctx, filepath.Join(d.server, "pdpp.db"), sqlite.Options{}); err != nil {
		return err
	}
	defer d.store.Close()
	return work(d, s)
}

type device struct {
	bin, server, home string
	store             store.Store
	connection        string
}

// command is one of the collector's, on the computer.
func (d *device) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(d.bin, "pdpp-local-collector"), args...)
	cmd.Env = []string{"PATH=" + d.bin + ":" + os.Getenv("PATH"), "HOME=" + d.home, "TMPDIR=" + d.home}
	return cmd
}

// write adds a line with a word that nothing else holds.
func (d *device) write(session, word string) error {
	folder := filepath.Join(d.home, ".claude", "projects", "-home-mara-0")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(folder, session+".jsonl"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, `{"type":"user","uuid":"u-%s","sessionId":"%s","timestamp":%q,"message":{"role":"user",`+
		`"content":"The %s is ripe"}}`+"\n",
		word, session, time.Now().UTC().Format(time.RFC3339), word)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// found waits until a search finds a word.
func (d *device) found(ctx context.Context, word string, most time.Duration) error {
	return until(ctx, most, "find "+word, func() (bool, error) {
		if d.connection == "" {
			all, err := d.store.ListConnections(ctx)
			if err != nil || len(all) == 0 {
				return false, err
			}
			d.connection = all[0].ID
		}
		got, err := d.store.Search(ctx,
			store.SearchQuery{In: []store.AccessFilter{{ConnectionID: d.connection, Stream: "messages"}}, Text: word, Limit: 1})
		return len(got) > 0, err
	})
}

// firstLoad measures a folder of as many MB. A server that is slower than the device fills the
// queue, so that the whole gigabyte shows its bound.
func (d *device) firstLoad(ctx context.Context, mb int, s *server, r *report) (took time.Duration, err error) {
	files := transcriptFiles(mb)
	size, err := writeTranscripts(filepath.Join(d.home, ".claude"), files, firstLoadLines, firstLoadBytes)
	if err == nil {
		err = d.write("session-newest", "medlar")
	}
	if err != nil {
		return 0, err
	}
	add := exec.CommandContext(ctx, filepath.Join(d.bin, "pdpp"), "--home", d.server, "devices", "add", "claude_code",
		"--json")
	add.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + d.server}
	content, err := add.Output()
	if err != nil {
		return 0, fmt.Errorf("make the line to paste: %w", err)
	}
	var made struct {
		Command string `json:"command"`
	}
	if err := json.Unmarshal(content, &made); err != nil {
		return 0, err
	}
	setup := d.command(ctx, strings.Fields(made.Command)[1:]...)
	began := time.Now()
	if err := setup.Start(); err != nil {
		return 0, err
	}
	watching, stop := context.WithCancel(ctx)
	peak := make(chan peaks, 1)
	go func() { peak <- d.peaks(watching, setup.Process.Pid) }()
	var after time.Duration
	found := make(chan error, 1)
	go func() {
		err := d.found(watching, "medlar", time.Hour)
		after = time.Since(began)
		found <- err
	}()
	err = setup.Wait()
	took = time.Since(began)
	if err == nil {
		err = <-found
	}
	stop()
	most := <-peak
	if err != nil {
		return 0, fmt.Errorf("the first load: %w", err)
	}
	note := fmt.Sprintf("%d files, %.0f MB", files, float64(size)/1e6)
	r.tell(figure{Name: "first load of a device", Value: took.Seconds(), Unit: "s", Note: note})
	r.tell(figure{Name: "first load of a device, speed", Value: float64(size) / 1e6 / took.Seconds(), Unit: "MB/s",
		Note: note})
	// The test cannot backdate a file's change time. All files are from today, and the newest
	// comes last.
	r.tell(figure{Name: "first load, the last line is found after", Value: after.Seconds(), Unit: "s",
		Note: "every file is of today"})
	r.tell(figure{Name: "first load, the largest queue", Value: float64(most.queue) / (1 << 20), Unit: "MiB", Below: 512})
	r.tell(figure{Name: "first load, the device with its connector",
		Value: float64(size) / 1e6 / cpuOf(setup.ProcessState), Unit: "MB per CPU-s", AtLeast: 40, Note: note})
	r.tell(figure{Name: "first load, memory of the collector", Value: float64(most.memory) / 1024, Unit: "MiB", Below: 64})
	server, err := statusField(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid), "VmHWM")
	if err != nil {
		return 0, err
	}
	r.tell(figure{Name: "first load, memory of the server", Value: float64(server) / 1024, Unit: "MiB", Below: 200})
	return took, nil
}

// peaks are the largest that was seen of a device at work.
type peaks struct {
	queue  int64 // bytes of its files
	memory int64 // KiB of the process
}

// peaks samples the process until ctx ends. The peak memory that the system reports at exit would
// include that of the parent process.
func (d *device) peaks(ctx context.Context, pid int) (most peaks) {
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	for {
		var now int64
		files, _ := filepath.Glob(filepath.Join(d.home, ".local", "state", "pdpp", "collectors", "*.sqlite*"))
		for _, path := range files {
			if info, err := os.Stat(path); err == nil {
				now += info.Size()
			}
		}
		most.queue = max(most.queue, now)
		if kib, err := statusField(fmt.Sprintf("/proc/%d/status", pid), "VmHWM"); err == nil {
			most.memory = max(most.memory, kib)
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return most
		}
	}
}

// cpuOf is the processor time of a process that has ended and of the children that it waited for,
// in seconds.
func cpuOf(p *os.ProcessState) float64 { return (p.UserTime() + p.SystemTime()).Seconds() }

// appended measures from a line in a file to a search that finds it, while the service works: one
// line after another, each as soon as the one before was found, and lines in a file that keeps
// growing.
func (d *device) appended(ctx context.Context, s *server, r *report) error {
	service := d.command(ctx, "service", "run")
	var output strings.Builder
	service.Stderr = &output
	if err := service.Start(); err != nil {
		return err
	}
	stopped := false
	stop := func() {
		if !stopped {
			stopped = true
			_ = service.Process.Signal(syscall.SIGTERM)
			_ = service.Wait()
		}
	}
	defer stop()
	if err := d.write("session-newest", "quince"); err != nil {
		return err
	}
	if err := d.found(ctx, "quince", 2*time.Minute); err != nil {
		return err
	}
	before, err := s.cpu()
	if err != nil {
		return err
	}
	alone, err := d.appendAndFind(ctx, "sloe")
	if err != nil {
		return err
	}
	after, err := s.cpu()
	if err != nil {
		return err
	}
	growing, end := context.WithCancel(ctx)
	grown := make(chan error, 1)
	go func() { grown <- d.grow(growing) }()
	while, err := d.appendAndFind(ctx, "damson")
	end()
	if err = errors.Join(err, <-grown); err != nil {
		return err
	}
	stop()
	passes := strings.Count(output.String(), "msg=pass")
	note := fmt.Sprintf("%d passes; a pass takes %.0f CPU-ms of the device, a line %.0f of the server", passes,
		1000*cpuOf(service.ProcessState)/float64(max(passes, 1)), 1000*(after-before).Seconds()/appends)
	r.tell(figure{Name: "an appended line is found after, p50", Value: percentile(alone, 0.5), Unit: "s", Below: 4,
		Note: note})
	r.tell(figure{Name: "an appended line is found after, p95", Value: percentile(alone, 0.95), Unit: "s", Below: 8})
	r.tell(figure{Name: "the same while the file keeps growing, p50", Value: percentile(while, 0.5), Unit: "s", Below: 4})
	r.tell(figure{Name: "the same while the file keeps growing, p95", Value: percentile(while, 0.95), Unit: "s", Below: 8})
	return nil
}

// appendAndFind appends lines, each after the previous one was found. It returns the sorted wait
// times.
func (d *device) appendAndFind(ctx context.Context, name string) (waits []float64, err error) {
	for n := range appends {
		word := fmt.Sprintf("%s%03d", name, n)
		began := time.Now()
		if err := d.write("session-newest", word); err != nil {
			return nil, err
		}
		if err := d.found(ctx, word, time.Minute); err != nil {
			return nil, err
		}
		waits = append(waits, time.Since(began).Seconds())
	}
	slices.Sort(waits)
	return waits, nil
}

// grow appends to the file until ctx ends.
func (d *device) grow(ctx context.Context) error {
	look := time.NewTicker(growth)
	defer look.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return nil
		case <-look.C:
			if err := d.write("session-newest", fmt.Sprintf("filler%06d", n)); err != nil {
				return err
			}
		}
	}
}

// transcriptFiles returns the number of transcripts of that many megabytes.
func transcriptFiles(mb int) int { return max(1, mb*1e6/(firstLoadLines*(firstLoadBytes+200))) }
