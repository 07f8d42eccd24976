package daemon

import (
	"context"
	"errors"
	"os/exec"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/owner/service/devices"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

const openHelp = `Opens a page of the console in your browser: Today, or a page like timeline, people or
sources. It needs a server that runs (pdpp serve), here or where you are signed in (pdpp login).`

// NewOpenCommand returns the command pdpp open.
func NewOpenCommand(inv *command.Invocation) *cobra.Command {
	only := false
	cmd := &cobra.Command{
		Use: "open [PAGE]", Short: "Open the console in a browser", Long: openHelp, Args: cobra.MaximumNArgs(1),
		Example: "  pdpp open\n  pdpp open people\n  pdpp open --print",
		RunE: func(cmd *cobra.Command, args []string) error {
			base, err := consoleAddress(cmd, inv)
			if err != nil {
				return err
			}
			address := strings.TrimRight(base, "/") + "/"
			if len(args) > 0 {
				address += strings.TrimLeft(args[0], "/")
			}
			if !only && !inv.JSON {
				if err := openBrowser(cmd.Context(), address); err != nil {
					output.Printf(inv.ErrOut, "No browser could be started here. Open the address yourself:\n")
				}
			}
			return inv.PrintResult(map[string]any{"address": address}, "%s\n", address)
		},
	}
	cmd.Flags().BoolVar(&only, "print", false, "print the address without opening it")
	return cmd
}

// consoleAddress returns the address of the server that a command asks, or of the one that last ran on this machine.
func consoleAddress(cmd *cobra.Command, inv *command.Invocation) (address string, err error) {
	remote, err := inv.RemoteServer()
	if err != nil || remote != nil {
		if remote != nil {
			address = remote.URL
		}
		return address, err
	}
	err = inv.WithStore(func(ctx context.Context, st store.Store, _ []string) error {
		kept, err := st.Setting(ctx, devices.AddressSetting)
		if errors.Is(err, store.ErrNotFound) {
			return &failure.Error{Code: "no_server", Exit: failure.ExitNotFound,
				Message: "no server has run here yet", Next: "Start one: pdpp serve"}
		}
		address = string(kept)
		return err
	})(cmd, nil)
	return address, err
}

// openBrowser starts the browser of this system and does not wait for it.
func openBrowser(ctx context.Context, address string) error {
	var start *exec.Cmd
	ctx = context.WithoutCancel(ctx) // the browser outlives this command
	switch runtime.GOOS {
	case "darwin":
		start = exec.CommandContext(ctx, "open", address)
	case "windows":
		start = exec.CommandContext(ctx, "rundll32", "url.dll,FileProtocolHandler", address)
	default:
		start = exec.CommandContext(ctx, "xdg-open", address)
	}
	return start.Start()
}
