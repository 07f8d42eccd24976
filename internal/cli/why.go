package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/view"
)

const whyText = `Say why a connection is judged as it is: the facts with their times, the rule
that used each of them, and what came of it.

The chain goes from evidence over conditions and axes to the headline, then to
what becomes of missing data, the tone of the pill, the channel that decides
whether you are called for, and the actions. The exit code is 0 whenever it
could be told.`

func (a *app) whyCommand() *cobra.Command {
	return &cobra.Command{
		Use: "why CONNECTION", Short: "Say why a connection is judged as it is",
		Long: whyText, Example: "  pdpp why example\n  pdpp why cin_example_2 --json", Args: needArgs("the name of a connection"),
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
			conn, err := pickOwned(ctx, o, args[0], "Choose one, as in pdpp why CONNECTION: ")
			if err != nil {
				return err
			}
			why, err := o.Why(ctx, conn.ID)
			if err != nil {
				return err
			}
			if a.json {
				writeJSON(a.out, why)
				return nil
			}
			a.printWhy(why)
			return nil
		}),
	}
}

const whyIndent = 13

func (a *app) printWhy(why view.Explanation) {
	a.printHead(&why.Connection)
	a.printIndicator(why.Indicator)
	printf(a.out, "\n")
	indent := strings.Repeat(" ", whyIndent)
	last := view.Layer("")
	for _, s := range why.Steps {
		head := ""
		if s.Layer != last {
			head, last = string(s.Layer), s.Layer
		}
		printf(a.out, "%-*s%s", whyIndent, head, oneLine(s.Fact))
		if s.At != nil {
			printf(a.out, "  [%s]", when(*s.At))
		}
		printf(a.out, "\n%s  %s -> %s\n", indent, oneLine(s.Rule), oneLine(s.Result))
	}
}
