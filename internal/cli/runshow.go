package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/protocol"
)

func (a *app) runShowCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show RUN", Short: "Show the timeline of a run", Args: needArgs("the id of a run"),
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
			run, found, err := findRun(ctx, o, args[0])
			if err != nil {
				return err
			}
			if !found {
				return notFound(fmt.Sprintf("there is no run %q", args[0]), "List them: pdpp runs")
			}
			events, err := allEvents(ctx, o, run.ID)
			if err != nil {
				return err
			}
			if a.json {
				writeJSON(a.out, map[string]any{"run": run, "events": events})
				return nil
			}
			a.printRun(run)
			a.printEvents(events)
			return nil
		}),
	}
}

// allEvents reads a timeline to its end.
func allEvents(ctx context.Context, o api.Owner, runID string) ([]api.Event, error) {
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

func (a *app) printRun(r api.Run) {
	printf(a.out, "run         %s\n", r.ID)
	printf(a.out, "connection  %s (%s)\n", r.ConnectionID, r.ConnectorID)
	printf(a.out, "status      %s\n", r.Status)
	printf(a.out, "started     %s, took %s\n", when(r.StartedAt), took(r))
	if r.GrantID != "" {
		printf(a.out, "grant       %s (%s)\n", r.GrantID, orDash(oneLine(r.GrantName)))
	}
	printf(a.out, "records     %s\n", text.Number(r.RecordsEmitted))
	if r.Failure != "" {
		printf(a.out, "error       %s: %s\n", orDash(r.Reason), oneLine(r.Failure))
	}
	var gaps []runner.KnownGap
	if len(r.KnownGaps) > 0 && json.Unmarshal(r.KnownGaps, &gaps) == nil {
		for _, line := range missingLines(gaps) {
			printf(a.out, "missing     %s\n", line)
		}
	}
	a.printStderr(r.Stderr, "pdpp run show "+r.ID+" --json")
	printf(a.out, "\n")
}

// shownStderr is how many of a connector's last lines are shown: a trace of where it
// broke, and why.
const shownStderr = 12

// printStderr shows the end of what a connector wrote to stderr; all says where the rest is.
func (a *app) printStderr(tail, all string) {
	lines := strings.FieldsFunc(tail, func(r rune) bool { return r == '\n' || r == '\r' })
	if more := len(lines) - shownStderr; more > 0 {
		printf(a.out, "stderr      (%s more above: %s)\n", text.Number(int64(more)), all)
		lines = lines[more:]
	}
	for _, line := range lines {
		printf(a.out, "stderr      %s\n", text.Cut(oneLine(line), 300))
	}
}

func (a *app) printEvents(events []api.Event) {
	kinds, streams := 0, 0
	for _, e := range events {
		kinds, streams = max(kinds, len(eventName(e))), max(streams, len(e.Stream))
	}
	rest := a.columns() - len(eventTime) - kinds - streams - 6
	t := a.table("TIME", "EVENT", "STREAM", "DETAIL")
	for _, e := range events {
		t.row(e.At.Local().Format(eventTime), eventName(e), orDash(e.Stream), text.Cut(eventDetail(e), max(rest, 16)))
	}
	t.flush()
}

const eventTime = "15:04:05.000"

func eventName(e api.Event) string { return strings.TrimPrefix(e.Type, "run.") }

// eventDetail shows the plain members of an event and a move of the circuit breaker.
// What else is nested is in --json.
func eventDetail(e api.Event) string {
	var members map[string]jsontext.Value
	if len(e.Data) == 0 || json.Unmarshal(e.Data, &members) != nil {
		return ""
	}
	var parts []string
	for _, name := range []string{"message", "failure_reason", "failure_message"} {
		if line := plainValue(members[name]); line != "" {
			parts = append(parts, line)
		}
		delete(members, name)
	}
	var budget protocol.ProviderBudget
	if v := members["provider_budget"]; len(v) > 0 && json.Unmarshal(v, &budget) == nil {
		c := budget.Circuit
		parts = append(parts, fmt.Sprintf("circuit %s -> %s (%s, after %s)", c.Previous, c.State, c.Reason, text.Count(int64(budget.RequestCount), "request", "requests")))
	}
	for _, name := range sortedKeys(members) {
		if line := plainValue(members[name]); line != "" && line != "false" {
			parts = append(parts, name+"="+line)
		}
	}
	return strings.Join(parts, " ")
}

// plainValue is a string, number or boolean as text; empty for anything else.
func plainValue(v jsontext.Value) string {
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
