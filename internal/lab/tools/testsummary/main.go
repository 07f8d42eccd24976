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
	kept := io.Discard
	if keep != "" {
		file, err := os.Create(keep)
		if err != nil {
			return false, err
		}
		defer file.Close()
		kept = file
	}
	s := newSummary()
	take := func(from int, line []byte) error {
		s.take(from, line, os.Stdout)
		_, err := kept.Write(line)
		return err
	}
	if len(files) == 0 {
		err = eachLine(os.Stdin, func(line []byte) error { return take(0, line) })
	} else {
		err = merge(files, take)
	}
	if err != nil {
		return false, err
	}
	return s.report(os.Stdout), nil
}
