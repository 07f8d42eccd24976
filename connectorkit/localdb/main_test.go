package localdb

import (
	"os"
	"testing"
	"time"
)

// TestMain keeps the tests from waiting for owners that never let go.
func TestMain(m *testing.M) {
	busyTimeout = 50 * time.Millisecond
	os.Exit(m.Run())
}
