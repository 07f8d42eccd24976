package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pdpp-go/pdpp/internal/cli"
	"github.com/pdpp-go/pdpp/internal/quality/programs"
)

// TestMain lets the test binary play pdpp itself and a few helpers of the scripts.
func TestMain(m *testing.M) {
	testscript.Main(withConnector{m}, map[string]func(){
		"pdpp": func() {
			env := environment()
			env.SealWork = 10 // of the second that an attacker has to spend on each passphrase nothing is left
			if os.Getenv("TEST_IMPATIENT") != "" {
				env.BusyTimeout = 50 * time.Millisecond // a locked database is reported without a long wait
			}
			os.Exit(cli.Main(env))
		},
		"lockdb":   playLock,
		"confined": playConfined,
		"status":   playStatus,
		"inbox":    playInbox,
	})
}

// withConnector puts the connector of the scripts among their programs, where it is the
// host of built-in ones too.
type withConnector struct{ *testing.M }

func (m withConnector) Run() int {
	err := programs.Build(ownPrograms(os.Getenv("PATH")), "internal/quality/tools/fakeconnector")
	if err == nil {
		err = os.Symlink("fakeconnector", filepath.Join(ownPrograms(os.Getenv("PATH")), "pdpp-connectors"))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.M.Run()
}

// ownPrograms is the folder that testscript puts first on the path.
func ownPrograms(path string) string {
	own, _, _ := strings.Cut(path, string(filepath.ListSeparator))
	return own
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata", Setup: setupOrchard, Cmds: commands, RequireUniqueNames: true,
	})
}

// TestSelectedRecords names single records, for one run, for a connection and in a grant. It checks what a real child
// receives and which of its records are accepted.
func TestSelectedRecords(t *testing.T) {
	t.Attr("spec", "RT-05")
	t.Attr("spec", "RT-05.1")
	t.Attr("spec", "RT-05.2")
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "selected"), Setup: setupOrchard, Cmds: commands, RequireUniqueNames: true,
	})
}

// setupOrchard creates an empty home with the fake connector installed. The connector plays the file named script in
// its folder.
func setupOrchard(env *testscript.Env) error {
	connector := filepath.Join(ownPrograms(env.Getenv("PATH")), "fakeconnector")
	manifest, err := os.ReadFile("testdata/orchard.json")
	if err != nil {
		return err
	}
	dir := filepath.Join(env.WorkDir, "home", "connectors", "orchard")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "manifest.json"), manifest, 0o644); err != nil {
		return err
	}
	env.Setenv("PDPP_HOME", filepath.Join(env.WorkDir, "home"))
	env.Setenv("CONNECTOR", connector)
	env.Setenv("TZ", "UTC")
	env.Setenv("GORACE", "atexit_sleep_ms=0")
	return os.Symlink(connector, filepath.Join(dir, "connector"))
}

// obeyed are characters that a terminal obeys instead of showing: control codes of either set,
// bytes that are no text, and what turns the direction of writing.
var obeyed = regexp.MustCompile(`[\x00-\x08\x0b-\x1f\x7f\x{80}-\x{9f}\x{fffd}\x{61c}\x{200e}\x{200f}\x{2028}` +
	`-\x{202e}\x{2066}-\x{2069}]`)

