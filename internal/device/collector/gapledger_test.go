package collector

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/device/wire"
	"github.com/pdpp-go/pdpp/internal/slice"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func gapOf(key string) slice.Gap {
	return slice.Gap{Stream: "details", ParentStream: "notes", RecordKey: key, Reason: "rate_limited", Retryable: true,
		Locator: jsontext.Value(`{"k":1}`)}
}

func reopened(t testing.TB, queue string) *gapLedger {
	t.Helper()
	l, err := openLedger(queue)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.close() })
	return l
}

//pdpp:tier unraced
func TestLedgerSurvivesATornWrite(t *testing.T) {
	queue := filepath.Join(t.TempDir(), "q")
	l := reopened(t, queue)
	if err := l.open([]slice.Gap{gapOf("a"), gapOf("b")}); err != nil {
		t.Fatal(err)
	}
	body, err := os.ReadFile(queue + ledgerExt)
	if err != nil {
		t.Fatal(err)
	}
	for cut := range body {
		if err := os.WriteFile(queue+ledgerExt, body[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		again := reopened(t, queue)
		if err := again.open([]slice.Gap{gapOf("c")}); err != nil {
			t.Fatal(err)
		}
		if got := reopened(t, queue).accounted("details", "notes", []string{"c"}); !got["c"] {
			t.Fatalf("cut at %d: a gap written after the torn line is lost", cut)
		}
	}
}

func TestDamagedLedgerIsAnError(t *testing.T) {
	queue := filepath.Join(t.TempDir(), "q")
	if err := os.WriteFile(queue+ledgerExt, []byte("{\"put\":{\"id\":\"g\"}}\nrubbish\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openLedger(queue); err == nil {
		t.Error("a damaged list of gaps passes for a shorter one")
	}
}

// TestLedgerLines compares what is written, read and rewritten as a whole.
func TestLedgerLines(t *testing.T) {
	queue := filepath.Join(t.TempDir(), "q")
	l := reopened(t, queue)
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	known := gapOf("a")
	if err := l.open([]slice.Gap{known}); err != nil {
		t.Fatal(err)
	}
	listed := slice.Gap{Stream: "details", Locator: jsontext.Value(`{"page":2}`), Reason: "timeout"}
	if err := l.adopt([]wire.LeasedGap{
		{GapID: "srv_1", GapIdentity: wire.GapIdentity{Stream: "details", ParentStream: "notes", RecordKey: "a"},
			Reason: "x"},
		{GapID: "srv_2", GapIdentity: wire.GapIdentity{Stream: "details", ParentStream: "notes", Locator: listed.Locator},
			Reason: "timeout"},
	}); err != nil {
		t.Fatal(err)
	}
	failing := true
	if err := l.write([]ledgerLine{{Failing: &failing}, {Wait: &wait{"p", now.Add(2)}}, {Wait: &wait{"p", now.Add(1)}},
		{Wait: &wait{"q", now.Add(1)}}, {Attempt: gapID(known)}, {Attempt: "unknown"}}); err != nil {
		t.Fatal(err)
	}
	check := func(l *gapLedger) {
		t.Helper()
		listed.ParentStream = "notes"
		got := []wire.GapIdentity{l.identity(gapID(known)), l.identity(gapID(listed)), l.identity("unknown")}
		want := []wire.GapIdentity{{Stream: "details", ParentStream: "notes", RecordKey: "a", Locator: known.Locator},
			{Stream: "details", ParentStream: "notes", Locator: listed.Locator}, {}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		for at, until := range map[time.Time]time.Time{now: now.Add(2), now.Add(1): now.Add(2), now.Add(2): {}} {
			if got, waiting := l.waitInForce(at); !got.Equal(until) || waiting == until.IsZero() {
				t.Errorf("at %v the wait ends at %v (%v), want %v", at, got, waiting, until)
			}
		}
		if len(l.gaps) != 2 || !l.failing || l.gaps[gapID(known)].Attempts != 1 || l.gaps[gapID(listed)].Attempts != 0 ||
			!l.gaps[gapID(listed)].Retryable || l.gaps[gapID(listed)].Reason != "timeout" {
			t.Errorf("gaps %+v, failing %v", l.gaps, l.failing)
		}
	}
	check(l)
	check(reopened(t, queue))
	if err := l.rewrite(queue + ledgerExt); err != nil {
		t.Fatal(err)
	}
	check(reopened(t, queue))
	for lines, spent := range map[int]bool{ledgerSlack + 4: false, ledgerSlack + 5: true} {
		body, err := encodeLines(slices.Concat([]ledgerLine{{Put: l.gaps[gapID(known)]}, {Put: l.gaps[gapID(listed)]}},
			slices.Repeat([]ledgerLine{{Attempt: "unknown"}}, lines-2)))
		if err != nil || os.WriteFile(queue+ledgerExt, body, 0o600) != nil {
			t.Fatal(err)
		}
		if _, got, err := readLedger(queue); got != spent || err != nil {
			t.Errorf("%d lines for two gaps: spent %v, %v", lines, got, err)
		}
	}
}

func TestLeastTriedGapsComeFirst(t *testing.T) {
	l := reopened(t, filepath.Join(t.TempDir(), "q"))
	if err := l.open([]slice.Gap{gapOf("a"), gapOf("b"), gapOf("c"),
		{Stream: "details", RecordKey: "gone", Reason: "gone"}}); err != nil {
		t.Fatal(err)
	}
	first := l.lease([]string{"details"}, 2)
	if len(first) != 2 || first[0].RecordKey != "a" || len(l.lease([]string{"notes"}, 9)) != 0 {
		t.Fatalf("leased %+v", first)
	}
	if err := l.settle([]slice.GapRef{{GapID: first[0].GapID}, {GapID: first[1].GapID}}, nil); err != nil {
		t.Fatal(err)
	}
	if rest := l.lease([]string{"details"}, 9); len(rest) != 1 || rest[0].RecordKey != "c" {
		t.Errorf("a gap is served twice, or one that cannot be retried: %+v", rest)
	}
	if err := (&sink{ledger: l}).ReleaseGaps(t.Context(), []string{first[1].GapID}); err != nil {
		t.Fatal(err)
	}
	if again := l.lease([]string{"details"}, 9); len(again) != 1 || again[0].RecordKey != "b" {
		t.Errorf("a gap that was released is not served again: %+v", again)
	}
	l.served = map[string]bool{}
	var order []string
	for _, g := range l.lease([]string{"details"}, 9) {
		order = append(order, string(g.RecordKey))
	}
	if !slices.Equal(order, []string{"c", "a", "b"}) {
		t.Errorf("the next run gets %v", order)
	}
}

// TestLedgerAgreesWithItsModel reopens the log after random changes.
//
//pdpp:tier unraced
func TestLedgerAgreesWithItsModel(t *testing.T) {
	queue := filepath.Join(t.TempDir(), "q")
	rapid.Check(t, func(rt *rapid.T) {
		_ = os.Remove(queue + ledgerExt)
		model := map[string]int{} // key: attempts
		for range rapid.IntRange(0, 12).Draw(rt, "steps") {
			l, err := openLedger(queue)
			if err != nil {
				rt.Fatal(err)
			}
			key := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "key")
			ref := []slice.GapRef{{GapID: gapID(gapOf(key))}}
			switch rapid.SampledFrom([]string{"open", "attempt", "recover"}).Draw(rt, "op") {
			case "open":
				err = l.open([]slice.Gap{gapOf(key)})
				model[key] += 0
			case "attempt":
				err = l.settle(ref, nil)
				if _, there := model[key]; there {
					model[key]++
				}
			case "recover":
				err = l.settle(nil, ref)
				delete(model, key)
			}
			if closeErr := l.close(); err != nil || closeErr != nil {
				rt.Fatal(err, closeErr)
			}
		}
		l, _, err := readLedger(queue)
		if err != nil || len(l.gaps) != len(model) {
			rt.Fatalf("%d gaps, want %d (%v)", len(l.gaps), len(model), err)
		}
		for key, attempts := range model {
			if g := l.gaps[gapID(gapOf(key))]; g == nil || g.Attempts != attempts {
				rt.Fatalf("gap %s is %+v, want %d attempts", key, g, attempts)
			}
		}
	})
}
