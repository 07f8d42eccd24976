package records

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/semantic"
)

const semanticHelp = `Searching by meaning finds records without their words: pdpp search --by meaning. For that,
the searched texts of your records are sent to an endpoint for embeddings. It is off until you
name one, and nothing is sent anywhere else.`

const semanticExamples = `  pdpp semantic                                    whether it is on, and where texts are sent
  pdpp semantic set ollama http://127.0.0.1:11434 nomic-embed-text
  pdpp semantic set openai https://api.example text-embedding-small
  pdpp semantic off`

// envSemanticSecret names the variable with the secret of the endpoint.
const envSemanticSecret = "PDPP_SEMANTIC_SECRET"

// NewSemanticCommand returns the command pdpp semantic.
func NewSemanticCommand(inv *command.Invocation) *cobra.Command {
	cmd := &cobra.Command{
		Use: "semantic", Short: "Search by meaning, at an endpoint that you choose", Long: semanticHelp,
		Example: semanticExamples, Args: arguments.NoArguments,
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, _ []string) error {
			s, err := o.SemanticSearch(ctx)
			return inv.Show(err, s, func() { printSemantic(inv, s) })
		}),
	}
	cmd.AddCommand(&cobra.Command{
		Use: "set KIND ADDRESS MODEL", Short: "Turn it on, or choose another endpoint or model",
		Long: `The kind is ollama or openai; many servers speak the second one. The endpoint must answer for a
test word. An address without a path gets the usual one. A secret comes from the variable
PDPP_SEMANTIC_SECRET. Another endpoint or model computes everything again.`,
		Example: "  pdpp semantic set ollama http://127.0.0.1:11434 nomic-embed-text", Args: cobra.ExactArgs(3),
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			secret, _, err := inv.Variable(envSemanticSecret)
			if err != nil {
				return err
			}
			s, err := o.SetSemanticSearch(ctx, semantic.Endpoint{Kind: args[0], Address: args[1], Model: args[2],
				Secret: secret})
			return inv.Show(err, s, func() { printSemantic(inv, s) })
		}),
	}, &cobra.Command{
		Use: "off", Short: "Stop sending texts, and delete what was computed", Args: arguments.NoArguments,
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, _ []string) error {
			if err := o.EndSemanticSearch(ctx); err != nil {
				return err
			}
			return inv.PrintResult(semantic.Search{}, "Searching by meaning is off. Nothing is sent any more.\n")
		}),
	})
	return cmd
}

func printSemantic(inv *command.Invocation, s semantic.Search) {
	if !s.On {
		output.Printf(inv.Out, "Searching by meaning is off. No text of your records is sent anywhere.\n"+
			"Turn it on: pdpp semantic set KIND ADDRESS MODEL\n")
		return
	}
	output.Printf(inv.Out, "Texts of your records are sent to %s (%s, model %s).\n", output.SingleLine(s.Address), s.Kind,
		output.SingleLine(s.Model))
	if !s.Leaves {
		output.Printf(inv.Out, "They do not leave your network.\n")
	}
	output.Printf(inv.Out, "%s can be found by meaning; %s to look at.\n", text.Count(s.Vectors, "text", "texts"),
		text.Count(s.Pending, "change is left", "changes are left"))
	if s.Failure != "" {
		output.Printf(inv.Out, "The endpoint fails (%s). It is tried again.\n", output.SingleLine(s.Failure))
	}
}
