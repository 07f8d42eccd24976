package cli

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

	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/keep/credential"
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/owner/thumbnail"
	"github.com/pdpp-go/pdpp/internal/schedule/notify"
	"github.com/pdpp-go/pdpp/internal/serve"
	"github.com/pdpp-go/pdpp/internal/web/server"
)

// embedded is a store whose writer the job queue shares.
type embedded interface{ Writer() *sql.DB }

// The owner's own pair of keys for web push, instead of the one that is made.
const (
	envVAPIDPublic  = "PDPP_WEB_PUSH_VAPID_PUBLIC_KEY"
	envVAPIDPrivate = "PDPP_WEB_PUSH_VAPID_PRIVATE_KEY"
	envVAPIDSubject = "PDPP_WEB_PUSH_VAPID_SUBJECT"
)

// serveConfig puts together what does not need the database.
func (a *app) serveConfig(f *serveFlags) (c serve.Config, err error) {
	c = serve.Config{Role: serve.Role(f.role), Now: a.env.Now, Lookup: a.childVariable, LookPath: a.env.LookPath, Bindings: offeredBindings}
	if !slices.Contains(serve.Roles, c.Role) {
		return c, usage("there is no role "+strconv.Quote(f.role), "Use all, web or worker.")
	}
	if err := a.fillServeFlags(f, c.Role); err != nil {
		return c, err
	}
	c.Slots, c.PerProvider, c.LeaseTTL = f.slots, f.perProvider, f.leaseTTL
	if c.Log, err = a.serveLog(f); err != nil {
		return c, err
	}
	if c.Connectors, err = a.connectors(); err != nil {
		return c, err
	}
	if c.Role != serve.Web {
		if c.Browsers, err = a.browsers(); err != nil {
			return c, err
		}
		if c.BrowserSlots, err = a.browserSlots(); err != nil {
			return c, err
		}
	}
	if c.Blobs, err = a.blobs(); err != nil {
		return c, err
	}
	if home, err := a.homeDir(); err == nil && c.Role != serve.Worker {
		c.Thumbnails = thumbnail.New(thumbnail.Config{Program: a.env.Executable, Originals: c.Blobs.Place, Folder: filepath.Join(home, "thumbnails"), Now: a.env.Now, Log: c.Log})
	}
	silence, err := a.noProgress()
	if err != nil {
		return c, err
	}
	c.Options = runner.Options{NoProgress: silence}
	build := buildVersion()
	c.Revision = build.Revision
	host, _, _ := strings.Cut(a.env.Holder, ":")
	// The same process id comes back after a restart, in a container always.
	c.Worker = store.Worker{ID: a.env.Holder + ":" + rand.Text()[:6], Host: host, PID: os.Getpid(), Version: build.Version}
	if c.Worker.Capabilities, err = a.capabilities(f.can); err != nil {
		return c, err
	}
	if c.Base, _, err = a.variable(envBaseURL); err != nil {
		return c, err
	}
	proxies, _, err := a.variable(envProxies)
	if err != nil {
		return c, err
	}
	var wrong string
	if c.Proxies, wrong = server.ParseProxies(proxies); wrong != "" {
		return c, configError(envProxies+" holds something that is no address: "+strconv.Quote(wrong), "Write addresses and networks with commas between, like 10.0.0.0/8,::1.")
	}
	c.TraceEndpoint, _, err = a.variable(envTraces)
	return c, err
}

// fillServeFlags takes from the environment what was not said.
func (a *app) fillServeFlags(f *serveFlags, role serve.Role) error {
	for name, to := range map[string]*string{envListen: &f.listen, envMetrics: &f.metricsListen, envLogFormat: &f.logFormat, envLogLevel: &f.logLevel} {
		value, _, err := a.variable(name)
		if err != nil {
			return err
		}
		*to = cmp.Or(*to, value)
	}
	if f.listen == "" && role != serve.Worker {
		f.listen = defaultListen
	}
	for name, to := range map[string]*int{envSlots: &f.slots, envPerProvider: &f.perProvider} {
		text, _, err := a.variable(name)
		if err != nil {
			return err
		}
		if *to == 0 && text != "" {
			if *to, err = strconv.Atoi(text); err != nil || *to < 1 {
				return configError(name+" is not a number of runs: "+strconv.Quote(text), "Use a whole number from 1 on.")
			}
		}
	}
	if f.slots < 0 || f.perProvider < 0 {
		return usage("a number of runs cannot be negative", "Use a whole number from 1 on.")
	}
	return a.fillLeaseTTL(f)
}

func (a *app) fillLeaseTTL(f *serveFlags) error {
	text, _, err := a.variable(envLeaseTTL)
	if err != nil {
		return err
	}
	if f.leaseTTL == 0 && text != "" {
		if f.leaseTTL, err = time.ParseDuration(text); err != nil {
			return configError(envLeaseTTL+" is not a time: "+strconv.Quote(text), "Write it like 20s or 1m.")
		}
	}
	if f.leaseTTL != 0 && f.leaseTTL < shortestLease {
		return usage("a lease of "+f.leaseTTL.String()+" is too short for a live worker to renew", "Use at least "+shortestLease.String()+".")
	}
	return nil
}

// pushConfig gives the keys of credentials and pushes. They are made at the first start.
func (a *app) pushConfig(ctx context.Context, c *serve.Config) (err error) {
	if c.Key, err = a.credentialKey(); err != nil {
		return err
	}
	c.VAPID, err = a.vapid(ctx, c.Store)
	return err
}

// vapid gives the keys that sign web pushes: those of the environment, or the kept ones.
func (a *app) vapid(ctx context.Context, st store.Store) (keys notify.VAPID, err error) {
	var values [3]string
	for i, name := range []string{envVAPIDPublic, envVAPIDPrivate, envVAPIDSubject} {
		if values[i], _, err = a.variable(name); err != nil {
			return keys, err
		}
	}
	if values[0] != "" || values[1] != "" {
		return notify.NewVAPID(values[0], credential.NewSecret(values[1]), values[2])
	}
	key, err := a.credentialKey()
	if err != nil {
		return keys, err
	}
	return notify.LoadVAPID(ctx, st, key, values[2], a.env.Now())
}
