package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/device/collector"
	"github.com/pdpp-go/pdpp/internal/device/wire"
)

func (p *program) runCommand() *cobra.Command {
	return p.sourceCommand("run", "Collect and upload once", func(ctx context.Context, c *collector.Collector) error {
		report, err := c.Run(ctx)
		if err != nil {
			return err
		}
		return p.finish(report, report)
	})
}

func (p *program) recoverCommand() *cobra.Command {
	apply := false
	cmd := p.sourceCommand("recover", "Show, or with --apply do, what gets uploads going again",
		func(ctx context.Context, c *collector.Collector) error {
			if !apply {
				return p.preview(ctx, c)
			}
			done, err := c.Recover(ctx)
			if err != nil {
				return err
			}
			if !p.json {
				printf(p.stdout, "%s put back into the queue\n", plural(int64(done.Requeued), "failed upload"))
			}
			return p.finish(done, done.Report)
		})
	cmd.Flags().BoolVar(&apply, "apply", false, "do it: put failed uploads back and run once")
	return cmd
}

// finish prints a pass and turns its end into the exit code.
func (p *program) finish(value any, r collector.Report) error {
	if p.json {
		printJSON(p.stdout, value)
	} else {
		p.tell(r)
	}
	if r.OK() {
		return nil
	}
	return exitOnly{exitFailed}
}

func (p *program) tell(r collector.Report) {
	if run := r.Run; run != nil {
		printf(p.stdout, "collected  %s, run %s %s\n", plural(run.Records, "record"), run.RunID, run.Status)
		if run.Reason != "" {
			printf(p.stdout, "           %s: %s\n", run.Reason, run.Message)
		}
		if run.Gaps > 0 {
			printf(p.stdout, "missing    %s, tried again by the next run\n", plural(int64(run.Gaps), "item"))
		}
	} else {
		printf(p.stdout, "collected  nothing, the connector was not started\n")
	}
	up := r.Uploaded
	printf(p.stdout, "uploaded   %s in %s\n", plural(up.Records, "record"), plural(up.Batches, "upload"))
	if up.Rejected > 0 {
		printf(p.stdout, "rejected   %s by the server\n", plural(up.Rejected, "record"))
	}
	printf(p.stdout, "queue      %s\n", queueWords(r.Outbox))
	if r.SetAside != "" {
		printf(p.stdout, "           it was damaged and is kept as %s; what it held is collected again\n", r.SetAside)
	}
	printf(p.stdout, "status     %s%s\n", r.Status, because(r))
	if !r.HeartbeatDelivered {
		printf(p.stdout, "           the server could not be told\n")
	}
	if next := nextStep(r); next != "" {
		printf(p.stdout, "next       %s\n", next)
	}
}

func because(r collector.Report) string {
	var parts []string
	for _, s := range []string{string(r.Cause), r.LastError} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

func nextStep(r collector.Report) string {
	flag := " --source-instance-id " + r.SourceInstanceID
	switch r.Cause {
	case collector.CauseDeadLetters:
		return "pdpp-local-collector recover" + flag
	case collector.CauseDeviceUnknown, collector.CauseSourceUnknown:
		return "if you still want it collected, add this computer again in the server's console, under Devices, and paste " +
			"the line that it shows"
	case collector.CauseSourceDeleted:
		return "nothing: what waited here was dropped. To collect it again, add this computer again in the server's " +
			"console, under Devices"
	case collector.CauseStateRead, collector.CauseUnreachable, collector.CauseUpgradeNeeded:
		return "pdpp-local-collector doctor" + flag
	case collector.CausePending, collector.CauseStopped:
		return "pdpp-local-collector run" + flag
	case collector.CauseDiskFull:
		return "make room on the disk, then pdpp-local-collector run" + flag
	default:
		return ""
	}
}

func (p *program) preview(ctx context.Context, c *collector.Collector) error {
	v, err := c.Preview(ctx)
	if err != nil {
		return err
	}
	if p.json {
		printJSON(p.stdout, v)
		return nil
	}
	printf(p.stdout, "This only looks; nothing is changed or sent.\n")
	printf(p.stdout, "source     %s (%s)\n", v.SourceInstanceID, v.ConnectorID)
	printf(p.stdout, "queue      %s\n           %s\n", v.Queue, queueWords(v.Outbox))
	if v.Requeue > 0 {
		var kinds []string
		for _, f := range v.Failures {
			kinds = append(kinds, fmt.Sprintf("%s (%d)", f.ErrorClass, f.Count))
		}
		printf(p.stdout, "failed     %s, the oldest from %s: %s\n", plural(int64(v.Requeue), "upload"),
			v.OldestFailed.UTC().Format(time.RFC3339), strings.Join(kinds, ", "))
		printf(p.stdout, "would do   put %s back into the queue, then collect and upload once\n",
			plural(int64(v.Requeue), "failed upload"))
	} else {
		printf(p.stdout, "would do   collect and upload once; no upload has failed for good\n")
	}
	printf(p.stdout, "next       pdpp-local-collector recover --source-instance-id %s --apply\n", v.SourceInstanceID)
	return nil
}

func queueWords(c wire.OutboxCounts) string {
	return fmt.Sprintf("%d waiting, %d failed, %d uploaded", c.Pending+c.Leased, c.DeadLetter, c.Succeeded)
}

func plural(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
