package runs

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/protocol"
)

func newRunShowCommand(inv *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "show RUN", Short: "Show the timeline of a run", Args: arguments.Required("the id of a run"),
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			run, found, err := command.FindRun(ctx, o, args[0])
			if err != nil {
				return err
			}
			if !found {
				return failure.UnknownName(fmt.Sprintf("there is no run %q", args[0]), "List them: pdpp runs")
			}
			events, err := readTimeline(ctx, o, run.ID)
			return inv.Show(err, map[string]any{"run": run, "events": events}, func() {
				printRunDetail(inv, run)
				printTimeline(inv, events)
			})
		}),
	}
}

// readTimeline returns all events of a run.
func readTimeline(ctx context.Context, o api.Owner, runID string) ([]api.Event, error) {
	all := []api.Event{}
	var after int64
	for {
		page, err := o.Timeline(ctx, runID, after)
		if err != nil || len(page) == 0 {
			return all, err
		}
		all = append(all, page...)
		after = page[len(page)-1].Seq
	}
}

func printRunDetail(inv *command.Invocation, r api.Run) {
	output.Printf(inv.Out, "run         %s\n", r.ID)
	output.Printf(inv.Out, "connection  %s (%s)\n", r.ConnectionID, r.ConnectorID)
	output.Printf(inv.Out, "status      %s\n", r.Status)
	output.Printf(inv.Out, "started     %s, took %s\n", output.FormatTime(r.StartedAt), totalDuration(r))
	if r.GrantID != "" {
		output.Printf(inv.Out, "grant       %s (%s)\n", r.GrantID, output.DashIfEmpty(output.SingleLine(r.GrantName)))
	}
	output.Printf(inv.Out, "records     %s\n", text.Number(r.RecordsEmitted))
	if r.Failure != "" {
		output.Printf(inv.Out, "error       %s: %s\n", output.DashIfEmpty(r.Reason), output.SingleLine(r.Failure))
	}
	var gaps []runner.KnownGap
	if len(r.KnownGaps) > 0 && json.Unmarshal(r.KnownGaps, &gaps) == nil {
		for _, line := range missingDataLines(gaps) {
			output.Printf(inv.Out, "missing     %s\n", line)
		}
	}
	printConnectorLog(inv, r.Stderr, "pdpp run show "+r.ID+" --json")
	output.Printf(inv.Out, "\n")
}

// longestStderr is how many lines of a connector's log are shown.
const longestStderr = 12

// printConnectorLog prints the end of a connector's log. All is the command that shows the rest.
func printConnectorLog(inv *command.Invocation, tail, all string) {
	lines := strings.FieldsFunc(tail, func(r rune) bool { return r == '\n' || r == '\r' })
	if more := len(lines) - longestStderr; more > 0 {
		output.Printf(inv.Out, "stderr      (%s more above: %s)\n", text.Number(int64(more)), all)
		lines = lines[more:]
	}
	for _, line := range lines {
		output.Printf(inv.Out, "stderr      %s\n", text.Cut(output.SingleLine(line), 300))
	}
}

func printTimeline(inv *command.Invocation, events []api.Event) {
	kinds, streams := 0, 0
	for _, e := range events {
		kinds, streams = max(kinds, len(eventTypeName(e))), max(streams, len(e.Stream))
	}
	rest := inv.Columns() - len(eventTimeLayout) - kinds - streams - 6
	t := inv.NewTable("TIME", "EVENT", "STREAM", "DETAIL")
	for _, e := range events {
		t.Row(e.At.Local().Format(eventTimeLayout), eventTypeName(e), output.DashIfEmpty(e.Stream),
			text.Cut(eventDetail(e), max(rest, 16)))
	}
	t.Flush()
}

const eventTimeLayout = "15:04:05.000"

func eventTypeName(e api.Event) string { return strings.TrimPrefix(e.Type, "run.") }

// eventDetail returns the scalar members of an event and changes of the circuit breaker. Other members are in --json.
func eventDetail(e api.Event) string {
	var members map[string]jsontext.Value
	if len(e.Data) == 0 || json.Unmarshal(e.Data, &members) != nil {
		return ""
	}
	var parts []string
	for _, name := range []string{"message", "failure_reason", "failure_message"} {
		if line := scalarText(members[name]); line != "" {
			parts = append(parts, line)
		}
		delete(members, name)
	}
	var budget protocol.ProviderBudget
	if v := members["provider_budget"]; len(v) > 0 && json.Unmarshal(v, &budget) == nil {
		c := budget.Circuit
		parts = append(parts, fmt.Sprintf("circuit %s -> %s (%s, after %s)", c.Previous, c.State, c.Reason,
			text.Count(int64(budget.RequestCount), "request", "requests")))
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if line := scalarText(members[name]); line != "" && line != "false" {
			parts = append(parts, name+"="+line)
		}
	}
	return strings.Join(parts, " ")
}

// scalarText returns a string, number or boolean as text, and "" for anything else.
func scalarText(v jsontext.Value) string {
	switch v.Kind() {
	case '"':
		var s string
		_ = json.Unmarshal(v, &s)
		return s
	case '0', 't', 'f':
		return string(v)
	default:
		return ""
	}
}
