package rate

import (
	"context"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const limitsHelp = `Shows and changes how fast and how long a run of a connection may collect. Limits that
you do not name stay as they are; 0 removes a limit. Changes apply from the next run.

A ceiling never makes a run faster than its connector would be without it.`

const limitsExamples = `  pdpp limits example                     the limits that hold
  pdpp limits example --per-minute 30     at most 30 requests in a minute
  pdpp limits example --per-minute 0      as fast as the connector finds safe`

// NewLimitsCommand returns the command pdpp limits.
func NewLimitsCommand(inv *command.Invocation) *cobra.Command {
	var given api.Limits
	cmd := &cobra.Command{
		Use: "limits CONNECTION", Short: "Show and change how fast and how long a run may collect",
		Long: limitsHelp, Example: limitsExamples, Args: arguments.Required("the name of a connection"),
	}
	flags := cmd.Flags()
	flags.Float64Var(&given.CeilingPerMinute, "per-minute", 0, "the most requests in a minute")
	flags.Int64Var(&given.MaxSeconds, "run-seconds", 0,
		"how many seconds of a run may go into single items, from the first one on")
	flags.Int64Var(&given.MaxWholeSeconds, "whole-run-seconds", 0, "how many seconds a run may take, lists included")
	flags.Int64Var(&given.MaxDetails, "run-items", 0, "how many single items a run may fetch")
	cmd.RunE = inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
		d, err := command.ConnectionDetail(ctx, o, args[0])
		if err != nil {
			return err
		}
		wanted := d.Limits
		if flags.Changed("per-minute") {
			wanted.CeilingPerMinute = given.CeilingPerMinute
		}
		if flags.Changed("run-seconds") {
			wanted.MaxSeconds = given.MaxSeconds
		}
		if flags.Changed("whole-run-seconds") {
			wanted.MaxWholeSeconds = given.MaxWholeSeconds
		}
		if flags.Changed("run-items") {
			wanted.MaxDetails = given.MaxDetails
		}
		if slices.ContainsFunc([]string{"per-minute", "run-seconds", "whole-run-seconds", "run-items"}, flags.Changed) {
			if err := o.SetLimits(ctx, d.ID, wanted); err != nil {
				return err
			}
			if d, err = o.Connection(ctx, d.ID); err != nil {
				return err
			}
		}
		return inv.Show(nil, map[string]any{"connection_id": d.ID, "limits": d.Limits}, func() {
			printLimits(inv, &d)
		})
	})
	return cmd
}

func printLimits(inv *command.Invocation, d *api.Detail) {
	line := func(head, member, limit string) {
		switch {
		case !slices.Contains(d.Limits.Supports, member):
			limit = "the connector does not understand this limit"
		case limit == "0":
			limit = "default"
		}
		output.Printf(inv.Out, "%-20s %s\n", head, limit)
	}
	line("requests a minute", "ceiling_per_minute", strconv.FormatFloat(d.Limits.CeilingPerMinute, 'f', -1, 64))
	line("seconds for items", "max_run_seconds", text.Number(d.Limits.MaxSeconds))
	line("seconds of a run", "max_whole_run_seconds", text.Number(d.Limits.MaxWholeSeconds))
	line("items of a run", "max_detail_fetches", text.Number(d.Limits.MaxDetails))
}
