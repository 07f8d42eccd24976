package collector

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/internal/device/outbox"
	"github.com/pdpp-go/pdpp/internal/device/wire"
)

// Preview is what a recovery would find and do.
type Preview struct {
	SourceInstanceID string                  `json:"source_instance_id"`
	ConnectorID      string                  `json:"connector_id"`
	Profile          string                  `json:"profile,omitzero"`
	Queue            string                  `json:"queue"`
	QueueExists      bool                    `json:"queue_exists"`
	Outbox           wire.OutboxCounts       `json:"outbox"`
	Requeue          int                     `json:"would_requeue"`
	RequeueKinds     map[outbox.ItemKind]int `json:"would_requeue_kinds,omitempty"`
	OldestFailed     *time.Time              `json:"oldest_failed_at,omitzero"`
	Failures         []wire.DeadLetterClass  `json:"failures,omitempty"`
	// Run is always true: every recovery ends with one run of the collector.
	Run bool `json:"would_run"`
}

// Preview returns what Recover would do. It changes nothing, sends nothing and does not wait for the
// queue's lock.
func (c *Collector) Preview(ctx context.Context) (Preview, error) {
	v := Preview{SourceInstanceID: c.Profile.SourceInstanceID, ConnectorID: c.Profile.ConnectorID,
		Profile: c.Profile.Path, Queue: c.Profile.Queue, Run: true}
	box, err := outbox.OpenToRead(ctx, c.Profile.Queue)
	if errors.Is(err, outbox.ErrNotFound) {
		return v, nil
	}
	if err != nil {
		return v, fmt.Errorf("open the queue: %w", err)
	}
	v.QueueExists = true
	defer box.Close() // nothing was written
	if err := ownQueue(ctx, box, c.Profile, c.now()); err != nil {
		return v, err
	}
	if v.Outbox, err = box.Counts(ctx, c.Profile.SourceInstanceID, c.now()); err != nil {
		return v, fmt.Errorf("count the queue: %w", err)
	}
	failed, err := box.DeadLetters(ctx, c.Profile.SourceInstanceID)
	if err != nil {
		return v, fmt.Errorf("read what was put aside: %w", err)
	}
	v.sumUp(failed)
	return v, nil
}

func (v *Preview) sumUp(failed []outbox.QueuedItem) {
	v.Requeue = len(failed)
	var codes []string
	for _, item := range failed {
		if v.RequeueKinds == nil {
			v.RequeueKinds = map[outbox.ItemKind]int{}
		}
		v.RequeueKinds[item.Kind]++
		codes = append(codes, item.LastError)
		if v.OldestFailed == nil || item.CreatedAt.Before(*v.OldestFailed) {
			v.OldestFailed = &item.CreatedAt
		}
	}
	v.Failures = classesOf(codes)
}

// Recovery is what Recover did.
type Recovery struct {
	Requeued int `json:"requeued"`
	Report
}

// Recover puts failed uploads back into the queue, all or none, and makes one pass with the same
// profile. Without failed uploads it only makes the pass, which is the remedy for every other cause.
func (c *Collector) Recover(ctx context.Context) (Recovery, error) {
	var requeued int
	report, err := c.locked(ctx, func(p *pass) (err error) {
		if requeued, err = p.box.RequeueDeadLetters(ctx, c.Profile.SourceInstanceID, p.now()); err != nil {
			return fmt.Errorf("requeue failed uploads: %w", err)
		}
		return p.run(ctx)
	})
	return Recovery{requeued, report}, err
}
