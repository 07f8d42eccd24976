// Testsummary reads the output of go test -json and prints what a person wants to know:
// one line per package as it finishes, with its failures, then every failure with its
// output once more, and last the totals as "N passed, N failed, N skipped".
//
//	testsummary [-keep FILE] [FILE...]
//
// It reads standard input, or all files at the same time, each of which may be a pipe of a
// go test that is running; -keep writes everything that was read into one file.
//
// It ends when its input does: the signal that ends the tests leaves it to tell what
// they said. It ends non-zero when anything failed or when there were no results at all.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	keep := flag.String("keep", "", "write everything that was read into this file")
	flag.Parse()
	ok, err := run(*keep, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "testsummary: read test results:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

func run(keep string, files []string) (ok bool, err error) {
	var in io.Reader = os.Stdin
	if len(files) > 0 {
		in = merge(files)
	}
	if keep != "" {
		kept, err := os.Create(keep)
		if err != nil {
			return false, err
		}
		defer kept.Close()
		in = io.TeeReader(in, kept)
	}
	s, err := read(in, os.Stdout)
	if err != nil {
		return false, err
	}
	return s.report(os.Stdout), nil
}
