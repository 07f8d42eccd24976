package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/device/collector"
	"github.com/pdpp-go/pdpp/internal/device/service"
	"github.com/pdpp-go/pdpp/internal/device/wire"
	"github.com/pdpp-go/pdpp/internal/ops/systemservice"
	"github.com/pdpp-go/pdpp/internal/ops/usererr"
)

func (p *program) serviceCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "service", Short: "Collect by itself, as a service of this user", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	remove := p.command("remove", "Stop, and remove the service; profiles and queues stay", p.serviceRemove)
	remove.Aliases = []string{"uninstall"}
	cmd.AddCommand(
		p.command("install", "Start collecting by itself, now and whenever you log in", p.serviceInstall),
		remove,
		p.command("status", "Whether the service is there and runs", p.serviceStatus),
		p.command("logs", "What the service said last", p.serviceLogs),
		p.serviceRunCommand(),
	)
	return cmd
}

// passedOn are the variables that the service needs and does not get from the system.
var passedOn = []string{"PDPP_LOCAL_COLLECTOR_PROFILE_DIR", envConnectors, envConnectorsDir, "XDG_CONFIG_HOME",
	"XDG_STATE_HOME"}

func (p *program) manager() (*systemservice.Manager, error) {
	dirs, err := collector.DirsFrom(p.lookup)
	if err != nil {
		return nil, err
	}
	return systemservice.Find(systemservice.Collector, p.executable, dirs.State, p.lookup, passedOn), nil
}

func (p *program) serviceInstall(ctx context.Context) error {
	m, err := p.manager()
	if err != nil {
		return err
	}
	message, err := m.Install(ctx)
	if err != nil {
		return err
	}
	printf(p.stdout, "The service runs: it collects when something changes, and at least every hour.\n")
	if message != "" {
		printf(p.stdout, "%s\n", message)
	}
	return nil
}

func (p *program) serviceRemove(ctx context.Context) error {
	m, err := p.manager()
	if err != nil {
		return err
	}
	if err := m.Remove(ctx); err != nil {
		return err
	}
	printf(p.stdout, "The service is gone. Profiles and queues stay; to end this device: pdpp-local-collector logout\n")
	return nil
}

func (p *program) serviceStatus(ctx context.Context) error {
	m, err := p.manager()
	if err != nil {
		return err
	}
	installed, running := m.Status(ctx)
	if p.json {
		printJSON(p.stdout, map[string]bool{"installed": installed, "running": running})
	} else {
		printf(p.stdout, "installed  %t\nrunning    %t\n", installed, running)
	}
	if !running {
		return exitOnly{exitFailed}
	}
	return nil
}

func (p *program) serviceLogs(ctx context.Context) error {
	m, err := p.manager()
	if err != nil {
		return err
	}
	message, err := m.Logs(ctx)
	if err != nil {
		return fmt.Errorf("read the log: %w", err)
	}
	printf(p.stdout, "%s", message)
	return nil
}

func (p *program) serviceRunCommand() *cobra.Command {
	logFile, charging := "", false
	cmd := p.command("run", "Be the service", func(ctx context.Context) error {
		out := p.stderr
		if logFile != "" {
			log, err := systemservice.OpenLog(logFile)
			if err != nil {
				return err
			}
			defer log.Close()
			out = log
		}
		return p.serve(ctx, out, charging)
	})
	cmd.Flags().StringVar(&logFile, "log-file", "", "where to write what happens, instead of standard error")
	cmd.Flags().BoolVar(&charging, "only-when-charging", false, "let history wait while the machine runs on its battery")
	return cmd
}

