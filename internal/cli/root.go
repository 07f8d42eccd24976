package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/access"
	"github.com/pdpp-go/pdpp/internal/cli/assistants"
	"github.com/pdpp-go/pdpp/internal/cli/bookmarks"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/connections"
	"github.com/pdpp-go/pdpp/internal/cli/connectors"
	"github.com/pdpp-go/pdpp/internal/cli/daemon"
	"github.com/pdpp-go/pdpp/internal/cli/devices"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/gaps"
	"github.com/pdpp-go/pdpp/internal/cli/imports"
	"github.com/pdpp-go/pdpp/internal/cli/maintenance"
	"github.com/pdpp-go/pdpp/internal/cli/notifications"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/cli/questions"
	"github.com/pdpp-go/pdpp/internal/cli/rate"
	"github.com/pdpp-go/pdpp/internal/cli/records"
	"github.com/pdpp-go/pdpp/internal/cli/runs"
	"github.com/pdpp-go/pdpp/internal/cli/schedule"
	"github.com/pdpp-go/pdpp/internal/cli/sharing"
	"github.com/pdpp-go/pdpp/internal/cli/status"
)

const rootHelp = `PDPP collects your own data from the services that hold it, keeps it on your
machine, and reports honestly what is missing.

Data is kept in PDPP_HOME (default ~/.pdpp), or in the PostgreSQL database that
PDPP_DATABASE_URL names. Variables also have a _FILE form that names a file.`

// firstPage is what pdpp prints without a command.
const firstPage = `PDPP collects your own data, keeps it on your machine, and reports what is missing.

  Begin       pdpp demo                try it with invented data
              pdpp connectors          see which sources there are
              pdpp connect SOURCE      connect one
              pdpp serve               collect, and open the console

  Every day   pdpp status              how your sources are, and what needs you
              pdpp search WORDS        find something
              pdpp overview            how much is here, how far back, what is missing

  When it     pdpp why SOURCE          why a source is in its state
  is stuck    pdpp gaps                what is missing, and why
              pdpp doctor              check this installation

  Your data   pdpp records STREAM      look at it
              pdpp export              write it to a file
              pdpp grants              who may read a part of it
              pdpp backup FILE         everything in one encrypted file

pdpp help lists every command, pdpp COMMAND --help explains one.
`

// commandGroups are the groups of pdpp help, with their commands. A command in no group is listed last.
var commandGroups = []struct{ id, title, commands string }{
	{"state", "State of your sources:", "status why attention answer gaps overview storage doctor"},
	{"data", "Your data:", "day people streams records record search searches semantic changes aggregate " +
		"occurrences file thumbnail export sql mirror delete deletions"},
	{"sources", "Sources:", "connect connections connectors credential select rename revoke import imports devices"},
	{"collecting", "Collecting:", "serve run runs cancel schedule triggers limits rate state workers"},
	{"sharing", "Sharing and access:", "grants webhooks mcp audit tokens password passkeys recovery-codes sessions " +
		"login logout"},
	{"installation", "This installation:", "demo open service archive verify backup restore move upgrade notify support"},
}

// addGroups puts the commands of a root into their groups.
func addGroups(root *cobra.Command) {
	for _, g := range commandGroups {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for name := range strings.FieldsSeq(g.commands) {
			if c, _, err := root.Find([]string{name}); err == nil {
				c.GroupID = g.id
			}
		}
	}
}

