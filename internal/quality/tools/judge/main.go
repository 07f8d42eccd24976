// Command judge derives health and verdicts from JSON lines, without a store
// and without a clock: its output depends only on its input. It replays the
// support file of a connection, and lets other programs query the rules.
//
//	judge [--check] [FILE...]
//
// It reads standard input if no file is named. Each line is one object of one
// of these forms, and produces one line of output:
//
//	{"evidence":{...},"now":"2026-03-10T12:00:00Z","runtime_ok":true}
//	  -> {"snapshot":{...},"verdict":{...},"streams":[...],"refresh":...,"progress":{...},
//	      "schedule":{...},"local_device_progress":...}
//	  This is the output of pdpp support. The members of the evidence are those of
//	  package evidence; a missing member was not measured.
//
//	{"snapshot":{...},"streams":[...],"refresh":{...},"progress":{...},
//	  "schedule":{...},"attention":{...},"runtime_ok":true}
//	  -> {"verdict":{...}}
//
//	{"disposition":{"coverage":"partial","attention_open":false,
//	  "freshness":"fresh","gap_retryable":false,"manual_only":false}}
//	  -> {"forward_disposition":"resumable"}
//	  A "refresh" object may replace manual_only.
//
//	{"heartbeat":{"trusted":true,"last_heartbeat_at":"...",
//	  "status":"blocked","records_pending":3,"outbox":{"dead_letter":1}},"now":"..."}
//	{"heartbeat":{"sources":[{...},{...}]},"now":"..."}
//	  -> {"axis":"stalled","cause":"dead_letter_backlog","unreliable":false}
//	  A heartbeat is trusted unless "trusted" is false. A heartbeat without a time is ignored.
//
//	{"backlog":{"pending_gaps":[{"stream":"trees","reason":"rate_limited",
//	  "attempt_count":2,"next_attempt_after":"..."}],"read_limit":100,"recovered":4,"terminal":0}}
//	{"backlog":null}
//	  -> {"detail_gap_backlog":{...}} or {"detail_gap_backlog":null}
//	  Counts are lower bounds if the number of gaps equals the read limit.
//
// Members may be written in camelCase, and unknown members are ignored. By
// default runtime_ok is true, a stream is required, a condition is current, no
// question is open and no remote browser is in use. Coverage, freshness, the
// outbox and the state are unknown by default.
//
// With --check every verdict is checked against the invariants of package
// verdict, and its line gets "violations". An unreadable line produces
// {"error":{"code","message","line"}}, and the next line is read. The exit code
// is 1 if a line was unreadable or an invariant was violated.
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
			"usage: judge [--check] [FILE...]   (see go doc github.com/pdpp-go/pdpp/internal/quality/tools/judge)")
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
