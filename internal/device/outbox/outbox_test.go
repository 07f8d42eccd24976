package outbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/device/wire"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// clock is a time that tests move.
type clock struct{ t time.Time }

func setup(t *testing.T) (*Outbox, *clock) {
	t.Helper()
	o, err := Open(t.Context(), filepath.Join(t.TempDir(), "queue", "notes.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.Close() })
	return o, &clock{noon}
}

func item(name string, kind ItemKind) QueuedItem {
	return QueuedItem{ID: IDPrefix + name, SourceInstanceID: "src-a", Kind: kind,
		Payload: jsontext.Value(fmt.Sprintf(`{"name":%q}`, name))}
}

func (o *Outbox) mustEnqueue(t *testing.T, now time.Time, items ...QueuedItem) {
	t.Helper()
	if err := o.Enqueue(t.Context(), items, now); err != nil {
		t.Fatal(err)
	}
}

func (o *Outbox) mustClaim(t *testing.T, n int, now time.Time) []QueuedItem {
	t.Helper()
	items, err := o.Claim(t.Context(), "me", n, time.Minute, now)
	if err != nil {
		t.Fatal(err)
	}
	return items
}

func names(items []QueuedItem) string {
	var all []string
	for _, i := range items {
		all = append(all, strings.TrimPrefix(i.ID, IDPrefix))
	}
	return strings.Join(all, " ")
}

func TestAnItemComesBackAsItWasEnqueued(t *testing.T) {
	o, c := setup(t)
	o.mustEnqueue(t, c.t, item("b1", RecordBatch))
	got := o.mustClaim(t, 5, c.t)
	if len(got) != 1 {
		t.Fatalf("claimed %d items, want 1", len(got))
	}
	want := item("b1", RecordBatch)
	i := got[0]
	hash, err := wire.Hash(want.Payload)
	if err != nil {
		t.Fatal(err)
	}
	if i.ID != want.ID || i.SourceInstanceID != "src-a" || i.Kind != RecordBatch ||
		string(i.Payload) != string(want.Payload) ||
		i.BodyHash != hash || i.Attempts != 0 || !i.CreatedAt.Equal(noon) || i.Seq <= 0 ||
		i.Lease.Holder != "me" || i.Lease.Epoch != 1 || !i.Lease.Until.Equal(noon.Add(time.Minute)) {
		t.Errorf("claimed %+v", i)
	}
}

func TestTheSameIDWithOtherContentIsAConflictAndKeepsNothingOfTheCall(t *testing.T) {
	o, c := setup(t)
	o.mustEnqueue(t, c.t, item("b1", RecordBatch))
	o.mustEnqueue(t, c.t, item("b1", RecordBatch)) // no-op
	hash, kind, source := item("b1", RecordBatch), item("b1", Gap), item("b1", RecordBatch)
	hash.Payload, source.SourceInstanceID = jsontext.Value(`{"other":1}`), "src-b"
	for _, other := range []QueuedItem{hash, kind, source} {
		err := o.Enqueue(t.Context(), []QueuedItem{item("new", RecordBatch), other}, c.t)
		if !errors.Is(err, ErrConflict) {
			t.Errorf("enqueue %+v: %v, want a conflict", other, err)
		}
	}
	if got := names(o.mustClaim(t, 9, c.t)); got != "b1" {
		t.Errorf("the queue holds %q, want b1 alone", got)
	}
}

func TestWhatIsNoItemIsRefused(t *testing.T) {
	o, c := setup(t)
	for name, spoil := range map[string]func(*QueuedItem){
		"kind": func(i *QueuedItem) { i.Kind = "blob" }, "source": func(i *QueuedItem) { i.SourceInstanceID = "" },
		"id": func(i *QueuedItem) { i.ID = "b1" }, "empty id": func(i *QueuedItem) { i.ID = IDPrefix },
		"payload":    func(i *QueuedItem) { i.Payload = jsontext.Value(`{`) },
		"no payload": func(i *QueuedItem) { i.Payload = nil },
	} {
		i := item("b1", RecordBatch)
		spoil(&i)
		if err := o.Enqueue(t.Context(), []QueuedItem{i}, c.t); err == nil {
			t.Errorf("%s: an item that is none was taken", name)
		}
	}
	if n, err := o.Size(t.Context()); err != nil || n != 0 {
		t.Errorf("%d bytes are in the queue, %v", n, err)
	}
}

func TestACheckpointWaitsForAllBeforeItAndForNoOtherSource(t *testing.T) {
	o, c := setup(t)
	other := item("other", RecordBatch)
	other.SourceInstanceID = "src-b"
	o.mustEnqueue(t, c.t, item("b1", RecordBatch), other, item("g1", Gap), item("c1", Checkpoint), item("b2", RecordBatch),
		item("c2", Checkpoint))
	ctx := t.Context()
	got := o.mustClaim(t, 9, c.t)
	if names(got) != "b1 other g1 c1 b2 c2" {
		t.Fatalf("first claim: %q", names(got))
	}
	check(t, o.Ack(ctx, "", c.t, got[0]), o.DeadLetter(ctx, "http_400", c.t, got[2]),
		o.Retry(ctx, "x", c.t, c.t, got[3], got[4], got[5]))
	if got := o.mustClaim(t, 9, c.t); names(got) != "b2" {
		t.Fatalf("past a dead letter: claimed %q", names(got))
	} else {
		check(t, o.Ack(ctx, "", c.t, got[0]))
	}
	n, err := o.RequeueDeadLetters(ctx, "src-a", c.t)
	if err != nil || n != 1 {
		t.Fatalf("requeued %d, %v", n, err)
	}
	if got := o.mustClaim(t, 1, c.t); names(got) != "g1" || names(o.mustClaim(t, 9, c.t)) != "" {
		t.Fatalf("while what it covers is claimed by another call: claimed %q", names(got))
	} else {
		check(t, o.Ack(ctx, "", c.t, got[0]))
	}
	if got := o.mustClaim(t, 9, c.t); names(got) != "c1 c2" {
		t.Fatalf("claimed %q", names(got))
	}
}

func check(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func TestOnlyTheCurrentLeaseSettles(t *testing.T) {
	o, c := setup(t)
	ctx := t.Context()
	settle := map[string]func(QueuedItem) error{
		"ack":    func(i QueuedItem) error { return o.Ack(ctx, "", c.t, i) },
		"retry":  func(i QueuedItem) error { return o.Retry(ctx, "http_503", c.t, c.t, i) },
		"dead":   func(i QueuedItem) error { return o.DeadLetter(ctx, "http_400", c.t, i) },
		"unmade": func(QueuedItem) error { return o.Ack(ctx, "", c.t, QueuedItem{ID: IDPrefix + "nothing"}) },
	}
	o.mustEnqueue(t, c.t, item("b1", RecordBatch))
	first := o.mustClaim(t, 1, c.t)[0]
	c.t = c.t.Add(time.Minute) // the very end of the lease is past it
	expect := func(i QueuedItem) {
		t.Helper()
		for name, f := range settle {
			if err := f(i); !errors.Is(err, ErrLeaseLost) {
				t.Errorf("%s with a lost lease: %v", name, err)
			}
		}
	}
	expect(first)
	if n, err := o.Release(ctx, c.t, c.t); err != nil || n != 1 {
		t.Fatalf("released %d, %v", n, err)
	}
	expect(first)
	second := o.mustClaim(t, 1, c.t)[0]
	expect(first)
	thief := second
	thief.Lease.Holder = "thief"
	expect(thief)
	check(t, o.Ack(ctx, "", c.t, second))
	expect(second)
}

func TestACauseThatIsNoCodeIsNotKept(t *testing.T) {
	o, c := setup(t)
	causes := []string{"http_503", "", "Dear Ms. Calder", strings.Repeat("a", 65), "zeile\n2"}
	for n, cause := range causes {
		o.mustEnqueue(t, c.t, item(fmt.Sprint("b", n), RecordBatch))
		check(t, o.DeadLetter(t.Context(), cause, c.t, o.mustClaim(t, 1, c.t)[0]))
	}
	dead, err := o.DeadLetters(t.Context(), "src-a")
	if err != nil {
		t.Fatal(err)
	}
	var kept []string
	for _, d := range dead {
		kept = append(kept, d.LastError)
		if len(d.Payload) > 0 || d.Attempts != 1 {
			t.Errorf("listed %+v", d)
		}
	}
	if want := []string{"http_503", "unspecified", "unspecified", "unspecified", "unspecified"}; !slices.Equal(kept,
		want) {
		t.Errorf("kept %q, want %q", kept, want)
	}
}

func TestAnAcknowledgedPayloadIsGoneFromTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes.sqlite")
	o, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	i := item("b1", RecordBatch)
	i.Payload = jsontext.Value(`"` + strings.Repeat("the letter to Ines Calder ", 400) + `"`)
	i.Packed, i.BodyHash = []byte(i.Payload), "hash"
	now := time.Now()
	o.mustEnqueue(t, now, i)
	check(t, o.Ack(t.Context(), "", now, o.mustClaim(t, 1, now)[0]), o.Close())
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(raw), "Ines Calder") {
		t.Error("the file still holds what was uploaded")
	}
}

func TestPruneKeepsTheNewestAcknowledged(t *testing.T) {
	o, c := setup(t)
	ctx := context.Background()
	for n := range 6 {
		o.mustEnqueue(t, c.t, item(fmt.Sprint("b", n), RecordBatch))
	}
	for n, i := range o.mustClaim(t, 6, c.t) {
		if n != 1 {
			check(t, o.Ack(ctx, "", c.t, i))
		}
	}
	for _, step := range []struct{ keep, succeeded int }{{0, 5}, {2, 2}, {2, 2}} {
		check(t, o.Prune(ctx, step.keep))
		counts, err := o.Counts(ctx, "src-a", c.t)
		if err != nil || counts.Succeeded != int64(step.succeeded) || counts.Leased != 1 {
			t.Fatalf("prune to %d: %+v, %v", step.keep, counts, err)
		}
	}
	o.mustEnqueue(t, c.t, item("b4", RecordBatch), item("b0", RecordBatch)) // b4 is still known, b0 is not
	if got := names(o.mustClaim(t, 9, c.t)); got != "b0" {
		t.Errorf("after pruning %q is new, want b0", got)
	}
}