var commands = map[string]func(*testscript.TestScript, bool, []string){
	// exits CODE PROGRAM ARGS... runs a program and expects exactly that exit code.
	"exits": func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) < 2 {
			ts.Fatalf("usage: exits CODE PROGRAM ARGS...")
		}
		want, err := strconv.Atoi(args[0])
		ts.Check(err)
		got := 0
		if err := ts.Exec(args[1], args[2:]...); err != nil {
			var exit *exec.ExitError
			if !errors.As(err, &exit) {
				ts.Fatalf("%v", err)
			}
			got = exit.ExitCode()
		}
		if got != want {
			ts.Fatalf("exit code %d, want %d", got, want)
		}
	},
	// programs DIR... leaves no programs but the test's own and those in the folders.
	"programs": func(ts *testscript.TestScript, neg bool, args []string) {
		path := []string{ownPrograms(ts.Getenv("PATH"))}
		for _, dir := range args {
			path = append(path, ts.MkAbs(dir))
		}
		ts.Setenv("PATH", strings.Join(path, string(filepath.ListSeparator)))
	},
	// bucket VARIABLE starts a server with an empty bucket and sets the variable to its address.
	"bucket": func(ts *testscript.TestScript, neg bool, args []string) {
		backend := s3mem.New()
		ts.Check(backend.CreateBucket("life"))
		server := httptest.NewServer(gofakes3.New(backend).Server())
		ts.Defer(server.Close)
		ts.Setenv(args[0], "s3://life/mara?endpoint="+server.URL)
	},
	// capture NAME PATTERN keeps the first word of stdout that matches, or the group in
	// it, in a variable.
	"capture": func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) != 2 {
			ts.Fatalf("usage: capture NAME PATTERN")
		}
		found := regexp.MustCompile(`\b` + args[1] + `\b`).FindStringSubmatch(ts.ReadFile("stdout"))
		if found == nil {
			ts.Fatalf("stdout has no word that matches %s", args[1])
		}
		ts.Setenv(args[0], found[len(found)-1])
	},
	// pipe FILE makes a named pipe; await FILE waits until a process writes to it; release FILE lets a reader
	// continue.
	"pipe": func(ts *testscript.TestScript, neg bool, args []string) {
		path := ts.MkAbs(args[0])
		ts.Check(os.MkdirAll(filepath.Dir(path), 0o700))
		ts.Check(syscall.Mkfifo(path, 0o600))
	},
	"await": func(ts *testscript.TestScript, neg bool, args []string) {
		f, err := os.Open(ts.MkAbs(args[0]))
		ts.Check(err)
		_, err = io.Copy(io.Discard, f)
		ts.Check(err)
		ts.Check(f.Close())
	},
	"release": func(ts *testscript.TestScript, neg bool, args []string) {
		f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_WRONLY, 0)
		ts.Check(err)
		ts.Check(f.Close())
	},
	// until PATTERN PROGRAM ARGS... runs a program again and again until its output
	// matches: what another process does is waited for, however slow the machine is.
	"until": func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) < 2 {
			ts.Fatalf("usage: until PATTERN PROGRAM ARGS...")
		}
		wanted := regexp.MustCompile("(?m)" + args[0])
		// processes, far more than any machine needs: a guard against waiting for ever
		const most = 1000
		again := time.NewTicker(100 * time.Millisecond) // what is waited for needs the machine too
		defer again.Stop()
		for range most {
			if ts.Exec(args[1], args[2:]...) == nil && wanted.MatchString(ts.ReadFile("stdout")) {
				return
			}
			<-again.C
		}
		ts.Fatalf("%v never printed %s", args[1:], args[0])
	},
	// harmless looks at every byte that the last program printed: nothing but text, line breaks
	// and tabs may reach a terminal.
	"harmless": func(ts *testscript.TestScript, neg bool, args []string) {
		for _, stream := range []string{"stdout", "stderr"} {
			text := ts.ReadFile(stream)
			if at := obeyed.FindStringIndex(text); at != nil {
				ts.Fatalf("%s has %q in %q", stream, text[at[0]:at[1]], text[max(0, at[0]-40):min(len(text), at[1]+40)])
			}
		}
	},
	// hear NAME PIPE stores the first line that a process writes to a pipe in a variable.
	"hear": func(ts *testscript.TestScript, neg bool, args []string) {
		f, err := os.Open(ts.MkAbs(args[1]))
		ts.Check(err)
		defer f.Close()
		heard, err := bufio.NewReader(f).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			ts.Fatalf("%v", err)
		}
		ts.Setenv(args[0], strings.TrimSuffix(heard, "\n"))
	},
	// mode PERM FILE checks the permissions of a file.
	"mode": func(ts *testscript.TestScript, neg bool, args []string) {
		info, err := os.Stat(ts.MkAbs(args[1]))
		ts.Check(err)
		if got := fmt.Sprintf("%04o", info.Mode().Perm()); got != args[0] {
			ts.Fatalf("%s has mode %s, want %s", args[1], got, args[0])
		}
	},
}
