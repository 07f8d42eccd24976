package outbox

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestTheQueueBehavesAsItsModel does the same to the model and to two handles
// on one file, as two processes would have them.
//
//pdpp:tier unraced
func TestTheQueueBehavesAsItsModel(t *testing.T) {
	dir, serial := t.TempDir(), 0
	rapid.Check(t, func(t *rapid.T) {
		serial++
		path := filepath.Join(dir, fmt.Sprintf("%d.sqlite", serial))
		b := &bench{m: &model{now: noon}, path: path}
		b.boxes = []*Outbox{reopen(t, path), reopen(t, path)}
		defer func() {
			for _, o := range b.boxes {
				o.Close()
			}
		}()
		t.Repeat(map[string]func(*rapid.T){
			"enqueue": b.enqueue, "claim": b.claim, "settle": b.settle, "release": b.release,
			"requeue": b.requeue, "prune": b.prune, "wait": b.wait, "reopen": b.reopen, "": b.compare,
		})
	})
}

func reopen(t *rapid.T, path string) *Outbox {
	o, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// bench holds the model beside the real thing.
type bench struct {
	m     *model
	path  string
	boxes []*Outbox
	held  []QueuedItem // everything that was ever claimed
}

var sources = []string{"src-a", "src-b"}

func (b *bench) box(t *rapid.T) *Outbox { return rapid.SampledFrom(b.boxes).Draw(t, "process") }

func (b *bench) enqueue(t *rapid.T) {
	items := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) QueuedItem {
		return QueuedItem{
			ID:               fmt.Sprint(IDPrefix, rapid.IntRange(1, 30).Draw(t, "id")),
			SourceInstanceID: rapid.SampledFrom(sources).Draw(t, "source"),
			Kind:             rapid.SampledFrom([]ItemKind{RecordBatch, RecordBatch, Checkpoint, Gap}).Draw(t, "kind"),
			Payload:          jsontext.Value(rapid.SampledFrom([]string{`1`, `1`, `1`, `2`}).Draw(t, "payload")),
		}.packed(rapid.SampledFrom([]string{"", "", "", "\x00\xff"}).Draw(t, "packed"))
	}), 1, 4).Draw(t, "items")
	got, want := b.box(t).Enqueue(t.Context(), items, b.m.now), b.m.enqueue(items)
	if !errors.Is(got, want) || (want == nil) != (got == nil) {
		t.Fatalf("enqueue: %v, want %v", got, want)
	}
}

// packed returns the item with packed content and a matching hash. Empty content leaves the item
// unchanged.
func (i QueuedItem) packed(content string) QueuedItem {
	if content != "" {
		i.Packed, i.BodyHash = []byte(content), "packed "+string(i.Payload)
	}
	return i
}

func (b *bench) claim(t *rapid.T) {
	holder, n := rapid.SampledFrom([]string{"one", "two"}).Draw(t, "holder"), rapid.IntRange(0, 4).Draw(t, "n")
	got, err := b.box(t).Claim(t.Context(), holder, n, time.Minute, b.m.now)
	if err != nil {
		t.Fatal(err)
	}
	want := b.m.claim(holder, n, time.Minute)
	if len(got) != len(want) {
		t.Fatalf("claimed %d items, want %d", len(got), len(want))
	}
	for k, w := range want {
		g := got[k]
		if g.ID != w.id || string(g.Payload)+string(g.Packed) != w.payload || g.Kind != w.kind ||
			g.SourceInstanceID != w.source || g.Attempts != w.attempts ||
			g.LastError != w.cause || !g.CreatedAt.Equal(w.created) || g.Lease != (Lease{holder, w.epoch, w.until}) {
			t.Fatalf("claimed %+v, want %+v", g, *w)
		}
	}
	b.held = append(b.held, got...)
}

