package cli

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const auditText = `Lists sign-ins, tokens, grants, consents, readings by apps, exports, backups and changed
settings: who did what, from where, when, and how it ended. Nothing of it holds content
or secrets, and nothing but its age takes an entry away.

Kinds that are looked for together: reading, sign_ins, grants, exports, settings. What an
app reads, and what is refused again and again, is counted by the minute.`

const auditExamples = `  pdpp audit
  pdpp audit --since 7d --kind sign_ins
  pdpp audit --since 2026-03-01 --json
  pdpp audit keep 730                     keep entries for two years`

type auditFlags struct {
	since, kind string
	limit       int
}

func (a *app) auditCommand() *cobra.Command {
	var f auditFlags
	cmd := &cobra.Command{
		Use: "audit", Short: "Say what was done, by whom", Long: auditText, Example: auditExamples, Args: noArgs,
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, _ []string) error { return a.listAudit(ctx, o, f) }),
	}
	flags := cmd.Flags()
	flags.StringVar(&f.since, "since", "", "only what happened since: a time, a date, or a span like 7d or 12h")
	flags.StringVar(&f.kind, "kind", "", "only this kind: reading, sign_ins, grants, exports, settings, or a kind as --json gives it")
	flags.IntVar(&f.limit, "limit", 100, "how many entries at most")
	cmd.AddCommand(a.auditKeepCommand())
	return cmd
}

func (a *app) listAudit(ctx context.Context, o api.Owner, f auditFlags) error {
	since, err := a.past("--since", f.since)
	if err != nil {
		return err
	}
	if f.limit < 1 {
		return usage("--limit "+strconv.Itoa(f.limit)+" lists nothing", "Use a number from 1 upwards.")
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
	if a.json {
		writeJSON(a.out, map[string]any{"entries": all.Entries, "next_before": all.Next, "kept_days": all.KeptDays})
		return nil
	}
	if len(all.Entries) == 0 {
		printf(a.out, "Nothing of that kind happened. Entries are kept for %d days.\n", all.KeptDays)
		return nil
	}
	t := a.table("WHEN", "WHAT", "WHO", "FROM")
	for _, e := range all.Entries {
		t.row(when(e.LastAt), e.Sentence, auditWho(e.Actor), dash(e.Actor.Address))
	}
	t.flush()
	if all.Next > 0 {
		printf(a.errOut, "There is more: --limit %d\n", f.limit*10)
	}
	return nil
}

// auditWho tells one session, token or grant from another.
func auditWho(by api.AuditActor) string {
	return strings.TrimSpace(strings.ReplaceAll(by.Kind, "_", " ") + " " + by.ID)
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// past reads a moment, or a span before now; nil means that none was named.
func (a *app) past(flag, text string) (*time.Time, error) {
	if text == "" {
		return nil, nil
	}
	if span := spanOf(text); span > 0 {
		t := a.env.Now().Add(-span)
		return &t, nil
	}
	t, err := moment(flag, text)
	if err != nil {
		return nil, usage(flag+" "+strconv.Quote(text)+" is neither a time nor a span", "Write a span like 7d or 12h, or a date like 2026-03-01.")
	}
	return &t, nil
}

func (a *app) auditKeepCommand() *cobra.Command {
	return &cobra.Command{
		Use: "keep DAYS", Short: "Say for how many days entries are kept", Args: needArgs("a number of days"),
		Example: "  pdpp audit keep 365",
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
			days, err := strconv.Atoi(args[0])
			if err != nil {
				return usage(strconv.Quote(args[0])+" is not a number of days", "Use 30 to 3650.")
			}
			if err := o.SetAuditRetention(ctx, days); err != nil {
				return err
			}
			if a.json {
				writeJSON(a.out, map[string]any{"kept_days": days})
				return nil
			}
			printf(a.out, "Entries are kept for %s; a server takes older ones away.\n", text.Count(int64(days), "day", "days"))
			return nil
		}),
	}
}
