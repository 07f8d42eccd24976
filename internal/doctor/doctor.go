// Package doctor checks an installation: the database, the machine, the key, the connectors and what the connections
// need. Every problem comes with its fix, in one command or one sentence.
//
// It changes nothing, except one row by which the store proves that it can be written. It does not judge how well
// collecting works: the verdict does.
package doctor

import (
	"context"
	"os/exec"
	"time"

	"github.com/pdpp-go/pdpp/foreign/confine"
	"github.com/pdpp-go/pdpp/internal/blob"
	"github.com/pdpp-go/pdpp/internal/collect/browser"
	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/ops/disk"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// CheckStatus is how a check came out.
type CheckStatus string

const (
	OK   CheckStatus = "ok"
	Warn CheckStatus = "warn" // works, and will not for ever
	Fail CheckStatus = "fail" // something does not work
)

// Finding is what a check found.
type Finding struct {
	Check   string      `json:"check"`
	Status  CheckStatus `json:"status"`
	Message string      `json:"message"`
	Fix     string      `json:"fix,omitzero"` // empty exactly when the status is ok
}

// Names of checks.
const (
	CheckDatabase    = "database"
	CheckDisk        = "disk"
	CheckFolder      = "folder"
	CheckFiles       = "files"
	CheckKey         = "key"
	CheckClock       = "clock"
	CheckConnectors  = "connectors"
	CheckConfinement = "confinement"
	CheckConnections = "connections"
	CheckBrowser     = "browser"
	CheckWorker      = "worker"
	CheckLeases      = "leases"
	CheckPush        = "push"
	CheckUpkeep      = "upkeep"
	CheckBackup      = "backup"
)

// Catalog knows the connectors that are installed.
type Catalog interface {
	List(ctx context.Context) ([]catalog.Installed, error)
}

// Config is what is looked over.
type Config struct {
	// Home is the folder of the data.
	Home string
	// Open opens the database as every command does.
	Open       func(ctx context.Context) (store.Store, error)
	Connectors Catalog
	// Lookup returns the owner's value of a variable that a connector declares.
	Lookup func(name string) (string, bool)
	// Key is the key if the configuration holds it; zero means the key file.
	Key credential.Key
	// DatabaseNow reads the clock of a database server; nil means that the
	// database has no clock of its own.
	DatabaseNow func(ctx context.Context) (time.Time, error)
	// WorkerAlive judges the last heartbeat of a worker.
	WorkerAlive func(w store.Worker, now time.Time) bool

	// Browsers are the browser profiles of this machine; nil where it has no browser. TryBrowser
	// starts the browser as a run would; nil means that it is not tried.
	Browsers   *browser.Profiles
	TryBrowser func(ctx context.Context) error

	// Files is where the files of records are; nil means that there are none.
	Files blob.Storage

	// The machine. Nil means this one.
	Now       func() time.Time
	LookPath  func(program string) (string, error)
	FreeSpace func(path string) (bytes uint64, err error)
	Confined  func() (ok bool, reason string)
	// FirstProcess is the name of process 1.
	FirstProcess func() string
}

// checkup is one run of the doctor.
type checkup struct {
	Config
	now      time.Time
	store    store.Store
	findings []Finding

	connections []store.Connection
	installed   map[string]catalog.Connector
	key         credential.Key // zero when there is none, or none that can be used
}

// Run makes every check that can be made. It skips the checks that depend on a broken part, so that each problem is
// reported once.
func Run(ctx context.Context, c Config) []Finding {
	x := &checkup{Config: c, installed: map[string]catalog.Connector{}}
	if x.Now == nil {
		x.Now = time.Now
	}
	if x.LookPath == nil {
		x.LookPath = exec.LookPath
	}
	if x.FreeSpace == nil {
		x.FreeSpace = func(path string) (uint64, error) { free, _, err := disk.Space(path); return free, err }
	}
	if x.Confined == nil {
		x.Confined = confine.Supported
	}
	if x.FirstProcess == nil {
		x.FirstProcess = firstProcess
	}
	x.now = x.Now()
	x.checkDisk()
	x.checkFolder()
	usable := x.database(ctx)
	if x.store != nil {
		defer x.store.Close()
	}
	x.connectors(ctx)
	x.checkConfinement(ctx)
	if !usable {
		return x.findings
	}
	x.checkUpkeep(ctx)
	x.checkBackup(ctx)
	x.checkFiles(ctx)
	x.checkKeyFile(ctx)
	x.checkClock(ctx)
	x.checkNeeds(ctx)
	x.checkBrowser(ctx)
	x.checkWork(ctx)
	x.checkPush(ctx)
	return x.findings
}

func (x *checkup) reportGood(check, message string) {
	x.findings = append(x.findings, Finding{check, OK, message, ""})
}

func (x *checkup) reportWarning(check, message, fix string) {
	x.findings = append(x.findings, Finding{check, Warn, message, fix})
}

func (x *checkup) reportFailure(check, message, fix string) {
	x.findings = append(x.findings, Finding{check, Fail, message, fix})
}

// reportUnreadable reports a check that failed because of a database error.
func (x *checkup) reportUnreadable(check string, err error) {
	x.reportFailure(check, "the database did not answer: "+errorLine(err), fixOf(err))
}
