package access

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const auditHelp = `Lists sign-ins, tokens, grants, consents, reads by apps, exports, backups and changed
settings: who did what, from where, when, and the result. Entries contain no records and
no secrets. An entry is removed only when it is older than you keep entries.

You can filter by kind: reading, sign_ins, grants, exports, settings. Reads by an app and
repeated refusals are counted per minute.`

const auditExamples = `  pdpp audit
  pdpp audit --since 7d --kind sign_ins
  pdpp audit --since 2026-03-01 --json
  pdpp audit keep 730                     keep entries for two years`

type auditFlags struct {
	since, kind string
	limit       int
}

// NewAuditCommand returns the command pdpp audit.
func NewAuditCommand(inv *command.Invocation) *cobra.Command {
	var f auditFlags
	cmd := &cobra.Command{
		Use: "audit", Short: "Show who did what", Long: auditHelp, Example: auditExamples,
		Args: arguments.NoArguments,
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, _ []string) error {
			return printAuditTrail(ctx, inv, o,
				f)
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&f.since, "since", "", "only what happened since: a time, a date, or a span like 7d or 12h")
	flags.StringVar(&f.kind, "kind", "",
		"only this kind: reading, sign_ins, grants, exports, settings, or a kind that --json prints")
	flags.IntVar(&f.limit, "limit", 100, "how many entries at most")
	cmd.AddCommand(newAuditKeepCommand(inv))
	return cmd
}

func printAuditTrail(ctx context.Context, inv *command.Invocation, o api.Owner, f auditFlags) error {
	since, err := arguments.ParsePast("--since", f.since, inv.Env.Now())
	if err != nil {
		return err
	}
	if f.limit < 1 {
		return failure.UsageError("--limit "+strconv.Itoa(f.limit)+" lists nothing", "Use a number from 1 upwards.")
	}
	q := api.AuditQuery{Kind: f.kind, Since: since}
	all := api.AuditPage{Entries: []api.AuditEntry{}}
	for len(all.Entries) < f.limit {
		q.Limit = min(f.limit-len(all.Entries), 1000)
		page, err := o.Audit(ctx, q)
		if err != nil {
			return err
		}
		all.Entries, all.Next, all.KeptDays = append(all.Entries, page.Entries...), page.Next, page.KeptDays
		if q.Before = page.Next; page.Next == 0 {
			break
		}
	}
	body := map[string]any{"entries": all.Entries, "next_before": all.Next, "kept_days": all.KeptDays}
	return inv.Show(nil, body, func() {
		if len(all.Entries) == 0 {
			output.Printf(inv.Out, "Nothing of that kind happened. Entries are kept for %d days.\n", all.KeptDays)
			return
		}
		t := inv.NewTable("WHEN", "WHAT", "WHO", "FROM")
		for _, e := range all.Entries {
			t.Row(output.FormatTime(e.LastAt), e.Sentence, auditActorText(e.Actor), output.DashIfEmpty(e.Actor.Address))
		}
		t.Flush()
		if all.Next > 0 {
			output.Printf(inv.ErrOut, "There is more: --limit %d\n", f.limit*10)
		}
	})
}

// auditActorText returns the kind and id of an actor, so that sessions, tokens and grants can be distinguished.
func auditActorText(by api.AuditActor) string {
	return strings.TrimSpace(strings.ReplaceAll(by.Kind, "_", " ") + " " + by.ID)
}

func newAuditKeepCommand(inv *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "keep DAYS", Short: "Set how many days entries are kept", Args: arguments.Required("a number of days"),
		Example: "  pdpp audit keep 365",
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			days, err := strconv.Atoi(args[0])
			if err != nil {
				return failure.UsageError(strconv.Quote(args[0])+" is not a number of days", "Use 30 to 3650.")
			}
			if err := o.SetAuditRetention(ctx, days); err != nil {
				return err
			}
			return inv.PrintResult(map[string]any{"kept_days": days},
				"Entries are kept for %s; a server takes older ones away.\n",
				text.Count(int64(days), "day", "days"))
		}),
	}
}
