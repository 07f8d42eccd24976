// Package gitea runs the real Gitea, a code forge, on a database of its own.
//
//	gitea.go     the server
//	account.go   a person on it, and what they do
//	database.go  what exists, read from the server's database
package gitea

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"

	_ "modernc.org/sqlite" // the server's database

	"github.com/pdpp-go/pdpp/connectorkit/connectortest/realserver"
)

// Variable names the program of the tests. Its templates and options lie beside it.
const Variable = "PDPP_TEST_GITEA"

// Server is a Gitea at work.
type Server struct {
	URL      string
	database *sql.DB
	command  func(args ...string) error // of the program's own, beside the server
}

const (
	adminName       = "keeper"
	accountPassword = "password-of-the-test" // of every account
)

// settingsTemplate leave out what a test does not look at. Looking at the database does not disturb a server
// that writes ahead.
const settingsTemplate = `RUN_USER = %s
RUN_MODE = prod
I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true
WORK_PATH = %s
[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = %d
ROOT_URL = %s
STATIC_ROOT_PATH = %s
OFFLINE_MODE = true
DISABLE_SSH = true
[database]
DB_TYPE = sqlite3
PATH = %s
SQLITE_JOURNAL_MODE = WAL
SQLITE_TIMEOUT = 20000
[security]
INSTALL_LOCK = true
SECRET_KEY = of-the-test
PASSWORD_HASH_ALGO = pbkdf2$10$50
[service]
DISABLE_REGISTRATION = true
[api]
MAX_RESPONSE_ITEMS = %d
[indexer]
ISSUE_INDEXER_TYPE = db
[cron]
ENABLED = false
[log]
LEVEL = error
MODE = console
`

// Start runs the program in an empty folder. A list has so many things on a page at most.
func Start(program, dir string, perPage int) (*Server, func() error, error) {
	who, err := user.Current()
	if err != nil {
		return nil, nil, err
	}
	port, err := realserver.FreePort()
	if err != nil {
		return nil, nil, err
	}
	s := &Server{URL: fmt.Sprintf("http://127.0.0.1:%d/", port)}
	config, database := filepath.Join(dir, "app.ini"), filepath.Join(dir, "gitea.db")
	if err := os.WriteFile(config, fmt.Appendf(nil, settingsTemplate, who.Username, dir, port, s.URL,
		filepath.Dir(program),
		database, perPage), 0o600); err != nil {
		return nil, nil, err
	}
	env := []string{"PATH=/usr/bin:/bin", "HOME=" + dir, "TZ=UTC", "USER=" + who.Username}
	p, err := realserver.StartServer(realserver.Command{
		Program: program, Args: []string{"web", "--config", config}, Dir: dir, Env: env,
		Ready: func(ctx context.Context) error { return s.checkHealth(ctx) },
	})
	if err != nil {
		return nil, nil, err
	}
	s.command = func(args ...string) error {
		cmd := exec.Command(program, append(args, "--config", config)...)
		cmd.Env, cmd.Dir = env, dir
		if content, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("gitea %s: %w: %.300s", args, err, content)
		}
		return nil
	}
	if err := s.command("admin", "user", "create", "--username", adminName, "--password", accountPassword, "--email",
		"keeper@example.org", "--must-change-password=false", "--admin"); err != nil {
		return nil, nil, errors.Join(err, p.Stop())
	}
	if s.database, err = sql.Open("sqlite",
		"file:"+database+"?_pragma=busy_timeout(20000)&_txlock=immediate"); err != nil {
		return nil, nil, errors.Join(err, p.Stop())
	}
	return s, func() error { return errors.Join(s.database.Close(), p.Stop()) }, nil
}

// waitUntilIdle waits for the server's background work after a push: it measures the repository,
// and looks at the pull requests.
func (s *Server) waitUntilIdle() error { return s.command("manager", "flush-queues") }

func (s *Server) checkHealth(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"api/healthz", nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	_ = resp.Body.Close() // nothing of it is read
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("it says %s", resp.Status)
	}
	return nil
}
