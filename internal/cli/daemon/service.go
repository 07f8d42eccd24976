package daemon

import (
	"context"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/ops/systemservice"
)

const serviceHelp = `Lets the system start the server and keep it running: systemd on Linux, launchd on macOS,
a task at logon on Windows. Without --system it is a service of you and uses your home.

With --system (Linux, as root) it runs as the user pdpp, starts with the machine, keeps its
data in ` + systemservice.SystemHome + `, and reads variables from /etc/pdpp.conf.`

const serviceExamples = `  pdpp service install                 run now and whenever I log in
  sudo pdpp service install --system   run now and whenever the machine starts
  pdpp service logs                    with the password of the first start
  pdpp service remove                  your data stays`

// NewServiceCommand returns the command pdpp service.
func NewServiceCommand(inv *command.Invocation) *cobra.Command {
	system := false
	run := func(do func(context.Context, *command.Invocation, *systemservice.Manager) error) func(*cobra.Command,
		[]string) error {
		return func(cmd *cobra.Command, _ []string) error {
			m, err := serviceManager(inv, system)
			if err != nil {
				return err
			}
			return do(cmd.Context(), inv, m)
		}
	}
	cmd := &cobra.Command{Use: "service", Short: "Let the system keep the server running", Long: serviceHelp,
		Example: serviceExamples, Args: arguments.NoArguments, RunE: run(showService)}
	cmd.PersistentFlags().BoolVar(&system, "system", false, "a service of the whole machine, and not of you (Linux)")
	add := func(use, short string, do func(context.Context, *command.Invocation, *systemservice.Manager) error) {
		cmd.AddCommand(&cobra.Command{Use: use, Short: short, Args: arguments.NoArguments, RunE: run(do)})
	}
	add("install", "Start the server, now and later", installService)
	add("remove", "Stop the server and remove the service; your data stays", removeService)
	add("status", "Show whether the service is installed and running", showService)
	add("logs", "Show the latest log of the service", showServiceLog)
	return cmd
}

// plainVariables are passed on to the service, and so are the files that hold secrets.
var plainVariables = []string{command.EnvListen, command.EnvBaseURL, command.EnvConnectors, envMetrics, envProxies,
	envSlots, envPerProvider, envBackupFolder, envBackupEvery, envBackupKeep}

// secretVariables are never written into the description of a service, which others may read.
var secretVariables = []string{command.EnvDatabase, envPassword, command.EnvCredentialKey,
	command.EnvBackupPassphrase}

// serviceManager returns the manager of the server's service.
func serviceManager(inv *command.Invocation, system bool) (*systemservice.Manager, error) {
	if err := inv.RefuseServer(); err != nil {
		return nil, err
	}
	passedOn := plainVariables
	for _, name := range secretVariables {
		passedOn = append(passedOn[:len(passedOn):len(passedOn)], name+"_FILE")
	}
	if system {
		if inv.HomeFlag != "" {
			return nil, failure.UsageError("a service of the whole machine keeps its data in "+systemservice.SystemHome,
				"Leave --home or --system out.")
		}
		m := systemservice.Find(systemservice.Server, inv.Env.Executable, "", inv.Env.Lookup, nil)
		m.Unit.System, m.Unit.Environment = true, []string{command.EnvHome + "=" + systemservice.SystemHome}
		return m, nil
	}
	home, err := inv.HomeFolder()
	if err == nil {
		home, err = filepath.Abs(home)
	}
	if err != nil {
		return nil, err
	}
	m := systemservice.Find(systemservice.Server, inv.Env.Executable, home, inv.Env.Lookup, passedOn)
	m.Unit.Environment = append(m.Unit.Environment, command.EnvHome+"="+home)
	if m.OS == "windows" {
		m.Unit.Home = home
	}
	return m, nil
}

func installService(ctx context.Context, inv *command.Invocation, m *systemservice.Manager) error {
	for _, name := range secretVariables {
		if value, _ := inv.Env.Lookup(name); (value != "" || name == command.EnvDatabase && inv.DatabaseURL != "") &&
			!m.Unit.System {
			return failure.ConfigurationError("the service would not get "+name+", which holds a secret",
				"Write it into a file that only you can read, and set "+name+"_FILE.")
		}
	}
	message, err := m.Install(ctx)
	if err != nil {
		return err
	}
	if message != "" {
		message += "\n"
	}
	flag := ""
	if m.Unit.System {
		flag = " --system"
	}
	return inv.PrintResult(map[string]bool{"installed": true}, "The server runs as a service.\n%sNext: pdpp service "+
		"logs%s shows its address, and the password of the first start.\n", message, flag)
}

func removeService(ctx context.Context, inv *command.Invocation, m *systemservice.Manager) error {
	if err := m.Remove(ctx); err != nil {
		return err
	}
	return inv.PrintResult(map[string]bool{"installed": false}, "The service is removed. Your data stays.\n")
}

func showService(ctx context.Context, inv *command.Invocation, m *systemservice.Manager) error {
	installed, running := m.Status(ctx)
	if inv.JSON {
		output.WriteJSON(inv.Out, map[string]bool{"installed": installed, "running": running})
	} else {
		output.Printf(inv.Out, "installed  %t\nrunning    %t\n", installed, running)
	}
	if !running {
		return &failure.ExitError{Code: failure.ExitFailed}
	}
	return nil
}

func showServiceLog(ctx context.Context, inv *command.Invocation, m *systemservice.Manager) error {
	text, err := m.Logs(ctx)
	if err != nil {
		return &failure.Error{Code: "service_log_unreadable", Exit: failure.ExitFailed, Err: err,
			Message: "the log of the service cannot be read", Next: "Install it first: pdpp service install"}
	}
	output.Printf(inv.Out, "%s", text)
	return nil
}
