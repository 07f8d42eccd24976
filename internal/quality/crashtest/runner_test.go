package crashtest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

const (
	roleVariable  = "PDPP_CRASHTEST_ROLE"
	specVariable  = "PDPP_CRASHTEST_SPEC"
	exitFailedRun = 17
)

// role is the configuration of the runner process.
type role struct {
	Database  string
	Connector string
	Env       map[string]string
	Clock     time.Duration
	RunID     string
	Plan      plan
}

// playRunner is the process that is killed: it executes one run as `pdpp run`
// does, and, when the plan names a commit, ends its victim right there.
func playRunner() int {
	var r role
	if err := json.Unmarshal([]byte(os.Getenv(specVariable)), &r); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	result, err := r.run(context.Background())
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		return 1
	case result.Status == runner.Succeeded:
		return 0
	case killedConnector(result.Failure):
		return exitFailedRun
	default:
		fmt.Fprintln(os.Stderr, result.Failure, result.StderrTail)
		return 1
	}
}

// killedConnector reports whether a failure can result from a killed connector. Such a connector
// ends without DONE, within a line, after DONE but before its exit, or while it receives an
// answer.
func killedConnector(f *runner.Failure) bool {
	if f.Reason == runner.ReasonExitWithoutDone || f.Reason == runner.ReasonStdinClosed {
		return true
	}
	return f.Violation != nil &&
		(f.Violation.Subtype == protocol.MalformedJSON || f.Violation.Subtype == protocol.ExitCodeMismatch)
}

func (r role) run(ctx context.Context) (launch.RunResult, error) {
	var st store.Store
	var err error
	if strings.Contains(r.Database, "://") {
		st, err = postgres.Open(ctx, r.Database, postgres.Options{})
	} else {
		st, err = sqlite.Open(ctx, r.Database, sqlite.Options{})
	}
	if err != nil {
		return launch.RunResult{}, err
	}
	defer st.Close()
	now := func() time.Time { return time.Now().Add(r.Clock) }
	body, _, err := st.Manifest(ctx, "example")
	if err != nil {
		body, err = r.manifest(ctx)
	}
	if err != nil {
		return launch.RunResult{}, err
	}
	m, err := manifest.Parse(body)
	if err != nil {
		return launch.RunResult{}, err
	}
	l := &launch.Launcher{
		Store: &lethalStore{Store: st, role: r},
		Connectors: catalog.Fixed(catalog.Connector{Name: "example", Manifest: m, Path: r.Connector,
			Args: []string{"run", "example"}}),
		Holder: "crashtest", Now: now, NewRunID: func() string { return r.RunID },
		Lookup:   func(name string) (string, bool) { v, ok := r.Env[name]; return v, ok },
		Bindings: map[string]jsontext.Value{"network": jsontext.Value("{}")},
	}
	// A commit for every slice makes many boundaries.
	return l.Run(ctx, launch.RunRequest{ConnectionID: connectortest.Connection, Trigger: store.TriggerManual,
		Options: runner.Options{BatchRecords: 1}})
}

func (r role) manifest(ctx context.Context) ([]byte, error) {
	c, err := catalog.Catalog{Host: r.Connector}.Find(ctx, "example")
	if err != nil {
		return nil, err
	}
	return c.Manifest.JSON()
}

// lethalStore ends its victim at the planned commit.
type lethalStore struct {
	store.Store
	role    role
	mu      sync.Mutex
	commits int
}

func (s *lethalStore) CommitSlice(ctx context.Context, l store.Lease, part slice.Slice, now time.Time) (store.Committed,
	error) {
	s.mu.Lock()
	s.commits++
	here := s.commits == s.role.Plan.Commit
	s.mu.Unlock()
	if here && !s.role.Plan.After {
		s.kill()
	}
	c, err := s.Store.CommitSlice(ctx, l, part, now)
	if here && s.role.Plan.After {
		s.kill()
	}
	return c, err
}

func (s *lethalStore) kill() {
	if s.role.Plan.Victim != "runner" {
		connectortest.KillConnector(s.role.RunID)
	}
	if s.role.Plan.Victim != "connector" {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // the signal arrives
	}
}

// tail keeps the end of a process's output for the failure message.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	t.buf = t.buf[max(0, len(t.buf)-4096):]
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.buf)
}
