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
	// patience is how long a browser may take to end by itself once its connector is gone: then
	// it has written down that the owner is signed in. Later it is killed.
	patience = 5 * time.Second
	// killedWithin is how long what was killed may take to be gone.
	killedWithin = 5 * time.Second
	lookEvery    = 20 * time.Millisecond
)

// users are the processes whose command line or environment names the room. Those that are
// dead and only not yet collected by their parent name nothing. Nobody uses what is no room:
// its name may be a part of anything, and users are ended.
func users(folder string) (pids []int) {
	if !isRoom(folder) {
		return nil
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil // a system that cannot tell
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

// vacate returns when no process uses the folder. It waits for those that end by themselves,
// and ends the rest. It cannot be cut short: there is no use in leaving half way.
func (p *Profiles) vacate(folder string) error {
	if gone(folder, cmp.Or(p.Patience, patience)) {
		return nil
	}
	for _, pid := range users(folder) {
		// The process is held before it is looked at again, so that no other one is met that
		// has got its number meanwhile.
		if found, err := os.FindProcess(pid); err == nil {
			if uses(pid, folder) {
				_ = found.Kill()
			}
			_ = found.Release()
		}
	}
	if !gone(folder, killedWithin) {
		return fmt.Errorf("processes of the browser cannot be ended: %v", users(folder))
	}
	return nil
}

// gone waits until nothing uses the folder; false when the patience is over.
func gone(folder string, patience time.Duration) bool {
	for until := time.Now().Add(patience); ; {
		if len(users(folder)) == 0 {
			return true
		}
		if !time.Now().Before(until) {
			return false
		}
		time.Sleep(lookEvery)
	}
}
