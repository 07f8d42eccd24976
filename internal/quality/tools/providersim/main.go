// Command simprovider runs a simulated provider and its control port on loopback,
// for tests and demonstrations in other processes: Lumen Notebook, or GitHub.
//
//	simprovider --events 2000 --notes 300 --threads 80 --ready-file /run/user/1000/lumen.json
//	simprovider --provider github --pulls 50 --ready-file /run/user/1000/github.json
//
// Once both ports answer it prints one line of JSON with base_url, control_url,
// token and pid, and writes the same to --ready-file in one step. It stops on
// SIGTERM, SIGINT and, with --stop-on-stdin-close, when its standard input ends,
// so that it does not outlive the process that started it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "simprovider:", err)
		os.Exit(1)
	}
}

// ready is what a starting process needs to use the simulator.
type ready struct {
	BaseURL    string `json:"base_url"`
	ControlURL string `json:"control_url"`
	Token      string `json:"token"`
	PID        int    `json:"pid"`
}

// run serves until ctx ends or standard input closes.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	server, token, err := o.start()
	if err != nil {
		return err
	}
	line, err := json.Marshal(ready{server.BaseURL, server.ControlURL, token, os.Getpid()})
	if err == nil {
		err = announce(append(line, '\n'), o.readyFile, stdout)
	}
	if err != nil {
		return errors.Join(err, server.Close())
	}

	var stdinClosed chan struct{}
	if o.stopOnStdinClose {
		stdinClosed = make(chan struct{})
		// A read of standard input cannot be interrupted; the goroutine ends
		// with the process at the latest.
		go func() {
			_, _ = io.Copy(io.Discard, stdin)
			close(stdinClosed)
		}()
	}
	select {
	case <-ctx.Done():
	case <-stdinClosed:
	}
	return server.Close()
}

func announce(line []byte, readyFile string, stdout io.Writer) error {
	if readyFile != "" {
		if err := writeAtomically(readyFile, line); err != nil {
			return fmt.Errorf("write ready file: %w", err)
		}
	}
	if _, err := stdout.Write(line); err != nil {
		return fmt.Errorf("announce: %w", err)
	}
	return nil
}

// writeAtomically makes path appear with its whole content or not at all. The
// file is private to the user because it holds the token.
func writeAtomically(path string, content []byte) error {
	temp, err := os.CreateTemp(filepath.Dir(path), ".simprovider-*")
	if err != nil {
		return err
	}
	_, err = temp.Write(content)
	err = errors.Join(err, temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return nil
}
