package assistants

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/owner/assistant"
)

const setupHelp = `Prints settings to copy into an assistant. Without a name it lists the assistants.

The settings have a place for the token of a grant: make one with "pdpp grants create",
so that the assistant reads only what you choose. Leave PDPP_TOKEN out to let it read
everything on this machine.`

// newSetupCommand returns the command pdpp mcp setup.
func newSetupCommand(inv *command.Invocation) *cobra.Command {
	var ids []string
	for _, c := range assistant.Clients {
		ids = append(ids, c.ID)
	}
	return &cobra.Command{
		Use: "setup [ASSISTANT]", Short: "Print the settings for an assistant", Long: setupHelp,
		Args: cobra.MaximumNArgs(1), ValidArgs: ids, Example: `  pdpp mcp setup                   list the assistants
  pdpp mcp setup claude-desktop    print settings to copy`,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return command.PrintList(inv, "assistants", assistant.Clients, "", []string{"ASSISTANT", "NAME", "SETTINGS"},
					func(c assistant.ClientProgram) []string { return []string{c.ID, c.Name, c.Place} })
			}
			client, ok := assistant.FindClient(args[0])
			if !ok {
				return failure.UsageError("there are no settings for that assistant",
					"Choose one of: "+strings.Join(ids, ", ")+".")
			}
			here, err := installation(inv)
			if err != nil {
				return err
			}
			return printSettings(inv, client.Settings(here))
		},
	}
}

// installation returns what the settings refer to.
func installation(inv *command.Invocation) (i assistant.Installation, err error) {
	i.Program = inv.Env.Executable
	if i.Home, err = inv.HomeFolder(); err != nil {
		return i, err
	}
	remote, err := inv.RemoteServer()
	if err != nil {
		return i, err
	}
	if remote != nil {
		i.Server, i.Public = remote.URL, remote.URL
		return i, nil
	}
	i.Public, _, err = inv.Variable(command.EnvBaseURL)
	return i, err
}

func printSettings(inv *command.Invocation, s assistant.ClientSettings) error {
	return inv.Show(nil, s, func() {
		output.Printf(inv.Out, "%s\nCopy this into: %s\n", s.Name, s.Place)
		if s.Local != "" {
			output.Printf(inv.Out, "\nOn this machine:\n\n%s\n", s.Local)
		}
		if s.Command != "" {
			output.Printf(inv.Out, "\nOr from a terminal:\n\n%s\n", s.Command)
		}
		if s.HTTP != "" {
			output.Printf(inv.Out, "\nFrom elsewhere (you are asked to allow it in your browser):\n\n%s\n", s.HTTP)
		}
		switch {
		case s.Remote && s.Address != "":
			output.Printf(inv.Out, "\n%s\n\nChoose OAuth. You are asked to allow it in your browser.\n", s.Address)
		case s.Remote:
			output.Printf(inv.Out, "\nIt reaches only servers with a public https address. Set PDPP_BASE_URL to yours, "+
				"and use\nthat address with /mcp.\n")
		}
		if s.Local != "" {
			output.Printf(inv.Out, "\nReplace %s by the token that \"pdpp grants create\" prints. Leave PDPP_TOKEN out to\n"+
				"let the assistant read everything.\n", assistant.TokenPlace)
		}
	})
}
