// Package assistants has the command that answers assistants.
package assistants

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/serve"
	"github.com/pdpp-go/pdpp/internal/web/auth"
)

const mcpHelp = `Answers an assistant on standard input and output, in the Model Context Protocol.
The assistant starts this command itself: "pdpp mcp setup" prints the settings for it.

Without a token the assistant reads everything on this machine. To let it read only a
part, make a grant (pdpp grants create) and set PDPP_TOKEN to its token. With a login
or PDPP_SERVER it reads from that server.

It can only read. With --operate it may also start runs, try gaps again and explain
states. A server answers assistants at its address with /mcp, too.`

const mcpExamples = `  pdpp mcp setup claude-code       the settings for one assistant
  pdpp mcp                         answer; an assistant runs this
  PDPP_TOKEN=... pdpp mcp          answer only what a grant allows`

// NewMCPCommand returns the command pdpp mcp.
func NewMCPCommand(inv *command.Invocation) *cobra.Command {
	var operate bool
	cmd := &cobra.Command{
		Use: "mcp", Short: "Let an assistant read your data", Long: mcpHelp, Example: mcpExamples, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return answerAssistant(cmd.Context(), inv, operate) },
	}
	cmd.Flags().BoolVar(&operate, "operate", false, "also let it start runs and try gaps again")
	cmd.AddCommand(newSetupCommand(inv))
	return cmd
}

// answerAssistant answers from the configured server, or from the database of this machine.
func answerAssistant(ctx context.Context, inv *command.Invocation, operate bool) error {
	token, _, err := inv.Variable(command.EnvToken)
	if err != nil {
		return err
	}
	a := serve.Assistant{In: io.NopCloser(inv.Env.Stdin), Out: keptOpen{inv.Out}, Token: strings.TrimSpace(token),
		HTTP: http.DefaultTransport, Operate: operate, Version: command.ReadBuildInfo().Version, Now: inv.Env.Now,
		Log: slog.New(slog.NewTextHandler(inv.ErrOut, nil))}
	remote, err := inv.RemoteServer()
	if err != nil {
		return err
	}
	if remote != nil {
		a.Address, a.Token, a.Facts = remote.URL, remote.Token, remote.Owner()
		return asUsage(serve.AnswerAssistant(ctx, a))
	}
	st, err := inv.OpenStore(ctx, command.MustExist)
	if err != nil {
		return err
	}
	owner, err := inv.LocalOwner(st)
	if err != nil {
		return errors.Join(err, st.Close())
	}
	files, err := inv.Blobs()
	if err != nil {
		return errors.Join(err, st.Close())
	}
	a.Store, a.Facts, a.Blobs, a.Audit = st, owner, files.Place, inv.LocalTrail(st)
	a.Auth = auth.New(auth.Config{Store: st, Now: inv.Env.Now})
	return errors.Join(asUsage(serve.AnswerAssistant(ctx, a)), st.Close())
}

// asUsage returns an error about the arguments as one.
func asUsage(err error) error {
	if errors.Is(err, serve.ErrOperateNeedsOwner) {
		return failure.UsageError(err.Error(), "Leave --operate out. On this machine, leave PDPP_TOKEN out instead.")
	}
	return err
}

// keptOpen is a writer that the protocol does not close.
type keptOpen struct{ io.Writer }

func (keptOpen) Close() error { return nil }
