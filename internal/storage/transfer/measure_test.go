//go:build unix

package transfer

import (
	"os"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// TestMeasure copies as many records as PDPP_MOVE_RECORDS there and back and prints what it took.
func TestMeasure(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("PDPP_MOVE_RECORDS"))
	if n == 0 {
		return
	}
	first, server, second := openEmbedded(t), openServer(t), openEmbedded(t)
	commit(t, first.Store, "pears", n)
	spent := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			t.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	for name, pair := range map[string][2]Database{"1 there": {first, server}} {
		before, began := spent(), time.Now()
		there, err := Copy(t.Context(), pair[0], pair[1], nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %v, %v of CPU in this process", name, time.Since(began), spent()-before)
		before, began = spent(), time.Now()
		back, err := Copy(t.Context(), server, second, nil)
		if err != nil || !slices.Equal(there, back) {
			t.Fatal("differs", err)
		}
		var memory runtime.MemStats
		runtime.ReadMemStats(&memory)
		t.Logf("2 back: %v, %v of CPU in this process, %d MiB of memory from the system", time.Since(began), spent()-before,
			memory.Sys>>20)
	}
}
