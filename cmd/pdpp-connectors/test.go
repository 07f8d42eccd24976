package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/conformance"
	"github.com/pdpp-go/pdpp/declarative"
	"github.com/pdpp-go/pdpp/declarative/describe"
	"github.com/pdpp-go/pdpp/declarative/tryout"
	"github.com/pdpp-go/pdpp/manifest/folder"
)

func newTest() *cobra.Command {
	var asJSON, generated, badge bool
	var page string
	target := conformance.Target{Lookup: os.LookupEnv}
	cmd := &cobra.Command{
		Use:   "test DIR",
		Short: "Try a connector's folder out: first run, resume, kill, scope, and the other rules",
		Long: "Try a connector's folder out.\n\nThe folder holds manifest.json and an executable named connector. The " +
			"executable is\n" +
			"started about twenty times, as a runner starts it: in an empty folder, with the\n" +
			"variables that its manifest declares and that are set here. " +
			"Set those that lead to an\naccount with something in it; nothing is stored, and what is collected is forgotten.\n" +
			"\n" +
			"Every fault is printed with its fix. Exit codes: 0 every check passed or does not\n" +
			"apply, 1 a check failed, 2 usage, 3 nothing failed but something could not be tried.",
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
			if generated {
				stop, err := useGenerated(&target, dir)
				if err != nil {
					return &wrongError{text: args[0] + " cannot be tested with a generated provider: " + err.Error()}
				}
				defer stop()
			}
			report, err := conformance.Run(cmd.Context(), target)
			if err != nil {
				return &wrongError{text: err.Error()}
			}
			if page != "" {
				if err := writeReportPage(page, report); err != nil {
					return err
				}
			}
			switch {
			case badge:
				_, err = fmt.Fprintln(cmd.OutOrStdout(), report.Badge())
			case asJSON:
				enc := json.NewEncoder(cmd.OutOrStdout())
				enc.SetIndent("", "  ")
				err = enc.Encode(report)
			default:
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
	cmd.Flags().BoolVar(&asJSON, "json", false,
		"print JSON: connector, version, runs, seconds, and checks with id, name, result, why and faults")
	cmd.Flags().BoolVar(&badge, "badge", false, "print the result in one line of Markdown, for the connector's page")
	cmd.Flags().StringVar(&page, "html", "", "also write the report to this file, as a page to publish")
	cmd.MarkFlagsMutuallyExclusive("json", "badge")
	cmd.Flags().BoolVar(&generated, "generated", false,
		"for the folder of a source file: use an invented account at a provider that is generated from the file")
	cmd.Flags().StringToStringVar(&target.Answers, "answer", nil,
		"answer the connector's questions, as FIELD=VALUE; without it every question is cancelled")
	cmd.Flags().DurationVar(&target.Patience, "patience", time.Minute, "how long the connector may be silent")
	return cmd
}

// writeReportPage writes a report to a file as a page.
func writeReportPage(path string, report conformance.Report) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(report.WriteHTML(f), f.Close())
}

// useGenerated leads the connector of a source file to a generated provider.
func useGenerated(target *conformance.Target, dir string) (stop func(), err error) {
	if !declarative.IsDeclared(dir) {
		return nil, errors.New("the folder is not that of a source file")
	}
	text, err := readSourceFile(filepath.Join(dir, declarative.SourceFile))
	if err != nil {
		return nil, err
	}
	key := target.Manifest.Key()
	d, err := declarative.DescribeFile(text, describe.Options{Key: key})
	if err != nil {
		return nil, err
	}
	account, err := tryout.NewAccount(d, tryout.Options{Key: key, Seed: 1})
	if err != nil {
		return nil, err
	}
	target.Lookup = func(name string) (string, bool) {
		value, ok := account.Env[name]
		return value, ok
	}
	return account.Close, nil
}
