// Package pds runs the real @atproto/pds, the server that accounts of Bluesky live on, with a real
// directory of names (@did-plc/server) beside it.
//
//	pds.go      the server
//	server.mjs  how it is started, and what exists, read from a repository's export
//	account.go  an account, and what can be written to it
package pds

import (
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest/realserver"
)

// Variable names the folder that holds the packages in node_modules, and the program node that they
// are built for.
const Variable = "PDPP_TEST_PDS"

// Folder is that of the tests. Without one the test fails: a server that was not met proves nothing.
func Folder(t testing.TB) string {
	t.Helper()
	folder := os.Getenv(Variable)
	if folder == "" {
		t.Fatalf("%s is not set; run `make test`, which installs the server for the tests", Variable)
	}
	return folder
}

//go:embed server.mjs
var serverProgram string

// Server is a server at work.
type Server struct {
	URL     string
	control string
	bypass  string // what lets the person's own writes pass the limits
}

// Limits are what the server allows one address; without points they are its own, 3000 in 300 seconds.
type Limits struct {
	Points, Seconds int
}

// Start runs the server that is installed in the folder, with everything that it keeps in dir.
func Start(folder, dir string, l Limits) (*Server, func() error, error) {
	var lost error
	for range 3 { // another process may take the port meanwhile
		s, stop, err := startOnce(folder, dir, l)
		if err == nil {
			return s, stop, nil
		}
		lost = err
	}
	return nil, nil, lost
}

func startOnce(folder, dir string, l Limits) (*Server, func() error, error) {
	var ports [3]int
	for i := range ports {
		var err error
		if ports[i], err = realserver.FreePort(); err != nil {
			return nil, nil, err
		}
	}
	file := filepath.Join(dir, "server.mjs")
	if err := os.WriteFile(file, []byte(serverProgram), 0o600); err != nil {
		return nil, nil, err
	}
	at := func(i int) string { return "http://127.0.0.1:" + strconv.Itoa(ports[i]) }
	s := &Server{URL: at(0), control: at(1)}
	var limits []string
	if l.Points > 0 {
		s.bypass = rand.Text()
		limits = []string{fmt.Sprint("TEST_POINTS=", l.Points), fmt.Sprint("TEST_SECONDS=", l.Seconds), "TEST_BYPASS=" +
			s.bypass}
	}
	p, err := realserver.StartServer(realserver.Command{
		Program: filepath.Join(folder, "node"), Args: []string{file}, Dir: dir,
		Env: append(limits,
			"PATH=/usr/bin:/bin", "HOME="+dir, "TZ=UTC", "NODE_NO_WARNINGS=1", "LOG_ENABLED=false",
			"NODE_COMPILE_CACHE="+filepath.Join(folder, "compiled"), // else its scripts cost seconds at each start
			"TEST_MODULES="+filepath.Join(folder, "node_modules"), "TEST_DIR="+dir,
			fmt.Sprint("TEST_PORT=", ports[0]), fmt.Sprint("TEST_CONTROL=", ports[1]), fmt.Sprint("TEST_PLC=", ports[2]),
		),
		Ready: func(ctx context.Context) error { return s.readTestSide(ctx, "/ready", nil) },
	})
	if err != nil {
		return nil, nil, err
	}
	return s, p.Stop, nil
}

// readTestSide reads from the side of the server that only the tests have.
func (s *Server) readTestSide(ctx context.Context, path string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.control+path, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return err
	case resp.StatusCode != http.StatusOK:
		return errors.New(string(body))
	case into == nil:
		return nil
	}
	return json.Unmarshal(body, into)
}
