package main

import (
	"fmt"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/connectorkit/browser"
)

func newSelfTest() *cobra.Command {
	return &cobra.Command{
		Use:   "selftest BROWSER",
		Short: "Try a browser as connectors drive it",
		Long: "Try a browser as connectors drive it.\n\nIt is started with a profile that is thrown away, loads a page of " +
			"its own and is ended.\n" +
			"No site is visited. \"pdpp doctor\" asks for it, as the user that connectors run as.",
		Example: "  pdpp-connectors selftest chromium",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			program, err := exec.LookPath(args[0])
			if err == nil {
				program, err = filepath.Abs(program)
			}
			if err != nil {
				return fmt.Errorf("there is no browser %s", args[0])
			}
			if err := browser.SelfTest(cmd.Context(), program); err != nil {
				return &wrongError{text: "the browser " + program + " does not work: " + err.Error()}
			}
			fmt.Fprintln(cmd.OutOrStdout(), "the browser works: "+program)
			return nil
		},
	}
}
