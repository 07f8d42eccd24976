package deviceapi

import (
	"context"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/pdpp-go/pdpp/internal/device/wire"
	"github.com/pdpp-go/pdpp/internal/ops/usererr"
)

// Limits of concurrent uploads, and how long an upload waits before the server asks the device to retry.
const (
	maxWriters        = 4
	maxBytesInFlight  = 96 << 20
	sourceWait        = 5 * time.Second
	writerWait        = time.Second
	minFreeBytes      = 1 << 30
	minFreeFraction   = 50 // the reciprocal of the fraction
	diskCheckInterval = 10 * time.Second
	heartbeatsMinute  = 60
)

// admission decides which uploads may begin, so that the server is not asked to hold or write more than it can.
type admission struct {
	bytes   *semaphore.Weighted
	writers chan struct{}
	now     func() time.Time
	ending  <-chan struct{}                         // closed when the server stops
	free    func() (free, total uint64, known bool) // of the disk; nil where the disk is not ours

	mu         sync.Mutex
	busy       map[string]chan struct{} // by source, while one of its batches is being written
	waiting    int
	average    time.Duration // to write a batch
	checked    time.Time     // when the disk was last measured
	full       bool
	heartbeats map[string]*heartbeatWindow // by device
}

// heartbeatWindow counts the heartbeats of a device in one minute.
type heartbeatWindow struct {
	since time.Time
	count int
}

func newAdmission(c Config) *admission {
	return &admission{bytes: semaphore.NewWeighted(maxBytesInFlight), writers: make(chan struct{}, maxWriters),
		now: c.Now, ending: c.Ending, free: c.FreeSpace,
		busy: map[string]chan struct{}{}, heartbeats: map[string]*heartbeatWindow{}}
}

// reserve waits for n bytes of memory. The caller releases them.
func (a *admission) reserve(ctx context.Context, n int64) (release func(), err error) {
	if a.closing() || a.diskFull() {
		return nil, a.retryFault()
	}
	ctx, cancel := context.WithTimeout(ctx, writerWait)
	defer cancel()
	if a.bytes.Acquire(ctx, n) != nil {
		return nil, a.retryFault()
	}
	return func() { a.bytes.Release(n) }, nil
}

// waitTurn waits until no other batch of the source is being written, and then for a writer.
func (a *admission) waitTurn(ctx context.Context, sourceID string) (done func(), err error) {
	releaseSource, err := a.lockSource(ctx, sourceID)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	a.waiting++
	a.mu.Unlock()
	timer := time.NewTimer(writerWait)
	defer timer.Stop()
	select {
	case a.writers <- struct{}{}:
	case <-timer.C:
		err = a.retryFault()
	case <-ctx.Done():
		err = ctx.Err()
	}
	a.mu.Lock()
	a.waiting--
	a.mu.Unlock()
	if err != nil {
		releaseSource()
		return nil, err
	}
	began := time.Now()
	return func() {
		<-a.writers
		a.noteDuration(time.Since(began))
		releaseSource()
	}, nil
}

// lockSource waits until the name is not locked, and locks it until done is called.
func (a *admission) lockSource(ctx context.Context, name string) (done func(), err error) {
	timer := time.NewTimer(sourceWait)
	defer timer.Stop()
	for {
		a.mu.Lock()
		other, taken := a.busy[name]
		if !taken {
			own := make(chan struct{})
			a.busy[name] = own
			a.mu.Unlock()
			return func() {
				a.mu.Lock()
				delete(a.busy, name)
				a.mu.Unlock()
				close(own)
			}, nil
		}
		a.mu.Unlock()
		select {
		case <-other:
		case <-timer.C:
			return nil, &usererr.Error{Status: http.StatusTooManyRequests, Code: wire.CodeBusy,
				Message: "Another batch of this source is in work.", Next: "Send it again.", RetryAfter: a.queueTime()}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// noteDuration adds a batch to the average.
func (a *admission) noteDuration(d time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.average == 0 {
		a.average = d
	}
	a.average = (7*a.average + d) / 8
}

// retryFault asks the device to send again what cannot be written now.
func (a *admission) retryFault() error {
	return &usererr.Error{Status: http.StatusServiceUnavailable, Code: wire.CodeIngestRetryable,
		Message: "The server cannot write this now.", Next: "Send it again.", RetryAfter: a.queueTime()}
}

// queueTime estimates how long the waiting batches need, between a second and a minute.
func (a *admission) queueTime() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	need := a.average * time.Duration(a.waiting+1) / maxWriters
	if a.full {
		need = time.Minute
	}
	return min(max(need, time.Second), time.Minute)
}

func (a *admission) closing() bool {
	select {
	case <-a.ending:
		return true
	default:
		return false
	}
}

// diskFull measures the free space, unless it did so within diskCheckInterval.
func (a *admission) diskFull() bool {
	if a.free == nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if now := a.now(); now.Sub(a.checked) >= diskCheckInterval || now.Before(a.checked) {
		free, total, known := a.free()
		a.checked, a.full = now, known && (free < minFreeBytes || free < total/minFreeFraction)
	}
	return a.full
}

// admitHeartbeat limits the heartbeats of a device.
func (a *admission) admitHeartbeat(deviceID string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	w := a.heartbeats[deviceID]
	if w == nil || now.Sub(w.since) >= time.Minute || now.Before(w.since) {
		w = &heartbeatWindow{since: now}
		a.heartbeats[deviceID] = w
	}
	if w.count++; w.count <= heartbeatsMinute {
		return nil
	}
	return &usererr.Error{Status: http.StatusTooManyRequests, Code: wire.CodeBusy,
		Message: "This device sends too many heartbeats.", Next: "Wait.",
		RetryAfter: max(w.since.Add(time.Minute).Sub(now), time.Second)}
}
