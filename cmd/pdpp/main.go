// Command pdpp is the owner's program: it collects their data from the services
// that hold it, and shows what is there and what is missing.
//
//	pdpp run example
//	pdpp help
package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/pdpp-go/pdpp/foreign/confine"
	"github.com/pdpp-go/pdpp/internal/cli"
)

func main() { os.Exit(cli.Main(environment())) }

// environment is everything that the commands take from the process.
func environment() cli.Env {
	// Otherwise a process of the same user, such as a connector, could read the variables. pdpp doctor reports a
	// system that cannot hide them.
	_ = confine.Hide()
	collectLate()
	interrupts := make(chan os.Signal, 2)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	executable, err := os.Executable()
	if err != nil {
		executable = os.Args[0]
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return cli.Env{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Lookup: os.LookupEnv, LookPath: exec.LookPath, Executable: executable,
		Holder:     fmt.Sprintf("%s:%d", host, os.Getpid()),
		Interrupts: interrupts, Exit: os.Exit, Now: time.Now,
	}
}

// untilCollected is how much a program has on its heap, in percent of the runtime's own 4 MB, before
// garbage is first collected. Most commands are over by then, and would spend a quarter of their time
// on it.
const untilCollected = 400

// collectLate holds the first collection back. From then on the heap grows as it always does; an owner
// who has set GOGC has decided otherwise.
func collectLate() {
	if os.Getenv("GOGC") != "" {
		return
	}
	usual := debug.SetGCPercent(untilCollected)
	runtime.SetFinalizer(new([1 << 10]byte), func(any) { debug.SetGCPercent(usual) })
}
