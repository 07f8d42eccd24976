package connectortest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
	"github.com/pdpp-go/pdpp/providersim"
)

// StoredRecords reads every record of a stream, tombstones included, by key.
func StoredRecords(ctx context.Context, st store.Store, stream string) (map[string]store.StoredRecord, error) {
	out := map[string]store.StoredRecord{}
	var after int64
	for {
		page, err := st.Changes(ctx,
			store.RecordQuery{AccessFilter: store.AccessFilter{ConnectionID: Connection, Stream: stream}, AfterSeq: after,
				Limit: 1000})
		if err != nil {
			return nil, fmt.Errorf("read stream %s: %w", stream, err)
		}
		for _, r := range page {
			if _, twice := out[r.Key]; twice {
				return nil, fmt.Errorf("stream %s gives key %s twice", stream, r.Key)
			}
			out[r.Key] = r
			after = r.Seq
		}
		if len(page) == 0 {
			return out, nil
		}
	}
}

// Difference is one way in which the store and the provider disagree.
type Difference struct {
	Stream, Key string
	What        string
	// Lost means that something exists which is neither stored nor declared
	// missing. After an interrupted run that is merely work left to do.
	Lost bool
}

func (d Difference) String() string { return d.Stream + " " + d.Key + ": " + d.What }

// Compare holds the provider's ground truth against what is stored and what is
// declared missing, and describes every difference.
func (b *Harness) Compare(ctx context.Context) ([]Difference, error) {
	gaps, err := b.Store.ListGaps(ctx, store.GapQuery{ConnectionID: Connection, Limit: 1 << 20})
	if err != nil {
		return nil, err
	}
	truth := b.Sim.Provider.Truth()
	missing := b.declaredMissing(gaps, truth)
	unread, err := b.unreadRecords(ctx, gaps)
	if err != nil {
		return nil, err
	}
	without := map[string]bool{} // items with details that are declared missing
	for _, g := range gaps {
		if lane := b.Target.Lane; lane != nil && g.Stream == lane.Detail && g.Status != protocol.GapRecovered {
			without[g.RecordKey] = true
		}
	}
	var diff []Difference
	for stream := range truth {
		stored, err := StoredRecords(ctx, b.Store, stream)
		if err != nil {
			return nil, err
		}
		for key, item := range truth[stream] {
			rec, have := stored[key]
			what, lost := "", false
			switch {
			case item.Deleted && have && !rec.Deleted:
				what, lost = "deleted at the provider, still stored", true
			case item.Deleted, missing(stream, key, item.Data):
			case !have && unread(stream, item.Data):
			case !have:
				what, lost = "neither stored nor declared missing", true
			case rec.Deleted:
				what, lost = "exists, stored as deleted", true
			default:
				want, got := []byte(item.Data), []byte(rec.Data)
				if lane := b.Target.Lane; lane != nil && stream == lane.List && without[key] {
					want, got = removeMembers(want, lane.Completed), removeMembers(got, lane.Completed)
				}
				same, err := b.recordsEqual(stream, key, want, got)
				if err != nil {
					return nil, err
				}
				if !same {
					what, lost = "stored content is not the provider's", true
				}
				if wrong, err := b.compareFile(ctx, item.Data, rec.ID); err != nil {
					return nil, err
				} else if wrong != "" {
					what, lost = wrong, true
				}
			}
			if what != "" {
				diff = append(diff, Difference{stream, key, what, lost})
			}
		}
		for key, rec := range stored {
			if _, real := truth[stream][key]; !real && !rec.Deleted {
				diff = append(diff, Difference{stream, key, "invented: the provider has no such item", false})
			}
		}
	}
	slices.SortFunc(diff, func(x, y Difference) int { return strings.Compare(x.String(), y.String()) })
	return diff, nil
}

// compareFile compares the file of a record with its ground truth, byte by byte; empty
// when it is right, or when the truth knows of none.
func (b *Harness) compareFile(ctx context.Context, truth []byte, recordID int64) (wrong string, err error) {
	var want struct {
		Ref *struct {
			SHA256 string `json:"sha256"`
			Bytes  int64  `json:"size_bytes"`
		} `json:"blob_ref"`
	}
	if json.Unmarshal(truth, &want) != nil || want.Ref == nil {
		return "", nil // the record has no file
	}
	files, err := b.Store.RecordBlobs(ctx, []int64{recordID})
	if err != nil {
		return "", err
	}
	if all := files[recordID]; len(all) != 1 || all[0].SHA256 != want.Ref.SHA256 || all[0].Bytes != want.Ref.Bytes {
		return fmt.Sprintf("refers to %d files, or to another one", len(all)), nil
	}
	f, err := b.Files.Open(ctx, want.Ref.SHA256)
	if err != nil {
		return "its file: " + err.Error(), nil
	}
	defer f.Close()
	sum := sha256.New()
	if n, err := io.Copy(sum, f); err != nil || n != want.Ref.Bytes ||
		hex.EncodeToString(sum.Sum(nil)) != want.Ref.SHA256 {
		return fmt.Sprintf("its file has %d bytes, or others: %v", n, err), nil
	}
	return "", nil
}

// removeMembers takes members out of an object.
func removeMembers(data []byte, members []string) []byte {
	var object map[string]json.RawMessage
	if len(members) == 0 || json.Unmarshal(data, &object) != nil {
		return data
	}
	for _, name := range members {
		delete(object, name)
	}
	out, err := json.Marshal(object)
	if err != nil {
		return data
	}
	return out
}

// Verify fails the test on any difference from the ground truth.
func (b *Harness) Verify(t *testing.T) {
	t.Helper()
	b.reportDifferences(t, func(Difference) bool { return true })
}

