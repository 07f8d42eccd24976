package serve

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"pdpp/internal/catalog"
	"pdpp/internal/interaction"
	"pdpp/internal/launch"
	"pdpp/internal/notify"
	"pdpp/internal/owner"
	"pdpp/internal/ownerview"
	"pdpp/internal/repair"
	"pdpp/internal/runner"
	"pdpp/internal/scheduler"
	"pdpp/manifest"
)

// startWorker makes this process run connections, watch repairs and push.
func (s *service) startWorker(ctx context.Context) error {
	if err := s.Database.Migrate(ctx); err != nil {
		return err
	}
	runner.Sweep() // what a killed worker of this machine left behind
	launcher := &launch.Launcher{
		Limits: owner.LimitVariables(s.Store),
		Store:  s.Store, Connectors: catalog.Remember(s.Connectors), Holder: s.Worker.ID, Lookup: s.Lookup, Bindings: s.offered(),
		Secrets: launch.StoredSecrets(s.Store, s.Key), Now: s.Now, LeaseTTL: s.LeaseTTL, Committed: s.recorder.SliceCommitted,
	}
	view := &ownerview.View{Reader: s.Store, Now: s.Now}
	watcher := &repair.Watcher{
		Book: book{s.Store, s.Now}, Log: s.Log, NewID: func() string { return "att_" + rand.Text() },
		RuntimeOK: func(ctx context.Context) (bool, error) {
			fault, err := view.Indicator(ctx)
			return fault == nil, err
		},
	}
	var err error
	s.scheduler, err = scheduler.New(scheduler.Config{
		Store: s.Store, Database: s.Database, Runs: launcher, Worker: s.Worker, Slots: s.Slots, PerProvider: s.PerProvider,
		Answers: &interaction.Mailbox{Store: s.Store, Now: s.Now}, Watchers: []scheduler.Watcher{watcher, &s.census},
		AfterPass: s.afterPass,
		Meter:     meter{s.recorder}, Options: s.Options, Log: s.Log, Now: s.Now,
	})
	if err != nil {
		return err
	}
	if err := s.scheduler.Start(ctx); err != nil {
		return fmt.Errorf("start the worker: %w", err)
	}
	s.beside.Go(func() { s.pushes(ctx) })
	s.beside.Go(func() { s.align(ctx) })
	return nil
}

// pushes delivers what is pending whenever a pass may have made something so. It
// runs beside the passes, because an endpoint may take its time.
func (s *service) pushes(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.pushWanted:
		}
		if err := s.push(ctx); err != nil && ctx.Err() == nil {
			s.Log.Warn("pushing failed; it is tried again", "error", err)
		}
	}
}

func (s *service) push(ctx context.Context) error {
	quiet, err := notify.LoadQuiet(ctx, s.Store)
	if err != nil {
		return err
	}
	sender := notify.Sender{Store: s.Store, HTTP: s.HTTP, Keys: s.VAPID, Key: s.Key, Quiet: quiet, Base: s.Base, Log: s.Log}
	return sender.Deliver(ctx, s.Now())
}

// offered are the bindings of this machine: a browser only where there is one.
func (s *service) offered() map[string]jsontext.Value {
	out := map[string]jsontext.Value{}
	for name, value := range s.Bindings {
		if name != string(manifest.BindingBrowser) || slices.Contains(s.Worker.Capabilities, string(scheduler.Browser)) {
			out[name] = value
		}
	}
	return out
}
