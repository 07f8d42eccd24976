package cli

import (
	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/output"
)

func versionLine() string {
	v := command.ReadBuildInfo()
	return v.Version + " (" + v.Go + ", " + v.Platform + ")"
}

func versionCommand(inv *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Show the version of this program", Args: arguments.NoArguments,
		Run: func(*cobra.Command, []string) {
			if inv.JSON {
				output.WriteJSON(inv.Out, command.ReadBuildInfo())
				return
			}
			output.Printf(inv.Out, "pdpp %s\n", versionLine())
		},
	}
}
