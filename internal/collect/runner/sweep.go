package runner

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
)

// workdirPrefix begins the name of every run's working directory, which goes on
// with the id of the process that made it.
const workdirPrefix = "pdpp-run-"

var workdirOwner = regexp.MustCompile(`^` + workdirPrefix + `(\d+)-`)

// makeWorkdir makes the empty directory that a connector runs in.
func makeWorkdir() (string, error) {
	return os.MkdirTemp("", workdirPrefix+strconv.Itoa(os.Getpid())+"-")
}

// Sweep removes the working directories of processes that were killed, and leaves
// those of the living alone. What it may not remove, it leaves too.
func Sweep() {
	found, err := os.ReadDir(os.TempDir())
	if err != nil {
		return
	}
	for _, entry := range found {
		owner := workdirOwner.FindStringSubmatch(entry.Name())
		if owner == nil || !entry.IsDir() {
			continue
		}
		pid, err := strconv.Atoi(owner[1])
		if err == nil && !alive(pid) {
			removeTree(filepath.Join(os.TempDir(), entry.Name()))
		}
	}
}
