package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pdpp-go/pdpp/internal/cli"
)

// TestMain lets the test binary play the program and its connector.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"pdpp-local-collector": main, "connector": playDiary, "pdpp": playServer})
}

// playServer is the owner's program.
func playServer() {
	os.Exit(cli.Main(cli.Env{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Lookup: os.LookupEnv,
		LookPath:   exec.LookPath,
		Executable: os.Args[0], Holder: fmt.Sprint("test:", os.Getpid()), Interrupts: make(chan os.Signal), Exit: os.Exit,
		Now: time.Now,
	}))
}

// playDiary is a connector for a text file with one note per word. It adds a
// line to DIARY_RUNS, which is in its data folder, whenever it is started.
func playDiary() {
	in := bufio.NewReader(os.Stdin)
	var start struct {
		State map[string]struct{ N int }
	}
	line, err := in.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &start)
	}
	body, readErr := os.ReadFile(os.Getenv("DIARY_FILE"))
	log, logErr := os.OpenFile(os.Getenv("DIARY_RUNS"), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil || readErr != nil || logErr != nil {
		fmt.Fprintln(os.Stderr, err, readErr, logErr)
		syscall.Exit(1)
	}
	fmt.Fprintf(log, "n=%d\n", start.State["notes"].N)
	notes := strings.Fields(string(body))
	fresh := notes[start.State["notes"].N:]
	emitted := len(fresh)
	for _, key := range fresh {
		fmt.Printf(`{"type":"RECORD","stream":"notes","key":%q,"data":{"id":%q},"emitted_at":"2026-03-01T08:00:00Z"}`+"\n",
			key, key)
	}
	for _, store := range strings.Fields(os.Getenv("DIARY_STORES")) {
		name, status, _ := strings.Cut(store, "=")
		fmt.Printf(`{"type":"RECORD","stream":"coverage_diagnostics","key":%q,"data":{"id":%q,"store":%q,"status":%q},`+
			`"emitted_at":%q}`+"\n",
			"coverage:"+name, "coverage:"+name, name, status, time.Now().UTC().Format(time.RFC3339Nano))
		emitted++
	}
	if os.Getenv("DIARY_FAILS") != "" {
		syscall.Exit(3)
	}
	if drift := os.Getenv("DIARY_DRIFT"); drift != "" {
		fmt.Printf(`{"type":"PROGRESS","message":"Answers were compared","stream":"notes","answer_drift":%s}`+"\n", drift)
	}
	fmt.Printf(`{"type":"STATE","stream":"notes","cursor":{"n":%d}}`+"\n", len(notes))
	fmt.Printf(`{"type":"DONE","status":"succeeded","records_emitted":%d}`+"\n", emitted)
	_, _ = io.Copy(io.Discard, in)
	syscall.Exit(0) // skips the pause that the race detector makes at exit
}
