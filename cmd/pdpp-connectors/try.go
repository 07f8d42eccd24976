package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/declarative/document"
	"github.com/pdpp-go/pdpp/declarative/tryout"
	"github.com/pdpp-go/pdpp/manifest"
)

func newTry() *cobra.Command {
	var asJSON, keep bool
	o := tryout.Options{}
	cmd := &cobra.Command{
		Use:   "try FILE",
		Short: "Run a source file against a provider that is generated from it",
		Long: "Run a source file against a provider that is generated from it.\n\nThe provider listens on this machine " +
			"only. It has invented records for every stream\nand answers with the pages, parents and times that the file " +
			"expects. Each stream is\nrun twice, and what arrives is compared with what the provider has. Nothing is sent\n" +
			"elsewhere and nothing is stored.\n\n" +
			"Exit codes: 0 every record arrived as it must, 1 something differs or the file\ncannot be used, 2 usage.",
		Example: "  pdpp-connectors try mysource.yaml",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := readSourceFile(args[0])
			if err != nil {
				return err
			}
			self, err := os.Executable()
			if err != nil {
				return err
			}
			if o.Dir, err = os.MkdirTemp("", "pdpp-try-"); err != nil {
				return err
			}
			if keep {
				fmt.Fprintln(cmd.ErrOrStderr(), "kept:", o.Dir)
			} else {
				defer os.RemoveAll(o.Dir)
			}
			name := strings.TrimSuffix(filepath.Base(args[0]), filepath.Ext(args[0]))
			o.Key = manifest.CanonicalKey(strings.ToLower(name))
			o.Command = func(dir string) []string { return []string{self, "adapt", dir} }
			o.Progress = func(text string) { fmt.Fprintln(cmd.ErrOrStderr(), "try: "+text) }
			report, err := tryout.Run(cmd.Context(), text, o)
			var problems document.Problems
			if errors.As(err, &problems) || err != nil && report == nil {
				return &wrongError{text: fmt.Sprintf("%s cannot be tried: %v\nnext: pdpp-connectors validate %s", args[0], err,
					args[0])}
			}
			if asJSON {
				enc := json.NewEncoder(cmd.OutOrStdout())
				enc.SetIndent("", "  ")
				err = enc.Encode(report)
			} else {
				err = report.Print(cmd.OutOrStdout())
			}
			if err == nil && !report.OK() {
				err = &wrongError{text: fmt.Sprintf("%s: %d problems", args[0], len(report.Problems))}
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false,
		"print JSON: source, streams with counts, not_collected with reasons, and problems with what to do next")
	cmd.Flags().BoolVar(&keep, "keep", false, "keep the connector's folder and print where it is")
	cmd.Flags().Uint64Var(&o.Seed, "seed", 1, "choose another invented account")
	cmd.Flags().DurationVar(&o.Patience, "patience", time.Minute, "how long the connector may be silent")
	return cmd
}
