package runner

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pdpp-go/pdpp/protocol"
)

// short lists the coverage gaps of a run as "stream reason count".
func short(o Outcome) []KnownGap {
	var out []KnownGap
	for _, g := range o.KnownGaps {
		if g.Kind == protocol.KnownDetailCoverage {
			out = append(out, KnownGap{Stream: g.Stream, Reason: g.Reason, Count: g.Count})
			if g.RecoveryHint.Action != protocol.RetryByRuntime {
				panic("a coverage gap is for the next run to close")
			}
		}
	}
	return out
}

// A lane is threads with their messages; k1 and k2 are listed. Each case describes what became of them and whether the
// parent's cursor may move.
func TestAnchorMovesOnlyWithAccountedKeys(t *testing.T) {
	moved := `threads={"n":1}`
	incomplete := []KnownGap{{Stream: "threads", Reason: "detail_coverage_incomplete", Count: 1}}
	m1, m2 := rec("messages", "k1"), rec("messages", "k2")
	for name, c := range map[string]struct {
		earlier []lane // with gaps of k2 from an earlier run
		lines   []string
		want    []string
		short   []KnownGap
	}{
		"slice accounts for everything": {lines: []string{m1, m2, state("threads", 1, accounted("k1 k2", "", ""))},
			want: []string{"messages/k1 messages/k2 " + moved}},
		"slice with a policy skip": {lines: []string{m1, state("threads", 1, accounted("k1", "", "k2"))},
			want: []string{"messages/k1 " + moved}},
		"slice with a gap of its own": {lines: []string{m1, gapOf("messages", "threads", "k2"),
			state("threads", 1, accounted("k1", "k2", ""))},
			want: []string{"messages/k1 gap:messages/k2 " + moved}},
		"slice names a gap that is nowhere": {lines: []string{m1, state("threads", 1, accounted("k1", "k2", ""))},
			want: []string{"messages/k1"}, short: incomplete},
		"slice leans on an earlier gap": {earlier: []lane{{"messages", "threads"}},
			lines: []string{m1, state("threads", 1, accounted("k1", "k2", ""))}, want: []string{"messages/k1 " + moved}},
		"slice leans on another parent's gap": {earlier: []lane{{"messages", "folders"}},
			lines: []string{m1, state("threads", 1, accounted("k1", "k2", ""))}, want: []string{"messages/k1"},
			short: incomplete},
		"silent slice, complete lane": {lines: []string{m1, m2, state("threads", 1),
			coverage("messages", "threads", "", "k1 k2", "", "")},
			want: []string{"messages/k1 messages/k2", moved}},
		"silent slice, no lane": {lines: []string{m1, state("threads", 1)},
			want: []string{"messages/k1"}, short: []KnownGap{{Stream: "threads", Reason: "detail_coverage_missing"}}},
		"silent slice, declared skip": {lines: []string{m1, state("threads", 1), skip("messages", "scope_not_supported")},
			want: []string{"messages/k1", moved}},
		"lane with an open key": {lines: []string{m1, state("threads", 1),
			coverage("messages", "threads", "k2", "k1", "", "")},
			want: []string{"messages/k1"}, short: incomplete},
		"lane with a gap that is nowhere": {lines: []string{m1, state("threads", 1),
			coverage("messages", "threads", "", "k1", "k2", "")},
			want: []string{"messages/k1"}, short: incomplete},
		"lane with a durable gap": {lines: []string{m1, gapOf("messages", "threads", "k2"), state("threads", 1),
			coverage("messages", "threads", "", "k1", "k2", "")},
			want: []string{"messages/k1 gap:messages/k2", moved}},
		"lane leans on an earlier gap": {earlier: []lane{{"messages", "threads"}},
			lines: []string{m1, state("threads", 1), coverage("messages", "threads", "k2", "k1", "", "")},
			want:  []string{"messages/k1", moved}},
		"lane closes what a slice left open": {lines: []string{m1, state("threads", 1, accounted("k1", "k2", "")), m2,
			coverage("messages", "threads", "", "k1 k2", "", "")},
			want: []string{"messages/k1 messages/k2", moved}},
		"lane is silent on what a slice left open": {lines: []string{m1, state("threads", 1, accounted("k1", "k2", "")),
			coverage("messages", "threads", "", "k1", "", "")},
			want: []string{"messages/k1"}, short: incomplete},
	} {
		t.Run(name, func(t *testing.T) {
			t.Attr("spec", "PB-A07")
			d := newDialogue(t, "threads", "messages")
			for _, l := range c.earlier {
				d.account(l, "k2")
			}
			o := d.say(t, c.lines...)
			mustSucceed(t, o) // short or not
			committed(t, d, c.want...)
			if diff := cmp.Diff(c.short, short(o)); diff != "" {
				t.Errorf("known gaps (-want +got):\n%s", diff)
			}
			if withheld := len(o.Checkpoint.StreamsWithheld) > 0; withheld != (c.short != nil) {
				t.Errorf("checkpoint = %+v", o.Checkpoint)
			}
		})
	}
}

// A later cursor never passes a staged one, in either mode, because it covers the earlier keys too.
func TestNoCursorPassesOneThatWaits(t *testing.T) {
	for name, first := range map[string]string{"silent": state("threads", 1),
		"short": state("threads", 1, accounted("", "k9", ""))} {
		d := newDialogue(t, "threads", "messages")
		o := d.say(t, rec("threads", "t1"), first,
			rec("threads", "t2"), state("threads", 2, accounted("", "", "")),
			rec("threads", "t3"), state("threads", 3, catchUp, accounted("", "", "")))
		mustSucceed(t, o)
		committed(t, d, "threads/t1 threads/t2 threads/t3")
		if f := o.Facts.Streams[0]; f.Checkpoint != "withheld" {
			t.Errorf("%s: facts = %+v", name, f)
		}
	}
}

