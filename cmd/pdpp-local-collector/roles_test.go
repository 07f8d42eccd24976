package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets the test binary play the program and its connector.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"pdpp-local-collector": main, "connector": playDiary})
}

// playDiary is a connector for a text file with one note per word. It adds a
// line to DIARY_RUNS, which is in its own folder, whenever it is started.
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
	for _, key := range fresh {
		fmt.Printf(`{"type":"RECORD","stream":"notes","key":%q,"data":{"id":%q},"emitted_at":"2026-03-01T08:00:00Z"}`+"\n", key, key)
	}
	fmt.Printf(`{"type":"STATE","stream":"notes","cursor":{"n":%d}}`+"\n", len(notes))
	fmt.Printf(`{"type":"DONE","status":"succeeded","records_emitted":%d}`+"\n", len(fresh))
	_, _ = io.Copy(io.Discard, in)
	syscall.Exit(0) // skips the pause that the race detector makes at exit
}
