package connectortest

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// KillConnector ends the connector of a run, and only it, with SIGKILL. It
// finds the process by the run id in its environment, so it works from any
// process. It reports how many processes it ended.
func KillConnector(runID string) int {
	environs, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return 0
	}
	killed := 0
	mark := []byte("PDPP_RUN_ID=" + runID)
	for _, path := range environs {
		env, err := os.ReadFile(path)
		if err != nil || runID == "" || !has(env, mark) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err == nil && syscall.Kill(pid, syscall.SIGKILL) == nil {
			killed++
		}
	}
	return killed
}

func has(environ, entry []byte) bool {
	for _, e := range bytes.Split(environ, []byte{0}) {
		if bytes.Equal(e, entry) {
			return true
		}
	}
	return false
}
