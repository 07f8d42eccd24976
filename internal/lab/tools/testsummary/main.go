// Testsummary reads the output of go test -json on standard input and prints
// what a person wants to know: one line per package as it finishes, with its
// failures, then every failure with its output once more, and last the totals as
// "N passed, N failed, N skipped".
//
// It ends when its input does: the signal that ends the tests leaves it to tell what
// they said. It ends non-zero when anything failed or when there were no results at all.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	s, err := read(os.Stdin, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testsummary: read test results:", err)
		os.Exit(1)
	}
	if !s.report(os.Stdout) {
		os.Exit(1)
	}
}
