package sharing

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/webhook"
)

const triggersHelp = `A trigger is an address of your server that starts a run when another program calls it, so
that news arrive at once and not at the next scheduled run. Many calls make few runs. Only
a caller that knows the secret is answered.`

const triggersExamples = `  pdpp triggers                                  the addresses, and how often they were called
  pdpp triggers add cin_github_1 --kind github
  pdpp triggers remove tr_abc`

// NewTriggersCommand returns the command pdpp triggers.
func NewTriggersCommand(inv *command.Invocation) *cobra.Command {
	cmd := &cobra.Command{
		Use: "triggers", Short: "Addresses that start a run", Long: triggersHelp, Example: triggersExamples,
		Args: arguments.NoArguments,
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, _ []string) error {
			all, err := o.Triggers(ctx)
			return inv.Show(err, map[string]any{"triggers": all}, func() { printTriggers(inv, all) })
		}),
	}
	cmd.AddCommand(newTriggerAddCommand(inv), webhookAction(inv, "remove", "trigger", "Remove a trigger", "Removed.\n",
		api.Owner.RemoveTrigger))
	return cmd
}

func printTriggers(inv *command.Invocation, all []webhook.RunTrigger) {
	if len(all) == 0 {
		output.Printf(inv.Out, "There are no triggers. Add one: pdpp triggers add CONNECTION\n")
		return
	}
	t := inv.NewTable("TRIGGER", "CONNECTION", "KIND", "CALLS", "ADDRESS")
	for _, one := range all {
		t.Row(one.ID, one.ConnectionID, one.Kind, fmt.Sprint(one.Calls), output.SingleLine(one.Address))
	}
	t.Flush()
}

func newTriggerAddCommand(inv *command.Invocation) *cobra.Command {
	var kind string
	cmd := &cobra.Command{
		Use: "add CONNECTION", Short: "Make an address that starts a run",
		Args: arguments.Required("the connection to run"),
		Long: `Prints the secret, which is shown only once. generic is called by POST, with the secret as
bearer token or at the end of the address. github is for a webhook of GitHub with JSON. strava
is for a subscription at Strava, with the secret as its verify token.`,
		Example: "  pdpp triggers add cin_github_1 --kind github",
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			conn, err := command.FindConnection(ctx, o, args[0], command.ChooseByID)
			if err != nil {
				return err
			}
			made, secret, err := o.AddTrigger(ctx, webhook.NewTrigger{ConnectionID: conn.ID, Kind: kind})
			return inv.Show(err, map[string]any{"trigger": made, "secret": secret}, func() {
				output.Printf(inv.Out, "A call starts a run of %s.\n\nAddress: %s\n", made.ConnectionID,
					output.SingleLine(made.Address))
				if whole := made.SecretAddress(secret); whole != "" {
					output.Printf(inv.Out, "With the secret in it: %s\n", output.SingleLine(whole))
				}
				output.Printf(inv.Out, "The secret, which is not shown again: %s\n", secret)
			})
		}),
	}
	cmd.Flags().StringVar(&kind, "kind", "generic", "who calls: generic, github or strava")
	return cmd
}
