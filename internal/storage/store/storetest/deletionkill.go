package storetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// deleting is the round of a child that works on deletions.
const deleting = "deleting"

// RunDeletionKill repeatedly kills processes that hide, restore and purge records. After each kill the counts are
// correct and the next process continues: an undone deletion leaves everything as it was, and a purged one leaves
// nothing.
func RunDeletionKill(t *testing.T, target string, open Opener) {
	s, err := open(t.Context(), target)
	ok(t, err)
	l := begin(t, s, "c", "r1", titles)
	var records []slice.Record
	for i := range 2600 {
		records = append(records, titled(fmt.Sprint("k", i), "pear", fmt.Sprint(i)))
	}
	for part := range slices.Chunk(records, 1000) {
		commit(t, s, l, slice.Slice{Records: part}, Now)
	}
	put(t, s, l, titled("k1", "plum", "again"), tombstone("k2"))
	finish(t, s, l, Now)
	before := everyReader(t, s, "c")
	scope := store.DeletionScope{Kind: store.DeleteConnection, ConnectionID: "c"}
	counts, err := s.PreviewDeletion(t.Context(), scope)
	ok(t, err)
	ask(t, s, "undone", scope)
	kills := func(id string, until store.DeletionState) {
		for round := 0; ; round++ {
			ok(t, s.Close())
			killAfter(t, target, deleting, 1+rand.IntN(2))
			s, err = open(t.Context(), target)
			ok(t, err)
			CountsAreTrue(t, s, "c", Stream)
			if deletionOf(t, s, id).State == until {
				t.Logf("%s: %d kills until it was %s", id, round+1, until)
				return
			}
		}
	}
	kills("undone", store.DeletionHidden)
	same(t, deletionOf(t, s, "undone").DeletionCounts, counts)
	ok(t, s.UndoDeletion(t.Context(), "undone", Now))
	kills("undone", store.DeletionUndone)
	if diff := cmp.Diff(before, everyReader(t, s, "c")); diff != "" {
		t.Fatalf("after undoing: %s", diff)
	}
	ok(t, s.RequestDeletion(t.Context(), store.Deletion{ID: "purged", DeletionScope: scope, AskedAt: Now,
		PurgeAfter: Now}))
	kills("purged", store.DeletionPurged)
	d := deletionOf(t, s, "purged")
	same(t, []any{d.DeletionCounts, d.Purged}, []any{counts, counts.Records + counts.Tombstones})
	same(t, len(changes(t, s, "c")), 0)
	ok(t, s.Close())
}

// deleteUntilKilled works on deletions step by step until something fails.
func deleteUntilKilled(target string, open Opener) error {
	ctx := context.Background()
	s, err := open(ctx, target)
	if err != nil {
		return err
	}
	for step := 1; ; step++ {
		idle, err := s.AdvanceDeletion(ctx, Now)
		if err == nil && idle {
			err = s.FinishDeletions(ctx, Now)
		}
		if err != nil {
			return err
		}
		fmt.Println(step)
		if idle {
			<-time.After(time.Millisecond) // the parent kills it
		}
	}
}
