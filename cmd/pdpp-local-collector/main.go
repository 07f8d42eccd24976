// Command pdpp-local-collector collects data from sources on this host and uploads it to the owner's
// server.
//
//	pdpp-local-collector setup --base-url URL --code CODE
//	pdpp-local-collector run --source-instance-id ID
//	pdpp-local-collector recover --source-instance-id ID [--apply]
//	pdpp-local-collector help
package main

import (
	"context"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/pdpp-go/pdpp/foreign/confine"
)

// memoryLimit is what the program keeps its own memory below, so that with the pages of its file
// it stays within 64 MiB; a connector is a process of its own.
const memoryLimit = 32 << 20

func main() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop) // the first signal ends the pass, a second one the program
	os.Exit(execute(ctx, environment()))
}

// world is everything that the commands take from the process.
type world struct {
	args       []string
	stdin      io.Reader
	stdout     io.Writer
	stderr     io.Writer
	lookup     func(name string) (string, bool)
	lookPath   func(name string) (string, error)
	executable string
}

func environment() world {
	// The device's token is among the variables, and connectors run as the same user.
	_ = confine.Hide()
	executable, err := os.Executable()
	if err != nil {
		executable = os.Args[0]
	}
	return world{args: os.Args[1:], stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		lookup: os.LookupEnv, lookPath: exec.LookPath, executable: executable}
}
