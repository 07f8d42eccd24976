package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"pdpp/foreign"
	"pdpp/manifest"
)

const (
	manifestFile   = "manifest.json"
	executableFile = "connector"
)

func newValidate() *cobra.Command {
	return &cobra.Command{
		Use:   "validate DIR",
		Short: "Check a foreign connector's folder",
		Long: "Check a foreign connector's folder.\n\nThe folder holds manifest.json and an executable named connector. Every fault is\n" +
			"printed with its place and how to mend it. Exit code 1 means that there are faults.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return validate(cmd.OutOrStdout(), args[0])
		},
	}
}

// validate prints every fault of the folder, one per line.
func validate(w io.Writer, dir string) error {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fmt.Errorf("%s is not a folder", dir)
	}
	m, problems := readManifest(filepath.Join(dir, manifestFile))
	if _, err := os.Stat(filepath.Join(dir, foreign.AdapterFile)); err == nil {
		if _, _, err := foreign.Load(dir); err != nil && len(problems) == 0 {
			problems = append(problems, err.Error())
		}
	} else {
		problems = append(problems, checkExecutable(filepath.Join(dir, executableFile))...)
	}
	for _, p := range problems {
		fmt.Fprintln(w, p)
	}
	switch len(problems) {
	case 0:
		fmt.Fprintf(w, "%s %s: %d streams, ready to run\n", m.Key(), m.Version, len(m.Streams))
		return nil
	case 1:
		return &wrongError{text: dir + " has 1 problem"}
	default:
		return &wrongError{text: fmt.Sprintf("%s has %d problems", dir, len(problems))}
	}
}

func readManifest(path string) (*manifest.Manifest, []string) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, []string{manifestFile + ": is missing; add it beside the executable"}
	}
	if err != nil {
		return nil, []string{manifestFile + ": cannot be read; make it a readable file"}
	}
	m, err := manifest.Parse(b)
	var faults manifest.Problems
	switch {
	case errors.As(err, &faults):
		lines := make([]string, len(faults))
		for i, p := range faults {
			lines[i] = manifestFile + ": " + p.String()
		}
		return nil, lines
	case err != nil:
		return nil, []string{manifestFile + ": " + err.Error() + "; write one JSON object"}
	}
	return m, nil
}

func checkExecutable(path string) []string {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return []string{executableFile + ": is missing; add the executable under this name"}
	case err != nil || !info.Mode().IsRegular():
		return []string{executableFile + ": is not a file; put the executable itself there"}
	case info.Mode().Perm()&0o111 == 0:
		return []string{executableFile + ": is not executable; run chmod +x on it"}
	}
	return nil
}
