package collector

import (
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/internal/device/wire"
	"github.com/pdpp-go/pdpp/internal/slice"
)

// target is how large an upload should be. It grows while uploads are quick and shrinks
// when one takes too long, so that a slow line gets something through as well.
type target struct {
	mu             *sync.Mutex
	bytes, records int
	largest        int
}

const (
	quickUpload  = time.Second
	smallestGoal = 16 << 10
	// recordFrame is about what the members around a record's data take.
	recordFrame = 200
)

func newTarget(p Policy) target {
	return target{mu: &sync.Mutex{}, bytes: p.BatchBytes, records: p.BatchRecords,
		largest: max(p.LargestBatch, p.BatchBytes)}
}

// within keeps to what the server takes.
func (t *target) within(l wire.Limits) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.BodyBytes > 0 {
		t.largest = min(t.largest, int(l.BodyBytes))
		t.bytes = min(t.bytes, t.largest)
	}
	if l.BatchRecords > 0 {
		t.records = min(t.records, int(l.BatchRecords))
	}
}

// took learns from an upload that arrived.
func (t *target) took(size int, d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if d < quickUpload && size*2 > t.bytes {
		t.bytes = min(t.bytes*2, t.largest)
	}
}

// shrink learns from an upload of that size that did not arrive.
func (t *target) shrink(size int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bytes = max(min(t.bytes, size)/2, smallestGoal)
}

func (t *target) now() (bytes, records int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.bytes, t.records
}

// cut divides records into uploads, in their order. A record larger than an upload has
// one to itself.
func (t *target) cut(records []slice.Record) [][]slice.Record {
	bytes, count := t.now()
	var out [][]slice.Record
	from, size := 0, 0
	for i, r := range records {
		if own := recordSize(r); i > from && (i-from == count || size+own > bytes) {
			out, from, size = append(out, records[from:i]), i, 0
		}
		size += recordSize(r)
	}
	if from < len(records) {
		out = append(out, records[from:])
	}
	return out
}

func recordSize(r slice.Record) int { return len(r.Data) + len(r.Key) + recordFrame }
