package devicetest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/device/collector"
	"github.com/pdpp-go/pdpp/manifest"
)

// clocked is the name under which the test binary acts as the collector with an adjustable clock.
// A file holds the clock's offset.
const clocked, clockVariable = "clocked", "DEVICE_CLOCK"

// playClocked makes one pass of the source that is its last argument.
func playClocked() {
	file := os.Getenv(clockVariable)
	now := func() time.Time {
		body, _ := os.ReadFile(file) // none: it is right
		seconds, _ := strconv.ParseInt(string(body), 10, 64)
		return time.Now().Add(time.Duration(seconds) * time.Second)
	}
	dirs, err := collector.DirsFrom(os.LookupEnv)
	var profile collector.Profile
	if err == nil {
		profile, err = collector.Resolve(dirs, os.Args[len(os.Args)-1], os.LookupEnv)
	}
	if err == nil {
		offered := map[string]jsontext.Value{string(manifest.BindingFilesystem): jsontext.Value("{}")}
		c := &collector.Collector{Profile: profile, Dirs: dirs, Bindings: offered, Now: now, Lookup: os.LookupEnv,
			Connectors: catalog.Catalog{Dir: filepath.Join(filepath.Dir(dirs.Profiles), "connectors"), Home: os.Getenv("HOME")}}
		_, err = c.Run(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		syscall.Exit(1)
	}
	syscall.Exit(0)
}

func (w *world) clock() string { return filepath.Join(w.deviceDir, "clock") }

// nap stops the device in the middle of what it does, as a closed lid, and moves its clock by
// an hour, there and back, before it goes on.
func (w *world) nap() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.device == nil || w.device.Process == nil {
		return
	}
	_ = syscall.Kill(-w.device.Process.Pid, syscall.SIGSTOP)
	w.naps++
	off := []int{3600, 0, -3600, 0}[w.naps%4]
	if err := os.WriteFile(w.clock(), []byte(strconv.Itoa(off)), 0o600); err != nil {
		w.t.Error(err)
	}
	_ = syscall.Kill(-w.device.Process.Pid, syscall.SIGCONT)
}
