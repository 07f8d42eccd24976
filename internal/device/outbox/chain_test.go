package outbox

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

// TestAComputedIDTellsARepetitionFromAReturn verifies that computed ids depend on the preceding items.
// Repeating the newest items adds no work, but repeating older items does.
func TestAComputedIDTellsARepetitionFromAReturn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var words, ids []string // the queue
		t.Repeat(map[string]func(*rapid.T){"enqueue": func(t *rapid.T) {
			more := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b"}), 1, 3).Draw(t, "hashes")
			var group []*QueuedItem
			for _, w := range more {
				group = append(group, &QueuedItem{SourceInstanceID: "src-a", Kind: Checkpoint, BodyHash: w})
			}
			newest := slices.Clone(ids[max(0, len(ids)-len(more)-1):])
			slices.Reverse(newest)
			for _, id := range chain(newest, group) {
				if !strings.HasPrefix(id, IDPrefix) || len(id) != len(IDPrefix)+64 {
					t.Fatalf("computed the id %q", id)
				}
				if !slices.Contains(ids, id) {
					ids = append(ids, id)
				}
			}
			if len(words) < len(more) || !slices.Equal(words[len(words)-len(more):], more) {
				words = append(words, more...)
			}
			if len(ids) != len(words) {
				t.Fatalf("%d items in the queue, want %v", len(ids), words)
			}
		}})
	})
}

// Each source and each kind has ids of its own.
func TestItemsWithoutAnIDAreKeptOnce(t *testing.T) {
	o, c := setup(t)
	bare := func(source string, kind ItemKind, payload string) QueuedItem {
		return QueuedItem{SourceInstanceID: source, Kind: kind, Payload: jsontext.Value(payload)}
	}
	first := []QueuedItem{bare("src-a", RecordBatch, `1`), bare("src-b", RecordBatch, `1`), bare("src-a", Checkpoint, `1`)}
	again := []QueuedItem{bare("src-a", Checkpoint, `2`)}
	for _, call := range [][]QueuedItem{first, first, again, again, first} {
		o.mustEnqueue(t, c.t, call...)
	}
	// The second source's batch is still its newest in the last call.
	for source, want := range map[string]int64{"src-a": 5, "src-b": 1} {
		if c, err := o.Counts(t.Context(), source, c.t); err != nil || c.Pending != want {
			t.Errorf("%d items of %s, %v, want %d", c.Pending, source, err, want)
		}
	}
	if first[0].ID != "" {
		t.Error("the caller's items were changed")
	}
}
