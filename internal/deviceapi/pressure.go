package deviceapi

import (
	"context"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/pdpp-go/pdpp/internal/device/wire"
	"github.com/pdpp-go/pdpp/internal/ops/fault"
)

// How much is taken at once, and how long one waits for it before being told to come
// back later.
const (
	atOnce      = 4
	roomInAll   = 96 << 20
	sourceWait  = 5 * time.Second
	writerWait  = time.Second
	leastFree   = 1 << 30 // bytes of disk
	leastShare  = 50      // one part in so many of the disk
	diskEvery   = 10 * time.Second
	beatsMinute = 60
)

// load keeps uploads from pressing the server harder than it can write.
type load struct {
	bytes   *semaphore.Weighted
	writers chan struct{}
	now     func() time.Time
	ending  <-chan struct{}                         // closed when the server stops
	free    func() (free, total uint64, known bool) // of the disk; nil where it is not ours

	mu      sync.Mutex
	busy    map[string]chan struct{} // by source, while it has a batch in work
	waiting int
	average time.Duration // of a batch in work
	looked  time.Time     // at the disk
	full    bool
	beats   map[string]*beats
}

type beats struct {
	since time.Time
	count int
}

func newLoad(c Config) *load {
	return &load{bytes: semaphore.NewWeighted(roomInAll), writers: make(chan struct{}, atOnce), now: c.Now, ending: c.Ending, free: c.FreeSpace,
		busy: map[string]chan struct{}{}, beats: map[string]*beats{}}
}

// room waits for memory.
func (l *load) room(ctx context.Context, n int64) (free func(), err error) {
	if l.closing() || l.diskFull() {
		return nil, l.later()
	}
	ctx, cancel := context.WithTimeout(ctx, writerWait)
	defer cancel()
	if l.bytes.Acquire(ctx, n) != nil {
		return nil, l.later()
	}
	return func() { l.bytes.Release(n) }, nil
}

// turn waits until the source has no other batch in work, and then for a writer.
func (l *load) turn(ctx context.Context, sourceID string) (done func(), err error) {
	own, err := l.ofSource(ctx, sourceID)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	l.waiting++
	l.mu.Unlock()
	timer := time.NewTimer(writerWait)
	defer timer.Stop()
	select {
	case l.writers <- struct{}{}:
	case <-timer.C:
		err = l.later()
	case <-ctx.Done():
		err = ctx.Err()
	}
	l.mu.Lock()
	l.waiting--
	l.mu.Unlock()
	if err != nil {
		own()
		return nil, err
	}
	began := time.Now()
	return func() {
		<-l.writers
		l.took(time.Since(began))
		own()
	}, nil
}

// ofSource lets one batch of a source in at a time.
func (l *load) ofSource(ctx context.Context, id string) (done func(), err error) {
	timer := time.NewTimer(sourceWait)
	defer timer.Stop()
	for {
		l.mu.Lock()
		other, taken := l.busy[id]
		if !taken {
			own := make(chan struct{})
			l.busy[id] = own
			l.mu.Unlock()
			return func() {
				l.mu.Lock()
				delete(l.busy, id)
				l.mu.Unlock()
				close(own)
			}, nil
		}
		l.mu.Unlock()
		select {
		case <-other:
		case <-timer.C:
			return nil, &fault.Fault{Status: http.StatusTooManyRequests, Code: wire.CodeBusy, Message: "Another batch of this source is in work.",
				Next: "Send it again.", RetryAfter: l.queueTime()}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (l *load) took(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.average == 0 {
		l.average = d
	}
	l.average = (7*l.average + d) / 8
}

// later refuses what cannot be written now.
func (l *load) later() error {
	return &fault.Fault{Status: http.StatusServiceUnavailable, Code: wire.CodeIngestRetryable, Message: "The server cannot write this now.",
		Next: "Send it again.", RetryAfter: l.queueTime()}
}

// queueTime is what the queue needs, between a second and a minute.
func (l *load) queueTime() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	need := l.average * time.Duration(l.waiting+1) / atOnce
	if l.full {
		need = time.Minute
	}
	return min(max(need, time.Second), time.Minute)
}

func (l *load) closing() bool {
	select {
	case <-l.ending:
		return true
	default:
		return false
	}
}

// diskFull looks now and then how much space is left.
func (l *load) diskFull() bool {
	if l.free == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := l.now(); l.looked.IsZero() || now.Sub(l.looked) >= diskEvery || now.Before(l.looked) {
		free, total, known := l.free()
		l.looked, l.full = now, known && (free < leastFree || free < total/leastShare)
	}
	return l.full
}

// admitBeat bounds the heartbeats of a device.
func (l *load) admitBeat(deviceID string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	b := l.beats[deviceID]
	if b == nil || now.Sub(b.since) >= time.Minute || now.Before(b.since) {
		b = &beats{since: now}
		l.beats[deviceID] = b
	}
	if b.count++; b.count <= beatsMinute {
		return nil
	}
	return &fault.Fault{Status: http.StatusTooManyRequests, Code: wire.CodeBusy, Message: "This device sends too many heartbeats.",
		Next: "Wait.", RetryAfter: max(b.since.Add(time.Minute).Sub(now), time.Second)}
}
