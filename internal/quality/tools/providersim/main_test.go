package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/pdpp-go/pdpp/providersim"
)

// TestMain lets the test binary be the command.
func TestMain(m *testing.M) {
	if os.Getenv("SIMPROVIDER_TEST_BE_MAIN") == "1" {
		main()
		return
	}
	os.Exit(m.Run())
}

// launch starts the command and returns once it has announced itself.
func launch(t *testing.T, args ...string) (*exec.Cmd, io.Closer, ready) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), "SIMPROVIDER_TEST_BE_MAIN=1")
	cmd.Stderr = t.Output()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	if err != nil {
		t.Fatalf("read announcement: %v", err)
	}
	var r ready
	if err := json.Unmarshal(line, &r); err != nil {
		t.Fatal(err)
	}
	return cmd, stdin, r
}

func TestServesAndStopsOnSIGTERM(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "ready.json")
	cmd, _, announced := launch(t, "--events", "7", "--notes", "3", "--threads", "2", "--seed", "9", "--token", "tok-9",
		"--ready-file", file)

	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var r ready
	if err := json.Unmarshal(content, &r); err != nil {
		t.Fatal(err)
	}
	if r != announced || r.Token != "tok-9" || r.PID != cmd.Process.Pid {
		t.Errorf("ready file %+v, announced %+v, pid %d", r, announced, cmd.Process.Pid)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("ready file mode %v, want 0600: it holds the token", info.Mode().Perm())
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(file), ".simprovider-*")); len(left) > 0 {
		t.Errorf("temporary files left: %v", left)
	}

	req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, r.BaseURL+"/v1/events", nil)
	req.Header.Set("Authorization", "Bearer tok-9")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var page struct{ Events []json.RawMessage }
	if err := json.NewDecoder(resp.Body).Decode(&page); err != nil || len(page.Events) != 7 {
		t.Errorf("%d events (%v), want 7", len(page.Events), err)
	}
	truth, err := providersim.Control{URL: r.ControlURL}.Truth(t.Context())
	if err != nil || len(truth["notes"]) != 3 || len(truth["threads"]) != 2 {
		t.Errorf("truth has %d notes, %d threads (%v)", len(truth["notes"]), len(truth["threads"]), err)
	}

	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("exit: %v, want a clean stop", err)
	}
}

// TestServesGitHub starts the other provider.
func TestServesGitHub(t *testing.T) {
	t.Parallel()
	cmd, stdin, r := launch(t, "--provider", "github", "--pulls", "3", "--stars", "2", "--token", "ghp_9",
		"--stop-on-stdin-close")
	defer func() {
		if err := errors.Join(stdin.Close(), cmd.Wait()); err != nil {
			t.Error(err)
		}
	}()
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, r.BaseURL+"/user", nil)
	req.Header.Set("Authorization", "Bearer ghp_9")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	truth, err := providersim.Control{URL: r.ControlURL}.Truth(t.Context())
	if err != nil || resp.StatusCode != http.StatusOK || len(truth["pull_requests"]) != 3 || len(truth["starred"]) != 2 {
		t.Errorf("status %d, %d pull requests, %d stars (%v)", resp.StatusCode, len(truth["pull_requests"]),
			len(truth["starred"]), err)
	}
}

func TestStopsWhenStdinCloses(t *testing.T) {
	t.Parallel()
	cmd, stdin, _ := launch(t, "--stop-on-stdin-close")
	if err := stdin.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("exit: %v, want a clean stop", err)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		args []string
		want error
	}{
		"api on all interfaces":    {[]string{"--addr", ":0"}, providersim.ErrNotLoopback},
		"api on a public address":  {[]string{"--addr", "0.0.0.0:0"}, providersim.ErrNotLoopback},
		"control on another host":  {[]string{"--control-addr", "192.0.2.1:80"}, providersim.ErrNotLoopback},
		"negative count":           {[]string{"--events", "-1"}, nil},
		"negative count of github": {[]string{"--provider", "github", "--stars", "-1"}, nil},
		"unknown provider":         {[]string{"--provider", "moonbook"}, nil},
		"stray argument":           {[]string{"now"}, nil},
		"ready file in no folder": {[]string{"--ready-file", filepath.Join(t.TempDir(), "absent", "ready.json")},
			os.ErrNotExist},
		"address without any port":  {[]string{"--addr", "127.0.0.1"}, nil},
		"flag that does not exist":  {[]string{"--public"}, nil},
		"latency that is no length": {[]string{"--latency", "soon"}, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := run(t.Context(), c.args, nil, io.Discard, io.Discard)
			if err == nil {
				t.Fatal("no error")
			}
			if c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
		})
	}
}

func TestEndedContextStops(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out bytes.Buffer
	if err := run(ctx, []string{"--events", "0"}, nil, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	var r ready
	if err := json.Unmarshal(out.Bytes(), &r); err != nil || r.PID != os.Getpid() {
		t.Errorf("announced %q (%v)", out.String(), err)
	}
}
