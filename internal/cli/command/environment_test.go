package command

import (
	"os"
	"testing"
	"time"
)

// testEnvironment returns an environment with these variables, in which no program is installed.
func testEnvironment(t *testing.T, vars map[string]string) Env {
	t.Helper()
	return Env{
		Lookup:   func(name string) (string, bool) { v, ok := vars[name]; return v, ok },
		LookPath: func(string) (string, error) { return "", os.ErrNotExist },
		Now:      func() time.Time { return time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC) },
	}
}
