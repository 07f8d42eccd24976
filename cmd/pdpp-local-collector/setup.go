package main

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/device/collector"
)

const setupText = `Makes this computer a device of your server, with the command that the server
shows when you add one, and collects for the first time. The profile that it writes
can be read by you alone; its lines may be added to by hand, one NAME=VALUE each, for
variables that the connector needs.`

func (p *program) setupCommand() *cobra.Command {
	var e collector.Enrolment
	writeOnly := false
	cmd := p.command("setup", "Connect this computer by the code that the server shows", func(ctx context.Context) error {
		dirs, err := collector.DirsFrom(p.lookup)
		if err != nil {
			return err
		}
		if e.Label == "" {
			e.Label, _ = os.Hostname()
		}
		e.AgentVersion = version()
		profile, err := collector.Enrol(ctx, dirs, e, time.Now())
		if err != nil {
			return err
		}
		if writeOnly && p.json {
			printJSON(p.stdout, listing(profile))
		}
		if !p.json {
			printf(p.stdout, "connected  %s as %s\n", profile.ConnectorID, profile.SourceInstanceID)
			printf(p.stdout, "profile    %s\n", profile.Path)
		}
		if writeOnly {
			return nil
		}
		p.source = profile.SourceInstanceID
		c, err := p.collector()
		if err != nil {
			return err
		}
		report, err := c.Run(ctx)
		if err != nil {
			return err
		}
		if err := p.finish(report, report); err != nil || p.json {
			return err
		}
		printf(p.stdout, "next       pdpp-local-collector service install   collects from now on by itself\n")
		return nil
	})
	cmd.Long = setupText
	flags := cmd.Flags()
	flags.StringVar(&e.BaseURL, "base-url", "", "the server's address")
	flags.StringVar(&e.Code, "code", "", "the code that the server shows")
	flags.StringVar(&e.Label, "device-label", "", "what the server calls this computer (default: its name)")
	flags.BoolVar(&e.AllowPlainHTTP, "allow-plain-http", false,
		"let the device's token travel unencrypted to another machine")
	flags.BoolVar(&writeOnly, "write-only", false, "write the profile and collect nothing yet")
	for _, name := range []string{"base-url", "code"} {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err) // the flags are defined above
		}
	}
	return cmd
}

// progressStep is the time between progress messages of a pass.
const progressStep = 2 * time.Second

// progress prints the progress of a pass for a person at a terminal.
func (p *program) progress() func(runner.Update) {
	if p.json {
		return nil
	}
	var mu sync.Mutex
	last := time.Now()
	return func(u runner.Update) {
		mu.Lock()
		defer mu.Unlock()
		if time.Since(last) < progressStep {
			return
		}
		last = time.Now()
		printf(p.stderr, "           %s so far\n", plural(u.Records, "record"))
	}
}

func (p *program) logoutCommand() *cobra.Command {
	localOnly, discard := false, false
	cmd := p.sourceCommand("logout", "End this device on the server, and remove its profiles here",
		func(ctx context.Context, c *collector.Collector) error {
			left, err := c.Leave(ctx, localOnly, discard)
			if err != nil {
				return err
			}
			if p.json {
				printJSON(p.stdout, left)
				return nil
			}
			printf(p.stdout, "ended      %s\n", left.DeviceID)
			for _, path := range left.Removed {
				printf(p.stdout, "removed    %s\n", path)
			}
			for _, path := range left.Kept {
				printf(p.stdout, "kept       %s, in which uploads wait\n", path)
			}
			return nil
		})
	cmd.Flags().BoolVar(&localOnly, "local-only", false, "do not tell the server")
	cmd.Flags().BoolVar(&discard, "discard", false, "remove queues in which uploads wait as well")
	return cmd
}

// listing is a profile as it may be shown.
func listing(f collector.Profile) listed {
	return listed{f.SourceInstanceID, f.ConnectorID, f.BaseURL, f.DeviceID, f.Queue, f.Path}
}