// VerifyNothingInvented is Verify in the middle of the work: what is stored
// must be real, and what is not stored yet may follow.
func (b *Harness) VerifyNothingInvented(t *testing.T) {
	t.Helper()
	b.reportDifferences(t, func(d Difference) bool { return !d.Lost })
}

func (b *Harness) reportDifferences(t *testing.T, counts func(Difference) bool) {
	t.Helper()
	diff, err := b.Compare(t.Context())
	if err != nil {
		t.Fatalf("compare with ground truth: %v", err)
	}
	var lines []string
	for _, d := range diff {
		if counts(d) {
			lines = append(lines, d.String())
		}
	}
	if len(lines) > 0 {
		t.Fatalf("%d differences from ground truth:\n%s", len(lines), strings.Join(lines[:min(len(lines), 12)], "\n"))
	}
}

// VerifyComplete is Verify, and nothing may be declared missing.
func (b *Harness) VerifyComplete(t *testing.T) {
	t.Helper()
	if open := b.Gaps(t, protocol.GapPending); len(open) > 0 {
		t.Fatalf("%d gaps are still pending, the first: %s %s %s", len(open), open[0].Stream, open[0].RecordKey,
			open[0].Reason)
	}
	b.Verify(t)
}

func (b *Harness) recordsEqual(stream, key string, truth, stored []byte) (bool, error) {
	if b.Target.Stored != nil {
		mapped, err := b.Target.Stored(stream, key, truth)
		if err != nil {
			return false, fmt.Errorf("map %s %s: %w", stream, key, err)
		}
		truth = mapped
	}
	var want, got any
	if err := json.Unmarshal(truth, &want); err != nil {
		return false, fmt.Errorf("ground truth of %s %s: %w", stream, key, err)
	}
	if err := json.Unmarshal(stored, &got); err != nil {
		return false, fmt.Errorf("stored %s %s: %w", stream, key, err)
	}
	return reflect.DeepEqual(want, got), nil
}

// declaredMissing returns which detail records an open gap represents: those of
// the item it names, or of every item in a backlog's window. A terminal gap is
// a declaration too: the provider refuses the item.
func (b *Harness) declaredMissing(gaps []store.Gap, truth providersim.Truth) func(stream, key string,
	data json.RawMessage) bool {
	lane := b.Target.Lane
	if lane == nil {
		return func(string, string, json.RawMessage) bool { return false }
	}
	items := map[string]bool{}
	var windows []gapWindow
	for _, g := range gaps {
		if g.Status == protocol.GapRecovered || g.Stream != lane.Detail {
			continue
		}
		items[g.RecordKey] = true
		if w, ok := windowOfGap(g); ok {
			windows = append(windows, w)
		}
	}
	listed := truth[lane.List]
	return func(stream, key string, data json.RawMessage) bool {
		item := key
		detail := stream == lane.Detail || slices.Contains(lane.Along, stream)
		switch {
		case detail:
			item = lane.Item(data)
		case stream == lane.List: // a list record of the un-walked remainder is missing with it
		default:
			return false
		}
		at := parseTimeField(listed[item].Data, lane.TimeField)
		inWindow := slices.ContainsFunc(windows, func(w gapWindow) bool { return w.containsTime(at) })
		return inWindow || detail && items[item]
	}
}

// unreadRecords returns which records of a list that was cut short may still be missing. A
// detail of a listed item may not.
func (b *Harness) unreadRecords(ctx context.Context, gaps []store.Gap) (
	func(stream string, data json.RawMessage) bool, error,
) {
	cut := map[string]bool{}
	for _, g := range gaps {
		if IsCutListGap(g) && g.Status == protocol.GapPending {
			if isPartGap(g) {
				cut[g.Stream] = true
				continue
			}
			cut[strings.TrimSuffix(strings.TrimPrefix(g.RecordKey, "__"), "_list__")] = true
		}
	}
	lane := b.Target.Lane
	if lane != nil {
		for _, along := range lane.Along {
			cut[along] = cut[along] || cut[lane.Detail]
		}
	}
	if lane == nil || !cut[lane.List] {
		return func(stream string, _ json.RawMessage) bool { return cut[stream] }, nil
	}
	listed, err := StoredRecords(ctx, b.Store, lane.List)
	return func(stream string, data json.RawMessage) bool {
		if stream != lane.Detail && !slices.Contains(lane.Along, stream) || cut[stream] {
			return cut[stream]
		}
		_, have := listed[lane.Item(data)]
		return !have
	}, err
}

// gapWindow is the window of a backlog gap, inclusive at both ends.
type gapWindow struct{ before, floor time.Time }

func (s gapWindow) containsTime(t time.Time) bool {
	return !t.IsZero() && !t.After(s.before) && !t.Before(s.floor)
}

func windowOfGap(g store.Gap) (gapWindow, bool) {
	var loc struct {
		Kind   string    `json:"kind"`
		Before time.Time `json:"before"`
		Floor  time.Time `json:"floor"`
	}
	if len(g.Locator) == 0 || json.Unmarshal(g.Locator, &loc) != nil || !strings.HasSuffix(loc.Kind, "_backlog") {
		return gapWindow{}, false
	}
	return gapWindow{loc.Before, loc.Floor}, true
}

func parseTimeField(data json.RawMessage, field string) time.Time {
	var m map[string]json.RawMessage
	var text string
	if json.Unmarshal(data, &m) != nil || json.Unmarshal(m[field], &text) != nil {
		return time.Time{} // an item without a readable time is in no window
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		at, _ = time.Parse(time.DateOnly, text)
	}
	return at
}
