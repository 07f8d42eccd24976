package browser

import (
	"os"
	"strconv"
	"strings"
)

// What a browser takes of the machine, at most of those that were measured, and what is left to
// everything else.
const (
	browserMemory = 600 << 20
	spareMemory   = 1 << 30
	mostBrowsers  = 4
)

// Slots is how many browsers a machine bears at once that has so much memory left.
func Slots(available uint64) int {
	if available <= spareMemory {
		return 1
	}
	return int(min(max((available-spareMemory)/browserMemory, 1), mostBrowsers))
}

// Available is how much memory is left for new processes, within the limits of the control
// group; zero when that is not known.
func Available() uint64 {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	left := parseMemAvailable(string(text))
	limit, limited := number("/sys/fs/cgroup/memory.max")
	if used, ok := number("/sys/fs/cgroup/memory.current"); ok && limited {
		left = min(left, limit-min(used, limit))
	}
	return left
}

// parseMemAvailable parses MemAvailable of /proc/meminfo.
func parseMemAvailable(meminfo string) uint64 {
	for line := range strings.Lines(meminfo) {
		if rest, ok := strings.CutPrefix(line, "MemAvailable:"); ok {
			kilobytes, _ := strconv.ParseUint(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 54)
			return kilobytes << 10
		}
	}
	return 0
}

func number(path string) (uint64, bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil // "max" is no limit
}
