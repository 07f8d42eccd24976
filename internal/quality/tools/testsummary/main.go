// Command testsummary reads the output of go test -json and prints a summary. It prints one
// line per package as it finishes, with its failures. At the end it prints every failure with
// its output again, and the totals as "N passed, N failed, N skipped".
//
//	testsummary [-keep FILE] [FILE...]
//
// It reads standard input, or all files at the same time. A file may be a pipe from a running
// go test. The option -keep writes the whole input into one file.
//
// It exits at the end of its input. A signal that ends the tests does not stop it, so that it
// can print their output. It exits non-zero if anything failed or if there were no results.
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