func TestShortLaneWithholdsItsOwnCursorAlone(t *testing.T) {
	t.Attr("spec", "PB-A07")
	d := newDialogue(t, "threads", "messages", "folders", "files", "albums", "photos", "notes")
	o := d.say(t,
		state("threads", 1), state("folders", 2), state("albums", 3), rec("notes", "n"), state("notes", 4),
		coverage("messages", "threads", "", "a", "", ""), coverage("files", "threads", "lost", "a", "", ""),
		coverage("files", "folders", "", "b", "", ""), coverage("photos", "albums", "", "", "", "c"))
	mustSucceed(t, o)
	committed(t, d, `notes/n notes={"n":4}`, `folders={"n":2} albums={"n":3}`)
	if diff := cmp.Diff([]string{"threads"}, o.Checkpoint.StreamsWithheld); diff != "" {
		t.Errorf("withheld (-want +got):\n%s", diff)
	}
	if o.Checkpoint.CommitStatus != CommitPartially {
		t.Errorf("commit status = %s", o.Checkpoint.CommitStatus)
	}
}

// Each lane of an anchor has to be closed, not just one of them.
func TestEveryLaneOfAnAnchorCounts(t *testing.T) {
	d := newDialogue(t, "threads", "messages", "files")
	mustSucceed(t, d.say(t, state("threads", 1), coverage("messages", "threads", "", "a", "", "")))
	committed(t, d)
	d = newDialogue(t, "threads", "messages", "files")
	mustSucceed(t, d.say(t, state("threads", 1), coverage("messages", "threads", "", "a", "", ""),
		coverage("files", "threads", "", "", "", "")))
	committed(t, d, `threads={"n":1}`)
}

// A gap need not name its parent where only one is possible: the only one that is
// declared or in scope, or any when none is declared.
func TestGapWithoutParentIsCredited(t *testing.T) {
	for name, c := range map[string]struct {
		anchor, detail string
		earlier        bool // the gap is of an earlier run
	}{
		"one parent declared":              {"threads", "messages", false},
		"several declared, one in scope":   {"threads", "files", false},
		"none declared":                    {"legacy", "archive", false},
		"none declared, of an earlier run": {"legacy", "archive", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Attr("spec", "PB-A07")
			d := newDialogue(t, c.anchor, c.detail)
			lines := []string{rec(c.detail, "k1"), gapOf(c.detail, "", "k2"), state(c.anchor, 1),
				coverage(c.detail, c.anchor, "", "k1", "k2", "")}
			want := []string{c.detail + "/k1 gap:" + c.detail + "/k2", c.anchor + `={"n":1}`}
			if c.earlier {
				d.account(lane{c.detail, ""}, "k2")
				lines, want[0] = slices.Delete(lines, 1, 2), c.detail+"/k1"
			}
			o := d.say(t, lines...)
			mustSucceed(t, o)
			committed(t, d, want...)
			if missing := short(o); missing != nil {
				t.Errorf("known gaps %+v", missing)
			}
		})
	}
}

func TestParentScopedGapsStayWithTheirParent(t *testing.T) {
	for parent, want := range map[string][]string{
		"folders": {"gap:files/k", `folders={"n":2}`},
		"threads": {"gap:files/k", `threads={"n":1}`},
	} {
		d := newDialogue(t, "threads", "folders", "files")
		mustSucceed(t, d.say(t, state("threads", 1), state("folders", 2), gapOf("files", parent, "k"),
			coverage("files", "threads", "", "", "k", ""), coverage("files", "folders", "", "", "k", "")))
		committed(t, d, want...)
	}
}

func TestRecoveredGapAccountsForItsKey(t *testing.T) {
	d := newDialogue(t, "threads", "messages")
	d.owe("k1")
	mustSucceed(t, d.play(t.Context(), func(c *connector) int {
		gap := c.start().DetailGaps[0]
		for _, l := range []string{attempted(gap), rec("messages", "k1"), recovered(gap),
			state("threads", 1), coverage("messages", "threads", "k1", "", "", "")} {
			c.line(l)
		}
		return c.done(protocol.DoneSucceeded)
	}))
	committed(t, d, "messages/k1 attempt:gap-k1 recovered:gap-k1", `threads={"n":1}`)
}

func TestCoverageIsEvidence(t *testing.T) {
	measured := `{"type":"DETAIL_COVERAGE","stream":"messages","state_stream":"threads","required_keys":["a"],` +
		`"hydrated_keys":["a"],"considered":7,"covered":5}`
	d := newDialogue(t, "threads", "messages")
	o := d.say(t, measured)
	mustSucceed(t, o)
	f := o.Facts.Streams[1]
	if f.Considered == nil || *f.Considered != 7 || f.Covered == nil || *f.Covered != 5 {
		t.Errorf("facts = %+v", f)
	}
	if f := o.Facts.Streams[0]; f.Considered != nil || f.Covered != nil {
		t.Errorf("what was not measured reads as measured: %+v", f)
	}
	d.spec.RecoveryOnly = true
	if o := d.say(t); o.Facts != nil {
		t.Errorf("a recovery-only run claims facts of the whole: %+v", o.Facts)
	}
}
