package childprocess

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
)

// workdirPrefix begins the name of every working directory that Start creates. The id of this process follows.
const workdirPrefix = "pdpp-run-"

var workdirOwner = regexp.MustCompile(`^` + workdirPrefix + `(\d+)-`)

// createWorkdir creates an empty working directory.
func createWorkdir() (string, error) {
	return os.MkdirTemp("", workdirPrefix+strconv.Itoa(os.Getpid())+"-")
}

// RemoveStaleWorkdirs removes the working directories of processes that no longer exist, for example after a kill.
// It ignores directories that it may not remove.
func RemoveStaleWorkdirs() {
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
		if err == nil && !processExists(pid) {
			removeTree(filepath.Join(os.TempDir(), entry.Name()))
		}
	}
}

// removeTree removes a directory, whatever modes the child has set inside it.
func removeTree(dir string) {
	if os.RemoveAll(dir) == nil {
		return
	}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	_ = os.RemoveAll(dir)
}
