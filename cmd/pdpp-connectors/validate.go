package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/connectors"
	"github.com/pdpp-go/pdpp/declarative"
	"github.com/pdpp-go/pdpp/foreign"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/manifest/folder"
)

func newValidate() *cobra.Command {
	var asJSON bool
	var name, since string
	cmd := &cobra.Command{
		Use:   "validate DIR|FILE",
		Short: "Check a foreign connector's folder, or show what a source file would do",
		Long: "Check a foreign connector's folder.\n\nThe folder holds manifest.json and an executable named connector. " +
			"Every fault is\n" +
			"printed with its place and how to fix it, and what has no effect as a warning. Exit\n" +
			"code 1 means that there are faults.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if asJSON {
				return reviewFile(cmd.InOrStdin(), cmd.OutOrStdout(), args[0], name, since)
			}
			if info, err := os.Stat(args[0]); err == nil && info.Mode().IsRegular() {
				return validateFile(cmd.OutOrStdout(), args[0])
			}
			return validate(cmd.OutOrStdout(), args[0])
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "what a source file would do, as JSON; FILE may be - for standard input")
	cmd.Flags().StringVar(&name, "name", "", "with --json: the name of the connector (default: that of the file)")
	cmd.Flags().StringVar(&since, "since", "", "with --json: the folder of the source as it was added")
	return cmd
}

// validate prints every fault of the folder and every warning, one per line.
func validate(w io.Writer, dir string) error {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fmt.Errorf("%s is not a folder", dir)
	}
	f, err := folder.Read(dir)
	var faults manifest.Problems
	if err != nil && !errors.As(err, &faults) {
		return err
	}
	if f.Adapted && len(faults) == 0 {
		_, _, err := foreign.Load(dir)
		if declarative.IsDeclared(dir) {
			_, err = declarative.Load(dir)
		}
		if err != nil {
			faults = append(faults, manifest.Problem{Path: folder.Adapter, What: err.Error(),
				Fix: "wrap the program again: pdpp-connectors wrap"})
		}
	}
	for _, p := range faults {
		fmt.Fprintln(w, p)
	}
	if f.Manifest != nil {
		if _, builtin := connectors.FindEntry(f.Manifest.Key()); builtin {
			f.Warnings = append(f.Warnings, folder.BesideProblem(f.Manifest.Key()))
		}
	}
	for _, p := range f.Warnings {
		fmt.Fprintln(w, "warning:", p)
	}
	switch len(faults) {
	case 0:
		fmt.Fprintf(w, "%s %s: %d streams, ready to run\n", f.Manifest.Key(), f.Manifest.Version, len(f.Manifest.Streams))
		return nil
	case 1:
		return &wrongError{text: dir + " has 1 problem"}
	default:
		return &wrongError{text: fmt.Sprintf("%s has %d problems", dir, len(faults))}
	}
}
