package browser

import (
	"strconv"
	"sync"
	"time"
)

// defaultStall is how long establishing a session may go without progress. Pages that work
// load within a fraction of it, repeated requests and their waits included.
const defaultStall = 120 * time.Second

// stallTimeout reads the owner's bound in milliseconds; anything but a positive integer means
// the default (RT-15.4).
func stallTimeout(text string) time.Duration {
	const most = int64(1<<63-1) / int64(time.Millisecond)
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 || n > most {
		return defaultStall
	}
	return time.Duration(n) * time.Millisecond
}

// watchdog calls bite once when no progress was reported for its whole limit. A pause does not count, and the limit
// starts again after it.
type watchdog struct {
	limit time.Duration
	bite  func()

	mu     sync.Mutex
	timer  *time.Timer
	due    time.Time
	paused bool
	over   bool
}

func newWatchdog(limit time.Duration, bite func()) *watchdog {
	w := &watchdog{limit: limit, bite: bite, due: time.Now().Add(limit)}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(limit, w.look)
	return w
}

// look bites if that is due: the timer may have gone off while it was being reset.
func (w *watchdog) look() {
	w.mu.Lock()
	now := time.Now()
	bites := !w.over && !w.paused && !now.Before(w.due)
	w.over = w.over || bites
	w.mu.Unlock()
	if bites {
		w.bite()
	}
}

func (w *watchdog) begin() {
	w.due = time.Now().Add(w.limit)
	w.timer.Reset(w.limit)
}

// progress restarts the limit.
func (w *watchdog) progress() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.over && !w.paused {
		w.begin()
	}
}

// pause stops the count while the owner is asked.
func (w *watchdog) pause() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.paused = true
	w.timer.Stop()
}

func (w *watchdog) resume() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.paused = false
	if !w.over {
		w.begin()
	}
}

// stop ends the watch.
func (w *watchdog) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	w.timer.Stop()
}
