package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/keep/store"
)

const rootText = `PDPP collects your own data from the services that hold it, keeps it on your
machine, and says honestly what is missing.

  pdpp status             how your sources are doing, and what needs you
  pdpp why CONNECTION     why it says so
  pdpp connect example    connect a source, and let the server collect
  pdpp run example        collect from a source, in the foreground
  pdpp schedule           when they collect by themselves
  pdpp serve              let them, until you stop it
  pdpp attention          what you are asked to do
  pdpp doctor             what is wrong with this installation
  pdpp overview           how much is kept, how far back, and what is missing
  pdpp streams            what has been collected
  pdpp records STREAM     look at it
  pdpp search WORDS       find something in it
  pdpp aggregate STREAM   count it, or sum it up
  pdpp gaps               what is missing, and why
  pdpp export             take it elsewhere
  pdpp grants             who may read a part of it
  pdpp backup FILE        everything in one sealed file
  pdpp login URL          let these commands speak to a remote server

Data is kept in PDPP_HOME (default ~/.pdpp), or in the PostgreSQL database that
PDPP_DATABASE_URL names. Variables also have a _FILE form that names a file.`

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use: "pdpp", Short: "Collect your own data and keep it", Long: rootText,
		SilenceErrors: true, SilenceUsage: true,
		Version: versionText(),
	}
	root.SetOut(a.out)
	root.SetErr(a.errOut)
	root.SetVersionTemplate("pdpp {{.Version}}\n")
	root.SetHelpCommand(helpCommand())
	flags := root.PersistentFlags()
	flags.StringVar(&a.home, "home", "", "folder that holds the data (PDPP_HOME, default ~/.pdpp)")
	flags.StringVar(&a.databaseURL, "database-url", "", "PostgreSQL to use instead (PDPP_DATABASE_URL; a password is safer there)")
	flags.StringVar(&a.serverURL, "server", "", "server to ask instead (PDPP_SERVER with PDPP_TOKEN; \"local\" leaves a login aside)")
	flags.BoolVar(&a.json, "json", false, "print JSON")
	root.AddCommand(
		a.loginCommand(), a.logoutCommand(), a.connectCommand(), a.renameCommand(), a.selectCommand(), a.revokeCommand(),
		a.deleteCommand(), a.deletionsCommand(),
		a.searchCommand(), a.searchesCommand(), a.aggregateCommand(), a.grantsCommand(), a.tokensCommand(), a.sessionsCommand(), a.passkeysCommand(), a.recoveryCodesCommand(), a.passwordCommand(),
		a.auditCommand(), a.backupCommand(), a.restoreCommand(), a.manCommand(),
		a.serveCommand(), a.demoCommand(), a.statusCommand(), a.whyCommand(), a.supportCommand(), a.runCommand(), a.runsCommand(), a.scheduleCommand(),
		a.cancelCommand(), a.workersCommand(), a.attentionCommand(), a.answerCommand(), a.credentialCommand(), a.notifyCommand(), a.doctorCommand(),
		a.connectorsCommand(), a.connectionsCommand(), a.devicesCommand(), a.importCommand(), a.importsCommand(), a.limitsCommand(),
		a.overviewCommand(), a.storageCommand(), a.streamsCommand(), a.recordsCommand(), a.recordCommand(), a.occurrencesCommand(), a.fileCommand(), a.changesCommand(),
		a.thumbnailCommand(), a.gapsCommand(), a.stateCommand(), a.rateCommand(), a.exportCommand(), a.versionCommand(),
		&cobra.Command{Use: "exit-codes", Short: "What the exit codes mean", Long: exitCodesText},
	)
	a.markStarted(root)
	a.addCompletions(root)
	return root
}

// markStarted notes when a command begins its own work: the parser's checks
// are over by then.
func (a *app) markStarted(cmd *cobra.Command) {
	if run := cmd.RunE; run != nil {
		cmd.RunE = func(c *cobra.Command, args []string) error {
			a.started = true
			return run(c, args)
		}
	}
	for _, c := range cmd.Commands() {
		a.markStarted(c)
	}
}

// helpCommand is cobra's, with an unknown topic as an error of usage.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "help [command]", Short: "Help about a command or topic",
		RunE: func(c *cobra.Command, args []string) error {
			found, rest, err := c.Root().Find(args)
			if err != nil || found == nil || len(rest) > 0 && found.HasSubCommands() {
				return usage(fmt.Sprintf("there is no help topic %q", args[len(args)-1]), "List the commands and topics: pdpp help")
			}
			found.InitDefaultHelpFlag()
			return found.Help()
		},
	}
}

// noArgs refuses arguments; for a command with subcommands it says so in terms of them.
func noArgs(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case cmd.HasSubCommands():
		return fmt.Errorf("unknown command %q for %q", args[0], cmd.CommandPath())
	default:
		return fmt.Errorf("unexpected argument %q", args[0])
	}
}

// args names the arguments that a command takes, all of them needed.
func needArgs(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < len(names) {
			return fmt.Errorf("%s is missing", names[len(args)])
		}
		if len(args) > len(names) {
			return fmt.Errorf("unexpected argument %q", args[len(names)])
		}
		return nil
	}
}

// connectionFlag adds --connection to a command.
func (a *app) connectionFlag(cmd *cobra.Command, what string) {
	cmd.Flags().StringVar(&a.connection, "connection", "", what)
}

// withStore makes a command that reads or changes an existing store.
func (a *app) withStore(do func(ctx context.Context, st store.Store, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) (err error) {
		if err := a.refuseServer(); err != nil {
			return err
		}
		st, err := a.openStore(cmd.Context(), mustExist)
		if err != nil {
			return err
		}
		defer func() {
			if closeErr := st.Close(); err == nil && closeErr != nil {
				err = fmt.Errorf("close the database: %w", closeErr)
			}
		}()
		return do(cmd.Context(), st, args)
	}
}
