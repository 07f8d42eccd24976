package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/device/collector"
	"github.com/pdpp-go/pdpp/internal/ops/usererr"
)

// Exit codes. They are stable: scripts may rely on them.
const (
	exitOK        = 0
	exitFailed    = 1  // the pass did not do all that it should
	exitUnhealthy = 2  // doctor found something
	exitUsage     = 64 // the command line, the profile or the environment is wrong; nothing was touched
)

const programText = `Collects from a source whose data lives on this host, and uploads it to your
server. What was collected waits in a queue on this host until the server has it.

  pdpp-local-collector setup --base-url URL --code CODE     connect this computer
  pdpp-local-collector profiles                             the sources set up here
  pdpp-local-collector run --source-instance-id ID          collect and upload once
  pdpp-local-collector status --source-instance-id ID       what waits in the queue
  pdpp-local-collector doctor --source-instance-id ID       what is wrong, and what to do
  pdpp-local-collector recover --source-instance-id ID      what a recovery would do
  pdpp-local-collector recover --source-instance-id ID --apply
  pdpp-local-collector service install                      collect by itself
  pdpp-local-collector logout --source-instance-id ID       end this device

Exit codes: 0 it worked, 1 it failed, 2 doctor found something, 64 the command
line, the profile or the environment is wrong and nothing was touched.`

// program is one execution of a command.
type program struct {
	world
	json    bool
	source  string
	started bool // arguments are accepted; an error before that is one of usage
}

// exitOnly ends the program with a code and without a further message.
type exitOnly struct{ code int }

func (e exitOnly) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// execute runs one command and returns the exit code.
func execute(ctx context.Context, w world) int {
	p := &program{world: w}
	root := p.rootCommand()
	root.SetArgs(w.args)
	err := root.ExecuteContext(ctx)
	var done exitOnly
	var mistake *usererr.Error
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &done):
		return done.code
	case errors.As(err, &mistake):
		p.explain(mistake.Code, mistake.Message, mistake.Next)
		return exitUsage
	case !p.started:
		p.json = p.json || slices.Contains(w.args, "--json") // the parser may have stopped before it
		p.explain("usage", err.Error(), "See how it is used: pdpp-local-collector help")
		return exitUsage
	case errors.Is(err, catalog.ErrUnknownConnector):
		p.explain("unknown_connector", err.Error(),
			"Install the connector on this host, or correct PDPP_CONNECTOR_ID in the profile.")
	default:
		p.explain("failed", err.Error(), "Look at what is wrong: pdpp-local-collector doctor --source-instance-id "+p.source)
	}
	return exitFailed
}

// explain prints an error the way the owner, or their script, reads it.
func (p *program) explain(code, message, next string) {
	if p.json {
		detail := map[string]string{"code": code, "message": message}
		if next != "" {
			detail["next_step"] = next
		}
		printJSON(p.stderr, map[string]any{"error": detail})
		return
	}
	printf(p.stderr, "pdpp-local-collector: %s\n", message)
	if next != "" {
		printf(p.stderr, "next: %s\n", next)
	}
}

func (p *program) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use: "pdpp-local-collector", Short: "Collect from this host and upload", Long: programText,
		SilenceErrors: true, SilenceUsage: true, CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	root.SetHelpCommand(helpCommand())
	root.PersistentFlags().BoolVar(&p.json, "json", false, "print JSON")
	root.AddCommand(p.runCommand(), p.recoverCommand(), p.statusCommand(), p.doctorCommand(), p.profilesCommand(),
		p.setupCommand(), p.logoutCommand(), p.serviceCommand())
	return root
}

// helpCommand is cobra's, with an unknown topic as an error of usage.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "help [command]", Short: "Help about a command",
		RunE: func(c *cobra.Command, args []string) error {
			found, rest, err := c.Root().Find(args)
			if err != nil || found == nil || len(rest) > 0 {
				return fmt.Errorf("there is no help topic %q", args[len(args)-1])
			}
			found.InitDefaultHelpFlag()
			return found.Help()
		},
	}
}

// command makes a command without arguments.
func (p *program) command(use, short string, do func(ctx context.Context) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		p.started = true
		return do(cmd.Context())
	}}
}

// sourceCommand makes a command for one source instance.
func (p *program) sourceCommand(use, short string,
	do func(ctx context.Context, c *collector.Collector) error) *cobra.Command {
	cmd := p.command(use, short, func(ctx context.Context) error {
		c, err := p.collector()
		if err != nil {
			return err
		}
		return do(ctx, c)
	})
	cmd.Flags().StringVar(&p.source, "source-instance-id", "", "the source instance, as the server names it")
	if err := cmd.MarkFlagRequired("source-instance-id"); err != nil {
		panic(err) // the flag is defined one line above
	}
	return cmd
}

func printf(w io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(w, format, args...) }

// printJSON writes one value of this program's own on one line.
func printJSON(w io.Writer, v any) {
	body, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		body = []byte(`{"error":{"code":"failed","message":"the answer cannot be written as JSON"}}`)
	}
	_, _ = w.Write(append(body, '\n'))
}
