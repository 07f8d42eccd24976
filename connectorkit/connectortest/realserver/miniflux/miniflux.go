// Package miniflux runs the real Miniflux, a feed reader, on a database of its own.
//
//	miniflux.go  the server
//	account.go   a person who reads, and the feeds that they read
//	database.go  what exists, read from the server's tables
package miniflux

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"sync"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest/realserver"
)

// Variable names the program of the tests.
const Variable = "PDPP_TEST_MINIFLUX"

// Program is the Miniflux of the tests. Without one the test fails: a server that was not met
// proves nothing.
func Program(t testing.TB) string {
	t.Helper()
	program := os.Getenv(Variable)
	if program == "" {
		t.Fatalf("%s is not set; run `make test`, which builds the server for the tests", Variable)
	}
	return program
}

// Server is a Miniflux at work.
type Server struct {
	URL      string
	database string
	site     *httptest.Server // that publishes the feeds
	mu       sync.Mutex
	feeds    map[string][]byte // by path
}

const (
	adminName     = "admin"
	adminPassword = "admin-of-the-test"
)

// Start runs the program on a new database of the PostgreSQL at base.
func Start(program, base, dir string) (*Server, func() error, error) {
	database, drop, err := realserver.CreateDatabase(base, "miniflux")
	if err != nil {
		return nil, nil, err
	}
	s := &Server{database: database, feeds: map[string][]byte{}}
	s.site = httptest.NewServer(http.HandlerFunc(s.serveFeed))
	port, err := realserver.FreePort()
	if err != nil {
		return nil, nil, errors.Join(err, drop())
	}
	address := "127.0.0.1:" + strconv.Itoa(port)
	s.URL = "http://" + address
	p, err := realserver.StartServer(realserver.Command{
		Program: program, Dir: dir, Env: []string{
			"PATH=/usr/bin:/bin", "HOME=" + dir, "TZ=UTC", "DATABASE_URL=" + s.database, "LISTEN_ADDR=" + address,
			"RUN_MIGRATIONS=1",
			"CREATE_ADMIN=1", "ADMIN_USERNAME=" + adminName, "ADMIN_PASSWORD=" + adminPassword, "DISABLE_SCHEDULER_SERVICE=1",
			"FETCHER_ALLOW_PRIVATE_NETWORKS=1", "MEDIA_PROXY_MODE=none", "LOG_LEVEL=error",
		},
		Ready: func(ctx context.Context) error { return realserver.IsListening(ctx, address) },
	})
	if err != nil {
		s.site.Close()
		return nil, nil, errors.Join(err, drop())
	}
	return s, func() error {
		err := p.Stop()
		s.site.Close()
		return errors.Join(err, drop())
	}, nil
}

// serveFeed serves the current content of a feed.
func (s *Server) serveFeed(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	text, there := s.feeds[r.URL.Path]
	s.mu.Unlock()
	if !there {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/rss+xml; charset=utf-8")
	fmt.Fprintf(w, "%s", text)
}
