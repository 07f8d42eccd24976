// Command pdpp-connectors hosts the built-in connectors. The runner starts it
// as a child process, exactly as it starts a foreign connector:
//
//	pdpp-connectors run example
//
// While a connector runs, stdout carries the protocol and nothing else.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

// Exit codes. A running connector has its own, see connectorkit.
const (
	exitWrong = 1 // what was asked for exists, but is not right
	exitUsage = 2 // the command line cannot be understood

	exitNotTried = 3 // nothing is wrong, but something could not be tried
)

func main() {
	root := newRoot()
	cmd, err := root.ExecuteC()
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, err)
	var wrong *wrongError
	if errors.As(err, &wrong) {
		os.Exit(max(wrong.exit, exitWrong))
	}
	fmt.Fprintf(os.Stderr, "see: %s --help\n", cmd.CommandPath())
	os.Exit(exitUsage)
}

// wrongError is an answer, not a mistake in asking.
type wrongError struct {
	text string
	exit int // zero means exitWrong
}

func (e *wrongError) Error() string { return e.text }

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "pdpp-connectors",
		Short: "Host of the built-in PDPP connectors",
		Long: "Host of the built-in PDPP connectors.\n\nEach connector collects a person's own data from one " +
			"source. The runner starts\none with \"run\"; the other commands are for people.\n\n" +
			"Exit codes: 0 success, 1 something is wrong with what was named, 2 usage.\n" +
			"A running connector exits 0 if and only if its run succeeded.",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(newRun(), newList(), newManifest(), newValidate(), newTest(), newTry(), newWrap(), newAdapt(),
		newConfined(), newSelfTest())
	return root
}
