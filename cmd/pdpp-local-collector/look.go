package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/device/collector"
)

func (p *program) statusCommand() *cobra.Command {
	return p.sourceCommand("status", "What waits in the queue; asks nobody",
		func(ctx context.Context, c *collector.Collector) error {
			i, err := c.Inspect(ctx)
			if err != nil {
				return err
			}
			if p.json {
				printJSON(p.stdout, i)
				return nil
			}
			p.describe(i)
			return nil
		})
}

func (p *program) describe(i collector.Inspection) {
	printf(p.stdout, "source     %s (%s)\n", i.SourceInstanceID, i.ConnectorID)
	printf(p.stdout, "state      %s\n", i.Lifecycle)
	if !i.QueueExists {
		printf(p.stdout, "queue      %s does not exist yet\n", i.Queue)
		return
	}
	printf(p.stdout, "queue      %s\n           %s\n", i.Queue, queueWords(i.Outbox))
	if i.OpenGaps > 0 {
		printf(p.stdout, "missing    %s, tried again by the next run\n", plural(int64(i.OpenGaps), "item"))
	}
}

func (p *program) doctorCommand() *cobra.Command {
	return p.sourceCommand("doctor", "What is wrong with the queue, the connector or the server",
		func(ctx context.Context, c *collector.Collector) error {
			d, err := c.Diagnose(ctx)
			if err != nil {
				return err
			}
			if p.json {
				printJSON(p.stdout, d)
			} else {
				p.describe(d.Inspection)
				printf(p.stdout, "verdict    %s\n", d.Status)
				for _, f := range d.Findings {
					printf(p.stdout, "  %s: %s\n  next: %s\n", f.Code, f.Text, f.Next)
				}
			}
			if d.Status != collector.HealthOK {
				return exitOnly{exitUnhealthy}
			}
			return nil
		})
}

// listed is a profile as it may be shown.
type listed struct {
	SourceInstanceID string `json:"source_instance_id"`
	ConnectorID      string `json:"connector_id"`
	BaseURL          string `json:"base_url"`
	DeviceID         string `json:"device_id"`
	Queue            string `json:"queue"`
	Path             string `json:"path"`
}

func (p *program) profilesCommand() *cobra.Command {
	return p.command("profiles", "The sources set up on this host", func(context.Context) error {
		dirs, err := collector.DirsFrom(p.lookup)
		if err != nil {
			return err
		}
		found, broken, err := collector.Profiles(dirs)
		if err != nil {
			return err
		}
		list := []listed{}
		for _, f := range found {
			list = append(list, listing(f))
		}
		if p.json {
			printJSON(p.stdout, list)
		} else {
			for _, l := range list {
				printf(p.stdout, "%s  %s  %s\n", l.SourceInstanceID, l.ConnectorID, l.Path)
			}
			if len(list) == 0 {
				printf(p.stdout, "no source is set up in %s\n", dirs.Profiles)
			}
		}
		for _, b := range broken {
			p.explain(b.Code, b.Message, b.Next)
		}
		if len(broken) > 0 {
			return exitOnly{exitUsage}
		}
		return nil
	})
}
