package browser

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"strconv"
	"time"
)

const (
	// exitPatience is the time that a browser has to exit after its connector, in which it saves the sign-in. Afterwards
	// it is killed.
	exitPatience = 5 * time.Second
	// killedWithin is how long what was killed may take to be gone.
	killedWithin = 5 * time.Second
	lookEvery    = 20 * time.Millisecond
)

// processesUsing returns the processes with the folder in their command line or environment, except zombies. For a
// path that is not a browser folder it returns none: the name could be part of anything, and the caller kills these
// processes.
func processesUsing(folder string) (pids []int) {
	if !isProfileFolder(folder) {
		return nil
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil // a system without /proc
	}
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && pid != os.Getpid() && uses(pid, folder) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func uses(pid int, folder string) bool {
	for _, of := range []string{"cmdline", "environ"} {
		text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/" + of)
		if err == nil && bytes.Contains(text, []byte(folder)) {
			return true
		}
	}
	return false
}

// awaitUnused returns when no process uses the folder. It waits for processes that exit and kills the rest. It cannot
// be cancelled.
func (p *Profiles) awaitUnused(folder string) error {
	if isMissing(folder, cmp.Or(p.Patience, exitPatience)) {
		return nil
	}
	for _, pid := range processesUsing(folder) {
		// The process is held before it is looked at again, so that no other one is met that
		// has got its number meanwhile.
		if found, err := os.FindProcess(pid); err == nil {
			if uses(pid, folder) {
				_ = found.Kill()
			}
			_ = found.Release()
		}
	}
	if !isMissing(folder, killedWithin) {
		return fmt.Errorf("processes of the browser cannot be ended: %v", processesUsing(folder))
	}
	return nil
}

// isMissing waits until nothing uses the folder; false when the patience is over.
func isMissing(folder string, patience time.Duration) bool {
	for until := time.Now().Add(patience); ; {
		if len(processesUsing(folder)) == 0 {
			return true
		}
		if !time.Now().Before(until) {
			return false
		}
		time.Sleep(lookEvery)
	}
}
