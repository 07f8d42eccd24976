package browser

import "testing"

// What is no room is nobody's: its name is in the command line of strangers, who must live.
func TestOnlyRoomsHaveUsers(t *testing.T) {
	for _, folder := range []string{"", "/", "/tmp", "tmp/pdpp-browser-1", "/tmp/pdpp-browser-1/.."} {
		if pids := users(folder); len(pids) > 0 {
			t.Errorf("%q is used by %d processes", folder, len(pids))
		}
	}
}
