// Package limitertest runs real rate limiters on loopback, nginx and HAProxy, for
// tests and benchmarks.
package limitertest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// Server is one running nginx that serves limited items.
type Server struct {
	URL string

	dir     string
	process *process
}

// Path is where item i is served, and Body is what it holds.
func Path(i int) string { return "items/" + strconv.Itoa(i) }
func Body(i int) string { return fmt.Sprintf("item %d of a limited provider\n", i) }

// Run starts the nginx at program with its files in the empty folder dir. It serves the items,
// each under Path, with one limit l for all of them. The process ends with Stop, or when its
// parent process ends.
func Run(program, dir string, l Limit, items int) (*Server, error) {
	address, release, err := reserve()
	if err != nil {
		return nil, fmt.Errorf("reserve a port: %w", err)
	}
	defer release()
	if err := prepare(dir, l.config(address), items); err != nil {
		return nil, fmt.Errorf("prepare nginx: %w", err)
	}
	s := &Server{URL: "http://" + address, dir: dir}
	if s.process, err = launch(program, dir, "-p", dir, "-c", "nginx.conf", "-e", "stderr"); err != nil {
		return nil, fmt.Errorf("start nginx: %w", err)
	}
	if err := s.process.ready(s.URL); err != nil {
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

// Stop ends nginx and returns every request for an item in the order of the answers. The error
// includes the messages of nginx.
func (s *Server) Stop() ([]Request, error) {
	p := s.process
	if err := p.stop(); err != nil {
		return nil, fmt.Errorf("nginx: %w", err)
	}
	if p.err != nil || p.output.Len() > 0 {
		return nil, fmt.Errorf("nginx complained: %w: %s", p.err, bytes.TrimSpace(p.output.Bytes()))
	}
	return readLog(filepath.Join(s.dir, "requests.log"))
}
