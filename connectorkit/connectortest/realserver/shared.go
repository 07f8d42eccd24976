package realserver

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
)

// Shared is one server for all tests of a package. It is started by the first of them that needs
// it; TestMain is its Main.
type Shared[T any] struct {
	// Start starts the server in an empty folder; stop ends it.
	Start func(dir string) (server T, stop func() error, err error)

	once   sync.Once
	server T
	stop   func() error
	dir    string
	err    error
}

// Get returns the server, or fails the test.
func (s *Shared[T]) Get(t testing.TB) T {
	t.Helper()
	s.once.Do(func() {
		// Short, because servers keep sockets there; open, because they change their user.
		if s.dir, s.err = os.MkdirTemp("", "srv"); s.err != nil {
			return
		}
		if s.err = os.Chmod(s.dir, 0o755); s.err == nil {
			s.server, s.stop, s.err = s.Start(s.dir)
		}
	})
	if s.err != nil {
		t.Fatalf("start server: %v", s.err)
	}
	return s.server
}

// Main runs the tests of a package, and ends the server after the last.
func (s *Shared[T]) Main(m *testing.M) {
	code := m.Run()
	if err := s.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// Close ends the server and removes its folder; without one it does nothing.
func (s *Shared[T]) Close() error {
	var err error
	if s.stop != nil {
		err = s.stop()
	}
	if s.dir != "" {
		err = errors.Join(err, os.RemoveAll(s.dir))
	}
	return err
}