func newRootCommand(inv *command.Invocation) *cobra.Command {
	root := &cobra.Command{
		Use: "pdpp", Short: "Collect your own data and keep it", Long: rootHelp,
		SilenceErrors: true, SilenceUsage: true,
		Version: versionLine(),
		RunE: func(*cobra.Command, []string) error {
			output.Printf(inv.Out, "%s", firstPage)
			return nil
		},
	}
	root.SetOut(inv.Out)
	root.SetErr(inv.ErrOut)
	root.SetVersionTemplate("pdpp {{.Version}}\n")
	root.SetHelpCommand(helpCommand())
	flags := root.PersistentFlags()
	flags.StringVar(&inv.HomeFlag, "home", "", "folder that holds the data (PDPP_HOME, default ~/.pdpp)")
	flags.StringVar(&inv.DatabaseURL, "database-url", "",
		"PostgreSQL to use instead (PDPP_DATABASE_URL; a password is safer there)")
	flags.StringVar(&inv.ServerURL, "server", "",
		"server to ask instead (PDPP_SERVER with PDPP_TOKEN; \"local\" leaves a login aside)")
	flags.BoolVar(&inv.JSON, "json", false, "print JSON")
	root.AddCommand(
		access.NewLoginCommand(inv), access.NewLogoutCommand(inv), connections.NewConnectCommand(inv),
		connections.NewRenameCommand(inv), connections.NewSelectCommand(inv), connections.NewRevokeCommand(inv),
		maintenance.NewDeleteCommand(inv), maintenance.NewDeletionsCommand(inv),
		records.NewDayCommand(inv), records.NewPeopleCommand(inv), daemon.NewOpenCommand(inv),
		records.NewSemanticCommand(inv),
		records.NewSearchCommand(inv), records.NewSearchesCommand(inv), records.NewAggregateCommand(inv),
		sharing.NewGrantsCommand(inv), sharing.NewWebhooksCommand(inv), sharing.NewTriggersCommand(inv),
		assistants.NewMCPCommand(inv),
		access.NewTokensCommand(inv),
		access.NewSessionsCommand(inv), access.NewPasskeysCommand(inv),
		access.NewRecoveryCodesCommand(inv), access.NewPasswordCommand(inv),
		access.NewAuditCommand(inv), maintenance.NewArchiveCommand(inv), maintenance.NewVerifyCommand(inv),
		maintenance.NewMirrorCommand(inv),
		maintenance.NewBackupCommand(inv), maintenance.NewRestoreCommand(inv),
		maintenance.NewMoveCommand(inv), maintenance.NewUpgradeCommand(inv), manCommand(inv),
		daemon.NewServeCommand(inv), daemon.NewServiceCommand(inv), daemon.NewDemoCommand(inv),
		status.NewStatusCommand(inv), status.NewWhyCommand(inv),
		status.NewSupportCommand(inv), runs.NewRunCommand(inv), runs.NewRunsCommand(inv), schedule.NewScheduleCommand(inv),
		runs.NewCancelCommand(inv), runs.NewWorkersCommand(inv), questions.NewAttentionCommand(inv),
		questions.NewAnswerCommand(inv), connections.NewCredentialCommand(inv), notifications.NewNotifyCommand(inv),
		maintenance.NewDoctorCommand(inv),
		connectors.NewConnectorsCommand(inv), connections.NewConnectionsCommand(inv), devices.NewDevicesCommand(inv),
		imports.NewImportCommand(inv),
		imports.NewReceiptsCommand(inv), rate.NewLimitsCommand(inv),
		records.NewOverviewCommand(inv), maintenance.NewStorageCommand(inv), records.NewStreamsCommand(inv),
		records.NewRecordsCommand(inv), records.NewRecordCommand(inv), records.NewOccurrencesCommand(inv),
		records.NewFileCommand(inv), records.NewChangesCommand(inv),
		records.NewThumbnailCommand(inv), gaps.NewGapsCommand(inv), bookmarks.NewStateCommand(inv), rate.NewRateCommand(inv),
		records.NewExportCommand(inv), records.NewSQLCommand(inv), versionCommand(inv),
		&cobra.Command{Use: "exit-codes", Short: "What the exit codes mean", Long: failure.ExitCodesHelp},
	)
	addGroups(root)
	markStarted(inv, root)
	addCompletions(inv, root)
	return root
}

// markStarted makes every command set inv.Started when the parser has accepted its arguments.
func markStarted(inv *command.Invocation, cmd *cobra.Command) {
	if run := cmd.RunE; run != nil {
		cmd.RunE = func(c *cobra.Command, args []string) error {
			inv.Started = true
			return run(c, args)
		}
	}
	for _, c := range cmd.Commands() {
		markStarted(inv, c)
	}
}

// helpCommand is cobra's help command, with a usage error for an unknown topic.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "help [command]", Short: "Help about a command or topic",
		RunE: func(c *cobra.Command, args []string) error {
			found, rest, err := c.Root().Find(args)
			if err != nil || found == nil || len(rest) > 0 && found.HasSubCommands() {
				return failure.UsageError(fmt.Sprintf("there is no help topic %q", args[len(args)-1]),
					"List the commands and topics: pdpp help")
			}
			found.InitDefaultHelpFlag()
			return found.Help()
		},
	}
}
