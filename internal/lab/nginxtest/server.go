// Package nginxtest runs a real nginx as a rate limiter on loopback, for tests
// and benchmarks.
package nginxtest

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

// Server is one running nginx that serves limited items.
type Server struct {
	URL string

	dir   string
	cmd   *exec.Cmd
	ended chan struct{} // closed when the process is gone; then err and said are set
	err   error
	said  bytes.Buffer
}

// Path is where item i is served, and Body is what it holds.
func Path(i int) string { return "items/" + strconv.Itoa(i) }
func Body(i int) string { return fmt.Sprintf("item %d of a limited provider\n", i) }

// Run starts the nginx at program with its files in the empty folder dir. It
// serves the given number of items, each under Path, limited together by l. The
// process ends with Stop, and with the process that started it.
func Run(program, dir string, l Limit, items int) (*Server, error) {
	address, release, err := reserve()
	if err != nil {
		return nil, fmt.Errorf("reserve a port: %w", err)
	}
	defer release()
	if err := prepare(dir, l.config(address), items); err != nil {
		return nil, fmt.Errorf("prepare nginx: %w", err)
	}
	s := &Server{URL: "http://" + address, dir: dir, ended: make(chan struct{})}
	if err := s.start(program); err != nil {
		return nil, fmt.Errorf("start nginx: %w", err)
	}
	if err := s.ready(); err != nil {
		_, stopErr := s.Stop()
		return nil, fmt.Errorf("wait for nginx: %w", errors.Join(err, stopErr))
	}
	return s, nil
}

func prepare(dir, config string, items int) error {
	files := map[string]string{"nginx.conf": config, "ready": "ready"}
	for i := range items {
		files[filepath.FromSlash(Path(i))] = Body(i)
	}
	if err := os.MkdirAll(filepath.Join(dir, "items"), 0o755); err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (s *Server) start(program string) error {
	s.cmd = exec.Command(program, "-p", s.dir, "-c", "nginx.conf", "-e", "stderr")
	s.cmd.Dir, s.cmd.Stderr, s.cmd.Env = s.dir, &s.said, []string{}
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	started := make(chan error)
	go func() {
		// The death signal comes when the starting thread ends, so this one stays.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := s.cmd.Start()
		started <- err
		if err == nil {
			s.err = s.cmd.Wait()
			close(s.ended)
		}
	}()
	return <-started
}

// ready asks for a page that is not limited until it is served.
func (s *Server) ready() error {
	client := http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	for deadline := time.Now().Add(10 * time.Second); ; {
		resp, err := client.Get(s.URL + "/ready")
		if err == nil {
			defer resp.Body.Close()
			if resp.StatusCode != http.StatusOK {
				return errors.New("answer " + resp.Status)
			}
			return nil
		}
		select {
		case <-s.ended:
			return err
		case <-time.After(5 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return err
		}
	}
}

// Stop ends nginx and gives every request for an item in the order of the
// answers. What nginx complained about is part of the error.
func (s *Server) Stop() ([]Request, error) {
	select {
	case <-s.ended:
		return nil, fmt.Errorf("nginx ended by itself: %w: %s", s.err, bytes.TrimSpace(s.said.Bytes()))
	default:
	}
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return nil, fmt.Errorf("stop nginx: %w", err)
	}
	select {
	case <-s.ended:
	case <-time.After(10 * time.Second):
		_ = s.cmd.Process.Kill()
		<-s.ended
		return nil, errors.New("nginx did not end when told to")
	}
	if s.err != nil || s.said.Len() > 0 {
		return nil, fmt.Errorf("nginx complained: %w: %s", s.err, bytes.TrimSpace(s.said.Bytes()))
	}
	return readLog(filepath.Join(s.dir, "requests.log"))
}
