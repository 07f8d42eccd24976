package browser

import "testing"

// A path that is not a browser folder has no users: its name occurs in other command lines, and those processes must
// live.
func TestOnlyRoomsHaveUsers(t *testing.T) {
	for _, folder := range []string{"", "/", "/tmp", "tmp/pdpp-browser-1", "/tmp/pdpp-browser-1/.."} {
		if pids := processesUsing(folder); len(pids) > 0 {
			t.Errorf("%q is used by %d processes", folder, len(pids))
		}
	}
}
