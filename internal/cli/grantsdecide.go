package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const grantRequestText = `Shows what an app asks for. The id of its request is at the end of the address of the
page that asks you.`

func (a *app) grantRequestCommand() *cobra.Command {
	return &cobra.Command{
		Use: "request REQUEST", Short: "Show what an app asks to read", Long: grantRequestText, Args: needArgs("the id of a request"),
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
			r, err := o.GrantRequest(ctx, args[0])
			if err != nil {
				return err
			}
			if a.json {
				writeJSON(a.out, r)
				return nil
			}
			a.printGrantRequest(r)
			return nil
		}),
	}
}

func (a *app) printGrantRequest(r api.GrantRequest) {
	line := func(head, line string) { printf(a.out, "%-13s %s\n", head, oneLine(line)) }
	line("request", r.ID)
	line("from", r.ClientName)
	line("goes back to", r.ReturnsTo)
	line("purpose", orDash(r.Purpose))
	line("expires", orNone(r.ExpiresAt))
	for _, s := range r.Streams {
		line("would read", grantWords(s))
	}
	for _, name := range r.Missing {
		line("not here", name)
	}
}

const grantApproveText = `Lets an app read what it asks for. It takes up the grant at the address that is
printed: open it in the browser in which the app asked.`

func (a *app) grantApproveCommand() *cobra.Command {
	var expires string
	var never bool
	cmd := &cobra.Command{
		Use: "approve REQUEST", Short: "Let an app read what it asks for", Long: grantApproveText, Args: needArgs("the id of a request"),
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
			until, err := a.expiry(expires)
			if err != nil {
				return err
			}
			if until != nil && never {
				return usage("--expires and --never do not go together", "Say one of the two.")
			}
			return a.decide(ctx, o, args[0], api.Decision{Approve: true, GrantEnd: api.GrantEnd{ExpiresAt: until, NeverExpires: never}})
		}),
	}
	cmd.Flags().StringVar(&expires, "expires", "", "when it ends: a time, a date, or a span like 30d or 12h (default: as the request shows)")
	cmd.Flags().BoolVar(&never, "never", false, "it ends when you take it back")
	return cmd
}

func (a *app) grantRefuseCommand() *cobra.Command {
	return &cobra.Command{
		Use: "refuse REQUEST", Short: "Refuse what an app asks for", Args: needArgs("the id of a request"),
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
			return a.decide(ctx, o, args[0], api.Decision{})
		}),
	}
}

// decide answers an app, and says where its browser goes on.
func (a *app) decide(ctx context.Context, o api.Owner, id string, d api.Decision) error {
	address, err := o.Decide(ctx, id, d)
	if err != nil {
		return err
	}
	if a.json {
		writeJSON(a.out, map[string]any{"request_id": id, "approved": d.Approve, "redirect": address})
		return nil
	}
	said := "Refused"
	if d.Approve {
		said = "Approved"
	}
	printf(a.errOut, "%s. The app goes on at this address, which works once:\n", said)
	printf(a.out, "%s\n", address)
	return nil
}
