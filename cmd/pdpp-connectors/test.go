package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/conformance"
	"github.com/pdpp-go/pdpp/manifest/folder"
)

func newTest() *cobra.Command {
	var asJSON bool
	target := conformance.Target{Lookup: os.LookupEnv}
	cmd := &cobra.Command{
		Use:   "test DIR",
		Short: "Try a connector's folder out: first run, resume, kill, scope, and the other rules",
		Long: "Try a connector's folder out.\n\nThe folder holds manifest.json and an executable named connector. The executable is\n" +
			"started about twenty times, as a runner starts it: in an empty folder, with the\nvariables that its manifest declares and that are set here. " +
			"Set those that lead to an\naccount with something in it; nothing is stored, and what is collected is forgotten.\n\n" +
			"Every fault is printed with its fix. Exit codes: 0 every check passed or does not\napply, 1 a check failed, 2 usage, 3 nothing failed but something could not be tried.",
		Example: "  LANTERNMAIL_TOKEN=... pdpp-connectors test ./lanternmail",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			if info, err := os.Stat(dir); err != nil || !info.IsDir() {
				return fmt.Errorf("%s is not a folder", args[0])
			}
			f, err := folder.Read(dir)
			if err != nil {
				return &wrongError{text: args[0] + " cannot be tried, it has faults: see pdpp-connectors validate " + args[0]}
			}
			target.Manifest, target.Command = f.Manifest, f.Command()
			if f.Adapted {
				self, err := os.Executable()
				if err != nil {
					return err
				}
				target.Command = []string{self, "adapt", dir}
			}
			report, err := conformance.Run(cmd.Context(), target)
			if err != nil {
				return &wrongError{text: err.Error()}
			}
			if asJSON {
				enc := json.NewEncoder(cmd.OutOrStdout())
				enc.SetIndent("", "  ")
				err = enc.Encode(report)
			} else {
				err = report.Print(cmd.OutOrStdout())
			}
			switch {
			case err != nil:
				return err
			case report.Result() == conformance.Failed:
				return &wrongError{text: args[0] + " breaks rules of the protocol"}
			case report.Result() == conformance.NotTried:
				return &wrongError{text: args[0] + " could not be tried in full", exit: exitNotTried}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON: connector, version, runs, seconds, and checks with name, result, why and faults")
	cmd.Flags().StringToStringVar(&target.Answers, "answer", nil, "answer the connector's questions, as FIELD=VALUE; without it every question is cancelled")
	cmd.Flags().DurationVar(&target.Patience, "patience", time.Minute, "how long the connector may be silent")
	return cmd
}
