package daemon

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/owner/thumbnail"
	"github.com/pdpp-go/pdpp/internal/serve"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/web/server"
)

// embeddedStore is a store that shares its writer with the job queue.
type embeddedStore interface{ Writer() *sql.DB }

// newServerConfig returns the parts of the configuration that need no database.
func newServerConfig(inv *command.Invocation, f *serveFlags) (c serve.Config, err error) {
	c = serve.Config{Role: serve.Role(f.role), Now: inv.Env.Now, Lookup: inv.ChildVariable, LookPath: inv.Env.LookPath,
		Bindings: command.OfferedBindings}
	if !slices.Contains(serve.Roles, c.Role) {
		return c, failure.UsageError("there is no role "+strconv.Quote(f.role), "Use all, web or worker.")
	}
	if err := fillFromEnvironment(inv, f, c.Role); err != nil {
		return c, err
	}
	c.Slots, c.PerProvider, c.LeaseTTL = f.slots, f.perProvider, f.leaseTTL
	if c.Log, err = newServerLog(inv, f); err != nil {
		return c, err
	}
	if c.Connectors, err = inv.Connectors(); err != nil {
		return c, err
	}
	if c.Role != serve.Web {
		if c.Browsers, err = inv.BrowserProfiles(); err != nil {
			return c, err
		}
		if c.BrowserSlots, err = inv.BrowserSlots(); err != nil {
			return c, err
		}
	}
	if c.Blobs, err = inv.Blobs(); err != nil {
		return c, err
	}
	if home, err := inv.HomeFolder(); err == nil && c.Role != serve.Worker {
		c.Thumbnails = thumbnail.New(thumbnail.Config{Program: inv.Env.Executable, Originals: c.Blobs.Place,
			Folder: filepath.Join(home, "thumbnails"), Now: inv.Env.Now, Log: c.Log})
	}
	silence, err := inv.NoProgressLimit()
	if err != nil {
		return c, err
	}
	c.Options = runner.Options{NoProgress: silence}
	build := command.ReadBuildInfo()
	c.Revision = build.Revision
	host, _, _ := strings.Cut(inv.Env.Holder, ":")
	// A process id is reused after a restart, always so in a container.
	c.Worker = store.Worker{ID: inv.Env.Holder + ":" + rand.Text()[:6], Host: host, PID: os.Getpid(),
		Version: build.Version}
	if c.Worker.Capabilities, err = parseCapabilities(inv, f.can); err != nil {
		return c, err
	}
	if c.Base, _, err = inv.Variable(command.EnvBaseURL); err != nil {
		return c, err
	}
	proxies, _, err := inv.Variable(envProxies)
	if err != nil {
		return c, err
	}
	var wrong string
	if c.Proxies, wrong = server.ParseProxies(proxies); wrong != "" {
		return c, failure.ConfigurationError(envProxies+" holds something that is no address: "+strconv.Quote(wrong),
			"Write addresses and networks with commas between, like 10.0.0.0/8,::1.")
	}
	if c.Backups, err = newBackupPlan(inv); err != nil {
		return c, err
	}
	c.TraceEndpoint, _, err = inv.Variable(envTraces)
	return c, err
}

const (
	backupEvery = 24 * time.Hour
	backupKeep  = 7
)

