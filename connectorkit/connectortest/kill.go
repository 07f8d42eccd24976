package connectortest

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/protocol"
)

// KillConnector ends the connector of a run, and only it, with SIGKILL. It
// finds the process by the run id in its environment, so it works from any
// process. It reports how many processes it ended.
func KillConnector(runID string) int {
	killed := 0
	for _, pid := range connectorProcesses(runID) {
		if syscall.Kill(pid, syscall.SIGKILL) == nil {
			killed++
		}
	}
	return killed
}

// endedByKill reports whether a run failed because its connector was killed: it ended without DONE or after it, or
// did not read an answer.
func endedByKill(f *runner.Failure) bool {
	return f.Reason == runner.ReasonExitWithoutDone || f.Reason == runner.ReasonStdinClosed ||
		f.Violation != nil && f.Violation.Subtype == protocol.ExitCodeMismatch
}

// ConnectorPeak is the most memory that the connector of a run has had so far, in KiB; zero when it has ended.
func ConnectorPeak(runID string) int {
	peak := 0
	for _, pid := range connectorProcesses(runID) {
		status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
		if err != nil {
			continue // it has just ended
		}
		for line := range strings.Lines(string(status)) {
			if words := strings.Fields(line); len(words) > 1 && words[0] == "VmHWM:" {
				n, _ := strconv.Atoi(words[1])
				peak = max(peak, n)
			}
		}
	}
	return peak
}

// connectorProcesses are those of the connector of a run.
func connectorProcesses(runID string) (pids []int) {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil
	}
	for _, dir := range dirs {
		if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil && isConnectorOf(pid, runID) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// ownProcesses are those among the children of this process, which are found at once.
func ownProcesses(runID string) (pids []int) {
	lists, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil || len(lists) == 0 {
		return connectorProcesses(runID) // the kernel does not list children
	}
	for _, path := range lists {
		children, err := os.ReadFile(path)
		if err != nil {
			continue // the thread has just ended
		}
		for _, word := range strings.Fields(string(children)) {
			if pid, err := strconv.Atoi(word); err == nil && isConnectorOf(pid, runID) {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// isConnectorOf reports whether a process is the connector of a run.
func isConnectorOf(pid int, runID string) bool {
	env, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	return err == nil && runID != "" && hasEntry(env, []byte("PDPP_RUN_ID="+runID))
}

func hasEntry(environ, entry []byte) bool {
	for _, e := range bytes.Split(environ, []byte{0}) {
		if bytes.Equal(e, entry) {
			return true
		}
	}
	return false
}
