package access

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
)

const loginHelp = `Connects the commands on this machine to a remote PDPP server. Create a token in
its console under Settings, or with "pdpp tokens create" on the server's machine.

The token is checked and stored in remote.json in the home folder, which only you can
read. From then on status, connections, connect, records, search, export, grants,
tokens, schedule, answer, notify and similar commands use that server. Commands for
this machine say so. "--server local" uses this machine for one command.

PDPP_SERVER with PDPP_TOKEN (or PDPP_TOKEN_FILE) do the same and store nothing.`

const loginExamples = `  pdpp login https://pdpp.example.org                       ask me for the token
  pdpp login http://127.0.0.1:7377 --token-stdin < token    take it from a file
  pdpp logout                                               forget it`

// NewLoginCommand returns the command pdpp login.
func NewLoginCommand(inv *command.Invocation) *cobra.Command {
	var stdin bool
	cmd := &cobra.Command{
		Use: "login URL", Short: "Use these commands with a remote server", Long: loginHelp, Example: loginExamples,
		Args: arguments.Required("the address of a server"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return logInToServer(cmd.Context(), inv, args[0], stdin)
		},
	}
	cmd.Flags().BoolVar(&stdin, "token-stdin", false, "read the token from standard input")
	return cmd
}

func logInToServer(ctx context.Context, inv *command.Invocation, address string, stdin bool) error {
	base, err := command.ParseServerAddress(address)
	if err != nil {
		return err
	}
	token, err := enterToken(ctx, inv, stdin)
	if err != nil {
		return err
	}
	r := command.RemoteServer{URL: base, Token: token}
	runtime, err := r.Owner().Runtime(ctx)
	if err != nil {
		return err
	}
	if err := inv.SaveLogin(r); err != nil {
		return err
	}
	return inv.Show(nil, map[string]any{"server": base, "version": runtime.Version}, func() {
		if command.ReadableInTransit(base) {
			output.Printf(inv.ErrOut, "warning: without https, others in the network can read the token and your data\n")
		}
		output.Printf(inv.Out, "Signed in to %s (PDPP %s).\nNext: pdpp status\n", base, output.SingleLine(runtime.Version))
	})
}

func enterToken(ctx context.Context, inv *command.Invocation, stdin bool) (string, error) {
	text, err := inv.ReadSecret(ctx, stdin, command.SecretQuestion{
		Variable: command.EnvToken, Message: "The owner token of that server.", Label: "Token",
		OtherWay: "Give it with --token-stdin, or set " + command.EnvToken + "_FILE.",
	})
	if err != nil {
		return "", err
	}
	if text == "" || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", failure.UsageError("that is not a token", "Copy it whole; it begins with pdpp_ot_.")
	}
	return text, nil
}

// NewLogoutCommand returns the command pdpp logout.
func NewLogoutCommand(inv *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "logout", Short: "Forget the server of pdpp login", Args: arguments.NoArguments,
		Long: "Deletes the kept token from this machine. It stays valid: end it with pdpp tokens revoke, or in the " +
			"console.",
		Example: "  pdpp logout",
		RunE: func(*cobra.Command, []string) error {
			path, err := inv.LoginFile()
			if err != nil {
				return err
			}
			err = os.Remove(path)
			switch {
			case errors.Is(err, os.ErrNotExist):
				return failure.UnknownName("you are not signed in here", "Sign in: pdpp login URL")
			case err != nil:
				return command.LoginNotSaved(err)
			}
			return inv.PrintResult(map[string]any{"signed_out": true},
				"Signed out. The token itself is still valid; end it in the console under Settings.\n")
		},
	}
}
