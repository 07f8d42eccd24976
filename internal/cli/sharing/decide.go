package sharing

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const grantRequestHelp = `Shows what an app asks for. The id of the request is at the end of the address of the
page that asks you.`

func newGrantRequestCommand(inv *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "request REQUEST", Short: "Show what an app asks to read", Long: grantRequestHelp,
		Args: arguments.Required("the id of a request"),
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			r, err := o.GrantRequest(ctx, args[0])
			return inv.Show(err, r, func() { printGrantRequest(inv, r) })
		}),
	}
}

func printGrantRequest(inv *command.Invocation, r api.GrantRequest) {
	line := func(head, line string) { output.Printf(inv.Out, "%-13s %s\n", head, output.SingleLine(line)) }
	line("request", r.ID)
	line("from", r.ClientName)
	line("goes back to", r.ReturnsTo)
	line("purpose", output.DashIfEmpty(r.Purpose))
	line("expires", output.TimeOrNone(r.ExpiresAt))
	what := "would read"
	if r.OwnerChooses {
		what = "could read"
	}
	for _, s := range r.Streams {
		line(what, grantedStreamText(s))
	}
	for _, name := range r.Missing {
		line("not here", name)
	}
}

const grantApproveHelp = `Allows an app to read what it asks for, and prints an address. Open the address in the
browser in which the app asked; the app receives the grant there.

An app that names no streams lets you choose them with --stream. It reads nothing else.`

func newGrantApproveCommand(inv *command.Invocation) *cobra.Command {
	var expires string
	var never bool
	var chosen grantCreateFlags
	cmd := &cobra.Command{
		Use: "approve REQUEST", Short: "Allow an app to read what it asks for", Long: grantApproveHelp,
		Args: arguments.Required("the id of a request"),
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			until, err := arguments.ParseExpiry(expires, inv.Env.Now())
			if err != nil {
				return err
			}
			if until != nil && never {
				return failure.UsageError("--expires and --never do not go together", "Say one of the two.")
			}
			d := api.Decision{Approve: true, GrantEnd: api.GrantEnd{ExpiresAt: until, NeverExpires: never}}
			if len(chosen.streams) > 0 {
				all, err := command.ActiveConnections(ctx, o)
				if err != nil {
					return err
				}
				if d.Streams, err = parseGrantStreams(all, chosen); err != nil {
					return err
				}
			}
			return decideRequest(ctx, inv, o, args[0], d)
		}),
	}
	cmd.Flags().StringArrayVar(&chosen.streams, "stream", nil, "what it may read, as CONNECTION/STREAM[:FIELD,...], if "+
		"the app lets you choose (may be repeated)")
	cmd.Flags().StringVar(&expires, "expires", "",
		"when it ends: a time, a date, or a span like 30d or 12h (default: as the request shows)")
	cmd.Flags().BoolVar(&never, "never", false, "it ends when you take it back")
	return cmd
}

func newGrantRefuseCommand(inv *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "refuse REQUEST", Short: "Refuse what an app asks for", Args: arguments.Required("the id of a request"),
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			return decideRequest(ctx, inv, o, args[0], api.Decision{})
		}),
	}
}

// decideRequest approves or refuses an app's request, and prints the address where its browser continues.
func decideRequest(ctx context.Context, inv *command.Invocation, o api.Owner, id string, d api.Decision) error {
	address, err := o.Decide(ctx, id, d)
	return inv.Show(err, map[string]any{"request_id": id, "approved": d.Approve, "redirect": address}, func() {
		message := "Refused"
		if d.Approve {
			message = "Approved"
		}
		output.Printf(inv.ErrOut, "%s. The app continues at this address, which works once:\n", message)
		output.Printf(inv.Out, "%s\n", address)
	})
}
