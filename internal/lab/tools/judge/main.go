// Command judge derives health and verdicts from JSON lines, without a store
// and without a clock: what it says depends on its input alone. It replays the
// support file of a connection, and lets other programs ask the rules questions.
//
//	judge [--check] [FILE...]
//
// It reads standard input when no file is named. Each line is one object of one
// of these forms, and gives one line:
//
//	{"evidence":{...},"now":"2026-03-10T12:00:00Z","runtime_ok":true}
//	  -> {"snapshot":{...},"verdict":{...},"streams":[...],"refresh":...,"progress":{...},
//	      "schedule":{...},"local_device_progress":...}
//	  What pdpp support writes. The members of the evidence are those of package
//	  evidence; one that is missing was not measured.
//
//	{"snapshot":{...},"streams":[...],"refresh":{...},"progress":{...},"schedule":{...},"attention":{...},"runtime_ok":true}
//	  -> {"verdict":{...}}
//
//	{"disposition":{"coverage":"partial","attention_open":false,"freshness":"fresh","gap_retryable":false,"manual_only":false}}
//	  -> {"forward_disposition":"resumable"}
//	  A "refresh" object may stand instead of manual_only.
//
//	{"heartbeat":{"trusted":true,"last_heartbeat_at":"...","status":"blocked","records_pending":3,"outbox":{"dead_letter":1}},"now":"..."}
//	{"heartbeat":{"sources":[{...},{...}]},"now":"..."}
//	  -> {"axis":"stalled","cause":"dead_letter_backlog","unreliable":false}
//	  A heartbeat is trusted unless it says otherwise; one without a time counts as none.
//
//	{"backlog":{"pending_gaps":[{"stream":"trees","reason":"rate_limited","attempt_count":2,"next_attempt_after":"..."}],"read_limit":100,"recovered":4,"terminal":0}}
//	{"backlog":null}
//	  -> {"detail_gap_backlog":{...}} or {"detail_gap_backlog":null}
//	  Counts are floors when there are as many gaps as the limit allows to read.
//
// Members may be written in camelCase, and those that are not known are left
// aside. Left out, runtime_ok is true, a stream is required, a condition is
// current, no question is open and no remote browser is in use; coverage,
// freshness, the outbox and the state are not known.
//
// With --check every verdict is held to the invariants of package verdict, and
// its line gets "violations". A line that cannot be read gives
// {"error":{"code","message","line"}}, and the next line is read. The exit code
// is 1 when a line could not be read or an invariant was violated.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	check := flag.Bool("check", false, "hold every verdict to the invariants")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(),
			"usage: judge [--check] [FILE...]   (see go doc github.com/pdpp-go/pdpp/internal/lab/tools/judge)")
		flag.PrintDefaults()
	}
	flag.Parse()
	ok, err := serve(flag.Args(), os.Stdin, os.Stdout, *check)
	if err != nil {
		fmt.Fprintln(os.Stderr, "judge:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

// serve judges the files one after the other, or standard input without any.
func serve(paths []string, in io.Reader, out io.Writer, check bool) (ok bool, err error) {
	if len(paths) == 0 {
		return judgeLines(in, out, check)
	}
	ok = true
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			return false, fmt.Errorf("open the input: %w", err)
		}
		good, err := judgeLines(f, out, check)
		_ = f.Close()
		if err != nil {
			return false, fmt.Errorf("judge %s: %w", path, err)
		}
		ok = ok && good
	}
	return ok, nil
}