// newBackupPlan returns the schedule of backups, or nil without a folder for them.
func newBackupPlan(inv *command.Invocation) (*serve.BackupPlan, error) {
	values := map[string]string{envBackupFolder: "", envBackupEvery: "", envBackupKeep: "", command.EnvCredentialKey: "",
		command.EnvBackupPassphrase: ""}
	for name := range values {
		text, _, err := inv.Variable(name)
		if err != nil {
			return nil, err
		}
		values[name] = strings.TrimSpace(text)
	}
	p := &serve.BackupPlan{Folder: values[envBackupFolder], Every: backupEvery, Keep: backupKeep, Work: inv.Env.SealWork,
		Passphrase: values[command.EnvBackupPassphrase]}
	url, err := inv.PostgresURL()
	if p.Folder == "" || err != nil {
		return nil, err
	}
	if url != "" {
		return nil, failure.ConfigurationError(envBackupFolder+" is set, and the data is in PostgreSQL",
			"Use pg_dump on a schedule, and unset it.")
	}
	if len(p.Passphrase) < shortestPassphrase {
		return nil, failure.ConfigurationError("backups have to be sealed, and "+command.EnvBackupPassphrase+
			" holds no passphrase of at least 8 characters",
			"Write one into a file that only you can read, name it in "+command.EnvBackupPassphrase+
				"_FILE, and keep a copy elsewhere.")
	}
	if text := values[envBackupEvery]; text != "" {
		if p.Every, err = time.ParseDuration(text); err != nil || p.Every < time.Minute {
			return nil, failure.ConfigurationError(envBackupEvery+" is not a time: "+strconv.Quote(text), "Write it like 24h.")
		}
	}
	if text := values[envBackupKeep]; text != "" {
		if p.Keep, err = strconv.Atoi(text); err != nil || p.Keep < 1 {
			return nil, failure.ConfigurationError(envBackupKeep+" is not a number of backups: "+strconv.Quote(text),
				"Use a whole number from 1 on.")
		}
	}
	if text := values[command.EnvCredentialKey]; text != "" {
		if p.Key, err = inv.CredentialKey(); err != nil {
			return nil, err
		}
	}
	if p.Folder, err = filepath.Abs(p.Folder); err != nil {
		return nil, err
	}
	return p, nil
}

// fillFromEnvironment sets flags that were not used from the environment.
func fillFromEnvironment(inv *command.Invocation, f *serveFlags, role serve.Role) error {
	for name, to := range map[string]*string{command.EnvListen: &f.listen, envMetrics: &f.metricsListen,
		envLogFormat: &f.logFormat, envLogLevel: &f.logLevel} {
		value, _, err := inv.Variable(name)
		if err != nil {
			return err
		}
		*to = cmp.Or(*to, value)
	}
	if f.listen == "" && role != serve.Worker {
		f.listen = command.DefaultListenAddress
	}
	for name, to := range map[string]*int{envSlots: &f.slots, envPerProvider: &f.perProvider} {
		text, _, err := inv.Variable(name)
		if err != nil {
			return err
		}
		if *to == 0 && text != "" {
			if *to, err = strconv.Atoi(text); err != nil || *to < 1 {
				return failure.ConfigurationError(name+" is not a number of runs: "+strconv.Quote(text),
					"Use a whole number from 1 on.")
			}
		}
	}
	if f.slots < 0 || f.perProvider < 0 {
		return failure.UsageError("a number of runs cannot be negative", "Use a whole number from 1 on.")
	}
	return fillLeaseTTL(inv, f)
}

func fillLeaseTTL(inv *command.Invocation, f *serveFlags) error {
	text, _, err := inv.Variable(envLeaseTTL)
	if err != nil {
		return err
	}
	if f.leaseTTL == 0 && text != "" {
		if f.leaseTTL, err = time.ParseDuration(text); err != nil {
			return failure.ConfigurationError(envLeaseTTL+" is not a time: "+strconv.Quote(text), "Write it like 20s or 1m.")
		}
	}
	if f.leaseTTL != 0 && f.leaseTTL < shortestLease {
		return failure.UsageError("a lease of "+f.leaseTTL.String()+" is too short for a live worker to renew",
			"Use at least "+shortestLease.String()+".")
	}
	return nil
}

// loadSealingKeys loads the keys of credentials and pushes, and creates them at the first start.
func loadSealingKeys(ctx context.Context, inv *command.Invocation, c *serve.Config) (err error) {
	if c.Key, err = inv.CredentialKey(); err != nil {
		return err
	}
	c.VAPID, err = inv.VAPIDKeys(ctx, c.Store)
	return err
}
