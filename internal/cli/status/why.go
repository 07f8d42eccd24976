package status

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/view"
)

const whyHelp = `Explains the state of a connection: the facts with their times, the rule that used each
of them, and its result.

The chain goes from evidence over conditions and axes to the headline, then to what
happens to missing data, the tone of the pill, the channel that decides whether you are
notified, and the actions. The exit code is 0 if the state could be read.`

// NewWhyCommand returns the command pdpp why.
func NewWhyCommand(inv *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "why CONNECTION", Short: "Explain the state of a connection",
		Long: whyHelp, Example: "  pdpp why example\n  pdpp why cin_example_2 --json",
		Args: arguments.Required("the name of a connection"),
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			conn, err := command.FindConnection(ctx, o, args[0], "Choose one, as in pdpp why CONNECTION: ")
			if err != nil {
				return err
			}
			why, err := o.Why(ctx, conn.ID)
			return inv.Show(err, why, func() { printExplanation(inv, why) })
		}),
	}
}

const whyIndent = 13

func printExplanation(inv *command.Invocation, why view.Explanation) {
	PrintHeadline(inv, &why.Connection)
	printIndicator(inv, why.Indicator)
	output.Printf(inv.Out, "\n")
	indent := strings.Repeat(" ", whyIndent)
	last := view.Layer("")
	for _, s := range why.Steps {
		head := ""
		if s.Layer != last {
			head, last = string(s.Layer), s.Layer
		}
		output.Printf(inv.Out, "%-*s%s", whyIndent, head, output.SingleLine(s.Fact))
		if s.At != nil {
			output.Printf(inv.Out, "  [%s]", output.FormatTime(*s.At))
		}
		output.Printf(inv.Out, "\n%s  %s -> %s\n", indent, output.SingleLine(s.Rule), output.SingleLine(s.Result))
	}
}
