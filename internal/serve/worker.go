package serve

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/childprocess"
	"github.com/pdpp-go/pdpp/internal/collect/interaction"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/providerauth"
	"github.com/pdpp-go/pdpp/internal/collect/readiness"
	"github.com/pdpp-go/pdpp/internal/collect/sharedquota"
	"github.com/pdpp-go/pdpp/internal/owner/service"
	"github.com/pdpp-go/pdpp/internal/schedule/notify"
	"github.com/pdpp-go/pdpp/internal/schedule/repair"
	"github.com/pdpp-go/pdpp/internal/schedule/scheduler"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/view"
	"github.com/pdpp-go/pdpp/manifest"
)

// startWorker makes this process run connections, watch repairs and send notifications. The pages of runs end with
// shown.
func (s *process) startWorker(ctx, shown context.Context) error {
	if err := s.Database.Migrate(ctx); err != nil {
		return err
	}
	connectors := catalog.Remember(launch.AsChosen(s.Connectors, s.Store))
	shared := &sharedquota.Hub{Store: s.Store, Key: s.Key, Host: s.Worker.Host, Now: s.Now}
	childprocess.RemoveStaleWorkdirs() // what a killed worker of this machine left behind
	launcher := &launch.Launcher{
		Limits: service.LimitVariables(s.Store), Selected: service.Selections(s.Store), OnlyConfirmed: true,
		Store: s.Store, Connectors: connectors, Allowances: shared, Holder: s.Worker.ID, Lookup: s.Lookup,
		Bindings: s.offered(),
		Secrets:  launch.StoredSecrets(s.Store, s.Key), Tokens: s.tokens(), Now: s.Now, LeaseTTL: s.LeaseTTL,
		Committed: s.recorder.SliceCommitted, Blobs: s.Blobs,
	}
	if s.Home != "" {
		launcher.Locks = launch.RunLocksIn(s.Home)
	}
	if s.Browsers != nil {
		s.Browsers.Keeper, s.Browsers.Key = s.Store, s.Key
		launcher.Browsers = s.Browsers
		s.background.Go(func() { s.recoverProfiles(ctx) })
	}
	if !slices.Contains(s.Worker.Capabilities, string(scheduler.Browser)) {
		s.warnBrowserless(ctx)
	}
	connections := &view.View{Reader: s.Store, Now: s.Now}
	watcher := &repair.Watcher{
		Store: repairStore{s.Store, s.Now}, Log: s.Log, NewID: func() string { return "att_" + rand.Text() },
		RuntimeOK: func(ctx context.Context) (bool, error) {
			fault, err := connections.Indicator(ctx)
			return fault == nil, err
		},
	}
	prober := &readiness.Prober{Store: s.Store, Offered: s.workersOffer, Lookup: s.variable, LookPath: s.program,
		Connectors: connectors,
		Unconfirmed: func(ctx context.Context, name string, d catalog.Demand) (*catalog.NeedError, error) {
			return launch.UnconfirmedDemand(ctx, s.Store, name, d)
		}}
	s.answers = &interaction.Mailbox{Store: s.Store, Now: s.Now}
	var err error
	s.scheduler, err = scheduler.New(scheduler.Config{
		Store: s.Store, Database: s.Database, Runs: launcher, Worker: s.Worker, Slots: s.Slots, PerProvider: s.PerProvider,
		BrowserSlots: s.BrowserSlots,
		Answers:      s.answers, Sharing: shared.Refresh, Surface: s.showPages(shown),
		Watchers:  []scheduler.Watcher{prober, watcher, &s.deviceless},
		AfterPass: s.afterPass,
		Meter:     meter{s.recorder}, Options: s.Options, Rhythm: s.Rhythm, Log: s.Log, Now: s.Now,
	})
	if err != nil {
		return err
	}
	if err := s.scheduler.Start(ctx); err != nil {
		return fmt.Errorf("start the worker: %w", err)
	}
	s.background.Go(func() { shared.Poll(ctx) })
	s.background.Go(func() { s.deliverNotifications(ctx) })
	s.background.Go(func() { s.backfill(ctx) })
	s.background.Go(func() { s.deletions(ctx) })
	s.background.Go(func() { s.deliverWebhooks(ctx) })
	s.background.Go(func() { s.embedRecords(ctx) })
	s.background.Go(func() { s.sweepBlobs(ctx) })
	s.background.Go(func() { s.verifyDatabase(ctx) })
	s.background.Go(func() { s.makeBackups(ctx) })
	return nil
}