func (p *program) serve(ctx context.Context, out io.Writer, charging bool) error {
	dirs, err := collector.DirsFrom(p.lookup)
	if err != nil {
		return err
	}
	p.json = true // no person reads the output
	log := slog.New(slog.NewTextHandler(out, nil))
	known := &knownConnectors{}
	s := &service.Service{Power: service.ReadPower, OnlyWhenCharging: charging, Executable: p.executable, Log: log,
		Sources: func() ([]service.Source, error) {
			found, broken, err := collector.Profiles(dirs)
			for _, b := range broken {
				log.Error("cannot use a profile", "code", b.Code, "next", b.Next)
			}
			var all []service.Source
			for _, f := range found {
				all = append(all, &servedProfile{p: p, dirs: dirs, known: known, id: f.SourceInstanceID,
					log: log.With("source", f.SourceInstanceID)})
			}
			return all, err
		}}
	return s.Run(ctx)
}

// knownConnectors remembers connectors for as long as they are looked for in the same places:
// asking for one costs more than a pass over a few lines.
type knownConnectors struct {
	mu     sync.Mutex
	of     [3]string
	finder catalog.Finder
}

func (k *knownConnectors) finderOf(c catalog.Catalog) catalog.Finder {
	k.mu.Lock()
	defer k.mu.Unlock()
	if places := [3]string{c.Host, c.Dir, c.Home}; k.finder == nil || k.of != places {
		k.of, k.finder = places, catalog.Remember(c)
	}
	return k.finder
}

// servedProfile is a profile that the service works for.
type servedProfile struct {
	p     *program
	dirs  collector.Dirs
	known *knownConnectors
	id    string
	log   *slog.Logger
}

func (s *servedProfile) ID() string { return s.id }

// collector reads the profile again, because its token may have been exchanged.
func (s *servedProfile) collector() (*collector.Collector, error) {
	profile, err := collector.Find(s.dirs, s.id)
	if err != nil {
		return nil, err
	}
	connectors, err := s.p.connectors(s.dirs)
	if err != nil {
		return nil, err
	}
	c := s.p.collectorOf(s.dirs, profile, s.known.finderOf(connectors))
	c.Policy.AwaitLock = 1 // a pass by hand comes first
	return c, nil
}

func (s *servedProfile) Roots(ctx context.Context) []string {
	c, err := s.collector()
	if err != nil {
		return nil
	}
	roots, _ := c.Roots(ctx) // a pass reports the connector's problem
	return roots
}

func (s *servedProfile) Beat(ctx context.Context) bool {
	c, err := s.collector()
	if err != nil {
		return false
	}
	wanted, err := c.Beat(ctx)
	if err != nil {
		s.log.Info("no heartbeat", "error", err)
	}
	return wanted
}

func (s *servedProfile) Pass(ctx context.Context, historyWaits bool) service.PassResult {
	c, err := s.collector()
	var report collector.Report
	if err == nil {
		c.HistoryWaits = historyWaits
		report, err = c.Run(ctx)
	}
	var mistake *usererr.Error
	switch {
	case errors.As(err, &mistake):
		s.log.Error("no pass", "code", mistake.Code, "next", mistake.Next)
		return service.PassResult{Failed: true}
	case err != nil:
		s.log.Error("no pass", "error", err)
		return service.PassResult{Failed: true}
	}
	s.log.Info("pass", "status", report.Status, "cause", string(report.Cause), "error", report.LastError,
		"records", report.Uploaded.Records, "waiting", report.Outbox.Pending, "put_aside", report.Outbox.DeadLetter)
	return outcome(report)
}

// outcome is what a pass means for the next one.
func outcome(r collector.Report) service.PassResult {
	result := service.PassResult{Wanted: r.Wanted, RetryAfter: r.RetryAfter}
	switch r.Cause {
	case "", collector.CauseStopped:
	case collector.CausePending, collector.CauseStateRead:
		result.Retry = true
	case collector.CauseUnreachable:
		noAnswer := r.LastError == wire.CodeNetwork || r.LastError == wire.CodeTimeout
		result.Retry, result.Stopped = noAnswer, !noAnswer
	case collector.CauseConnector, collector.CauseDiskFull:
		result.Failed = true
	default:
		result.Stopped = true
	}
	return result
}
