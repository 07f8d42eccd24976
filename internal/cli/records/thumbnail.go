package records

import (
	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/owner/thumbnail"
)

// NewThumbnailCommand returns the hidden command that the server starts to make a small picture. It reads standard
// input only.
func NewThumbnailCommand(inv *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: thumbnail.HiddenCommand, Short: "Make a small picture of the one on standard input", Hidden: true,
		Args: arguments.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			return thumbnail.Child(inv.Env.Stdin, output.ExactWriter(inv.Out))
		},
	}
}