// warnBrowserless logs the connections that wait because this machine has no browser.
func (s *process) warnBrowserless(ctx context.Context) {
	var waiting []string
	all, err := s.Store.ListConnections(ctx)
	for _, c := range all {
		body, _, manifestErr := s.Store.Manifest(ctx, c.ConnectorID)
		if manifestErr != nil || c.Status != store.ConnectionActive || c.SourceKind == store.SourceLocalDevice {
			continue
		}
		if m, err := manifest.Parse(body); err == nil && slices.Contains(m.RequiredBindings(), manifest.BindingBrowser) {
			waiting = append(waiting, c.ID)
		}
	}
	if err == nil && len(waiting) > 0 {
		s.Log.Warn("there is no browser on this machine, and these connections wait for one; install it (sudo apt install "+
			"chromium) and start again", "connections", strings.Join(waiting, ", "))
	}
}

// recoverEvery is how often it is looked whether the run is over that left a profile behind.
const recoverEvery = 2 * time.Second

// recoverProfiles ends the browsers that killed workers of this machine left, and keeps what
// they had, until there is nothing left of them.
func (s *process) recoverProfiles(ctx context.Context) {
	for {
		left, err := s.Browsers.Recover(ctx)
		if err != nil && ctx.Err() == nil {
			s.Log.Warn("browser profiles of a worker that was killed cannot be kept; it is tried again", "error", err)
		}
		if left == 0 {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(recoverEvery):
		}
	}
}

// deliverNotifications delivers what is pending whenever a pass may have made something so. It
// runs beside the passes, because an endpoint may take its time.
func (s *process) deliverNotifications(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.pushWanted:
		}
		if err := s.deliverPending(ctx); err != nil && ctx.Err() == nil {
			s.Log.Warn("pushing failed; it is tried again", "error", err)
		}
	}
}

// verdictLines returns the verdict's lines of a connection: what happened, and what comes next.
func (s *process) verdictLines(ctx context.Context, connectionID string) (happened, next string, err error) {
	connections := view.View{Reader: s.Store, Now: s.Now}
	j, err := connections.One(ctx, connectionID)
	lines := &j.Connection.Verdict.Outline
	return lines.Happened, lines.Next, err
}

func (s *process) deliverPending(ctx context.Context) error {
	quiet, err := notify.LoadQuiet(ctx, s.Store)
	if err != nil {
		return err
	}
	sender := notify.Sender{Store: s.Store, HTTP: s.HTTP, Keys: s.VAPID, Key: s.Key, Quiet: quiet, Base: s.Base,
		Log: s.Log, Lines: s.verdictLines}
	return errors.Join(sender.Deliver(ctx, s.Now()), sender.DeliverPauses(ctx, s.Store, s.Now()))
}

// bindingCapabilities are what a worker must be able to do to serve a binding. What any can
// serve is not named.
var bindingCapabilities = map[manifest.Binding]scheduler.Capability{
	manifest.BindingBrowser: scheduler.Browser, manifest.BindingFilesystem: scheduler.Local,
	manifest.BindingLocalDevice: scheduler.Local,
}

// workersOffer reports whether this worker, or another that is alive, serves the
// binding.
func (s *process) workersOffer(ctx context.Context, b manifest.Binding, now time.Time) (bool, error) {
	if b == manifest.BindingInteractive {
		return true, nil // the console asks
	}
	if _, ok := s.Bindings[string(b)]; !ok {
		return false, nil
	}
	needed, scarce := bindingCapabilities[b]
	if !scarce || slices.Contains(s.Worker.Capabilities, string(needed)) {
		return true, nil
	}
	workers, err := s.Store.Workers(ctx)
	return slices.ContainsFunc(workers, func(w store.Worker) bool {
		return scheduler.Alive(w, now) && slices.Contains(w.Capabilities, string(needed))
	}), err
}

func (s *process) variable(name string) (string, bool) {
	if s.Lookup == nil {
		return "", false
	}
	return s.Lookup(name)
}

func (s *process) program(name string) (string, error) {
	if s.LookPath == nil {
		return "", exec.ErrNotFound
	}
	return s.LookPath(name)
}

// offered are the bindings of this machine: a browser only where there is one.
func (s *process) offered() map[string]jsontext.Value {
	out := map[string]jsontext.Value{}
	for name, value := range s.Bindings {
		if name != string(manifest.BindingBrowser) || slices.Contains(s.Worker.Capabilities, string(scheduler.Browser)) {
			out[name] = value
		}
	}
	return out
}

// tokens returns the keeper of tokens for connections with a sign-in at the provider.
func (s *process) tokens() *providerauth.Keeper {
	return &providerauth.Keeper{Store: s.Store, Key: func() (credential.Key, error) { return s.Key, nil },
		Lookup: s.Lookup, Now: s.Now}
}
