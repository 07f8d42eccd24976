package main

import (
	"context"
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// repairStore keeps the watcher's records in the store, as a server does.
type repairStore struct{ store.Store }

func (b repairStore) Records(ctx context.Context, ids []string, since time.Time) ([]attention.AttentionRecord, error) {
	return b.Attention(ctx, store.AttentionQuery{ConnectionIDs: ids, ClosedSince: &since})
}

func (b repairStore) Save(ctx context.Context, records []attention.AttentionRecord, _ string) error {
	return b.SaveAttention(ctx, records, nil)
}

func (repairStore) EnableSchedule(context.Context, string, time.Time) (bool, error) {
	return false, nil
}

func newRecordID() func() string {
	n := 0
	return func() string { n++; return fmt.Sprint("att_bench_", n) }
}
