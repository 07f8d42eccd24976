package cli

import (
	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/owner/thumbnail"
)

// thumbnailCommand is what the server starts to make a small picture. It reads nothing but its
// input, and no home.
func (a *app) thumbnailCommand() *cobra.Command {
	return &cobra.Command{
		Use: thumbnail.Command, Short: "Make a small picture of the one on standard input", Hidden: true, Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return thumbnail.Child(a.env.Stdin, exact(a.out)) },
	}
}
