package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const loginText = `Lets the commands on this machine speak to a remote PDPP server. Make a token in
its console under Settings, or with "pdpp tokens create" on the server's machine.

The token is checked, and kept in remote.json in the home folder, readable by you
alone. From then on status, connections, connect, records, search, export, grants,
tokens, schedule, answer, notify and the like are about that server; commands that
are about this machine say so. "--server local" asks this machine for once.

PDPP_SERVER with PDPP_TOKEN (or PDPP_TOKEN_FILE) do the same without keeping anything.`

const loginExamples = `  pdpp login https://pdpp.example.org                       ask me for the token
  pdpp login http://127.0.0.1:7377 --token-stdin < token    take it from a file
  pdpp logout                                               forget it`

func (a *app) loginCommand() *cobra.Command {
	var stdin bool
	cmd := &cobra.Command{
		Use: "login URL", Short: "Let these commands speak to a remote server", Long: loginText, Example: loginExamples,
		Args: needArgs("the address of a server"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.login(cmd.Context(), args[0], stdin) },
	}
	cmd.Flags().BoolVar(&stdin, "token-stdin", false, "read the token from standard input")
	return cmd
}

func (a *app) login(ctx context.Context, address string, stdin bool) error {
	base, err := serverAddress(address)
	if err != nil {
		return err
	}
	token, err := a.enterToken(ctx, stdin)
	if err != nil {
		return err
	}
	r := remote{URL: base, Token: token}
	runtime, err := r.owner().Runtime(ctx)
	if err != nil {
		return err
	}
	if err := a.keepLogin(r); err != nil {
		return err
	}
	if a.json {
		writeJSON(a.out, map[string]any{"server": base, "version": runtime.Version})
		return nil
	}
	if readableOnTheWay(base) {
		printf(a.errOut, "warning: without https, others in the network can read the token and your data\n")
	}
	printf(a.out, "Signed in to %s (PDPP %s).\nNext: pdpp status\n", base, oneLine(runtime.Version))
	return nil
}

func (a *app) enterToken(ctx context.Context, stdin bool) (string, error) {
	text, err := a.secretLine(ctx, stdin, secretQuestion{
		variable: envToken, message: "The owner token of that server.", label: "Token", other: "Give it with --token-stdin, or set " + envToken + "_FILE.",
	})
	if err != nil {
		return "", err
	}
	if text == "" || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", usage("that is not a token", "Copy it whole; it begins with pdpp_ot_.")
	}
	return text, nil
}

// secretQuestion is a secret that comes from standard input, a variable, or the owner.
type secretQuestion struct{ variable, message, label, other string }

// secretLine reads a secret from where the owner wants to give it.
func (a *app) secretLine(ctx context.Context, stdin bool, q secretQuestion) (string, error) {
	if stdin {
		b, err := io.ReadAll(io.LimitReader(a.env.Stdin, maxValueFile))
		if err != nil {
			return "", err
		}
		return strings.TrimRight(string(b), "\r\n"), nil
	}
	if text, _, err := a.variable(q.variable); err != nil || text != "" {
		return text, err
	}
	answers, err := a.askOwner(ctx, q.message, "(Ctrl-D to leave)", []api.QuestionField{{Name: "secret", Label: q.label, Required: true, Secret: true}}, q.other)
	if errors.Is(err, io.EOF) {
		return "", errUnchanged
	}
	if err != nil {
		return "", err
	}
	return answers["secret"], nil
}

func (a *app) logoutCommand() *cobra.Command {
	return &cobra.Command{
		Use: "logout", Short: "Forget the server that pdpp login kept", Args: noArgs,
		Long:    "Deletes the kept token from this machine. It stays valid: end it with pdpp tokens revoke, or in the console.",
		Example: "  pdpp logout",
		RunE: func(*cobra.Command, []string) error {
			path, err := a.remotePath()
			if err != nil {
				return err
			}
			err = os.Remove(path)
			switch {
			case errors.Is(err, os.ErrNotExist):
				return notFound("nobody is signed in here", "Sign in: pdpp login URL")
			case err != nil:
				return cannotKeep(err)
			}
			if a.json {
				writeJSON(a.out, map[string]any{"signed_out": true})
				return nil
			}
			printf(a.out, "Signed out. The token itself is still valid; end it in the console under Settings.\n")
			return nil
		},
	}
}

// owner is the client of a remote server.
func (r remote) owner() api.Owner { return &api.Client{Base: r.URL, Token: r.Token} }