func (b *bench) settle(t *rapid.T) {
	if len(b.held) == 0 {
		return
	}
	i := b.held[max(0, len(b.held)-1-rapid.IntRange(0, 5).Draw(t, "back"))]
	o, ctx, now := b.box(t), t.Context(), b.m.now
	var got, want error
	switch how := rapid.SampledFrom([]string{"ack", "ack", "retry", "dead"}).Draw(t, "how"); how {
	case "ack":
		got = o.Ack(ctx, "", now, i)
		want = b.m.settle(i, func(i *modelItem) { i.status, i.cause = "succeeded", "" })
	case "retry":
		next := now.Add(time.Duration(rapid.IntRange(0, 60).Draw(t, "backoff")) * time.Second)
		got = o.Retry(ctx, "http_503", next, now, i)
		want = b.m.settle(i, func(i *modelItem) { i.status, i.cause, i.due = "ready", "http_503", next })
	case "dead":
		got = o.DeadLetter(ctx, "http_400", now, i)
		want = b.m.settle(i, func(i *modelItem) { i.status, i.cause, i.attempts = "dead_letter", "http_400", i.attempts+1 })
	}
	if !errors.Is(got, want) || (want == nil) != (got == nil) {
		t.Fatalf("settle: %v, want %v", got, want)
	}
}

func (b *bench) release(t *rapid.T) {
	got, err := b.box(t).Release(t.Context(), b.m.now, b.m.now)
	want := 0
	for _, i := range b.m.items {
		if i.status == "leased" && !b.m.now.Before(i.until) {
			i.status = "ready"
			want++
		}
	}
	if err != nil || got != want {
		t.Fatalf("released %d, %v, want %d", got, err, want)
	}
}

func (b *bench) requeue(t *rapid.T) {
	source := rapid.SampledFrom(sources).Draw(t, "source")
	got, err := b.box(t).RequeueDeadLetters(t.Context(), source, b.m.now)
	want := 0
	for _, i := range b.m.items {
		if i.status == "dead_letter" && i.source == source {
			i.status, i.attempts, i.cause, i.due = "ready", 0, "", b.m.now
			want++
		}
	}
	if err != nil || got != want {
		t.Fatalf("requeued %d, %v, want %d", got, err, want)
	}
}

func (b *bench) prune(t *rapid.T) {
	keep := rapid.IntRange(1, 5).Draw(t, "keep")
	if err := b.box(t).Prune(t.Context(), keep); err != nil {
		t.Fatal(err)
	}
	b.m.prune(keep)
}

func (b *bench) wait(t *rapid.T) {
	b.m.now = b.m.now.Add(time.Duration(rapid.SampledFrom([]int{1, 20, 60, 300}).Draw(t, "seconds")) * time.Second)
}

func (b *bench) reopen(t *rapid.T) {
	n := rapid.IntRange(0, len(b.boxes)-1).Draw(t, "process")
	if err := b.boxes[n].Close(); err != nil {
		t.Fatal(err)
	}
	b.boxes[n] = reopen(t, b.path)
}

// compare looks at one source, from either process; the draws cover them all.
func (b *bench) compare(t *rapid.T) {
	o, source := b.box(t), rapid.SampledFrom([]string{"", "src-a", "src-b", "src-none"}).Draw(t, "source")
	want := b.m.counts(source)
	got, err := o.Counts(t.Context(), source, b.m.now)
	if diff := gocmp.Diff(want, got); err != nil || diff != "" {
		t.Fatalf("counts of %q: %v\n%s", source, err, diff)
	}
	if n, err := o.Size(t.Context()); err != nil || n != b.m.size() {
		t.Fatalf("%d bytes, %v, want %d", n, err, b.m.size())
	}
	dead, err := o.DeadLetters(t.Context(), source)
	if err != nil || int64(len(dead)) != want.DeadLetter ||
		!slices.IsSortedFunc(dead, func(a, b QueuedItem) int { return cmp.Compare(a.Seq, b.Seq) }) {
		t.Fatalf("dead letters of %q: %q, %v, want %d", source, names(dead), err, want.DeadLetter)
	}
}
