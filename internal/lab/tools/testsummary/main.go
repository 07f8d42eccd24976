// Testsummary reads the output of go test -json on standard input and prints
// what a person wants to know: one line per package as it finishes, then every
// failure with its output, and last the totals as "N passed, N failed, N skipped".
//
// It ends non-zero when anything failed or when there were no results at all.
package main

import (
	"fmt"
	"os"
)

func main() {
	s, err := read(os.Stdin, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testsummary: read test results:", err)
		os.Exit(1)
	}
	if !s.report(os.Stdout) {
		os.Exit(1)
	}
}
