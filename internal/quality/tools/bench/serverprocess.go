package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// programs are what is measured from outside, as the owner has them.
type programs struct {
	pdpp, waiter string
	env          []string // of what is started, beside what every process needs
}

// build makes the programs, once per run of the benchmark.
func build(ctx context.Context, dir string) (programs, error) {
	bin := filepath.Join(dir, "bin")
	p := programs{pdpp: filepath.Join(bin, "pdpp"), waiter: filepath.Join(bin, "waiter")}
	if _, err := os.Stat(p.waiter); err == nil {
		return p, nil
	}
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return p, err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", bin+"/", "./cmd/pdpp", "./cmd/pdpp-connectors",
		"./internal/quality/tools/bench/waiter")
	if out, err := cmd.CombinedOutput(); err != nil {
		return p, fmt.Errorf("build the programs: %w: %s", err, out)
	}
	return p, nil
}

// server is a running pdpp serve.
type server struct {
	cmd      *exec.Cmd
	url      string
	password string        // of the owner
	ready    time.Duration // from its start to its word that it is ready
}

// serve starts pdpp serve over a home, and a database if one is named, and waits
// until it is ready. What it logs goes to a file in its home.
func (p programs) serve(ctx context.Context, home, database string, args ...string) (*server, error) {
	log, err := os.OpenFile(filepath.Join(home, "server.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	s := &server{cmd: exec.CommandContext(ctx, p.pdpp, append([]string{"--home", home, "--json", "serve"}, args...)...)}
	s.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + home}, p.env...)
	if database != "" {
		s.cmd.Env = append(s.cmd.Env, "PDPP_DATABASE_URL="+database)
	}
	s.cmd.Stderr = log
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	var reported struct {
		Ready bool   `json:"ready"`
		URL   string `json:"url"`
		Owner string `json:"owner_password"`
	}
	err = json.NewDecoder(out).Decode(&reported)
	s.ready, s.url, s.password = time.Since(begin), reported.URL, reported.Owner
	if err != nil || !reported.Ready {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		content, _ := os.ReadFile(log.Name())
		return nil, fmt.Errorf("pdpp serve did not become ready (%w): %s", err, tailOf(string(content)))
	}
	return s, nil
}

func tailOf(s string) string { return s[max(0, len(s)-600):] }

// stop ends the server as a service manager does, and returns how long that took.
func (s *server) stop() (time.Duration, error) {
	begin := time.Now()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return 0, err
	}
	force := time.AfterFunc(20*time.Second, func() { _ = s.cmd.Process.Kill() })
	defer force.Stop()
	err := s.cmd.Wait()
	return time.Since(begin), err
}

// tick is what /proc counts times in: USER_HZ is 100 on every Linux.
const tick = 10 * time.Millisecond

// cpu is what the process itself has used so far, without its children.
func (s *server) cpu() (time.Duration, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(b), ") ") // the name may hold anything
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0, errors.New("/proc has no times of the process")
	}
	user, err := strconv.ParseInt(fields[11], 10, 64)
	system, err2 := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * tick, errors.Join(err, err2)
}

// rss is the memory of the process now, in MiB.
func (s *server) rss() (float64, error) {
	kib, err := statusField(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid), "VmRSS")
	return float64(kib) / 1024, err
}

func statusField(file, name string) (kib int64, err error) {
	status, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if _, err := fmt.Sscanf(line, name+": %d kB", &kib); err == nil {
			return kib, nil
		}
	}
	return 0, fmt.Errorf("no %s in %s", name, file)
}

// until asks again and again, gently, until the answer is yes.
func until(ctx context.Context, most time.Duration, what string, yes func() (bool, error)) error {
	limit := time.Now().Add(most)
	for {
		ok, err := yes()
		if err != nil || ok {
			return err
		}
		if time.Now().After(limit) {
			return fmt.Errorf("%s: not within %s", what, most)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}
