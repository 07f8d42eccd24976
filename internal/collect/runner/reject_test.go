package runner

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pdpp-go/pdpp/protocol"
)

// misfit returns a record with a key that differs from its data.
func misfit(stream, key string) string {
	return strings.Replace(rec(stream, key), `"id":"`+key+`"`, `"id":"another"`, 1)
}

func many(n int, line func(stream, key string) string, stream, prefix string) (out []string) {
	for i := range n {
		out = append(out, line(stream, fmt.Sprint(prefix, i)))
	}
	return out
}

// Only the invalid record is left out and declared missing: the records before and after it are stored, and the cursor
// moves.
func TestRecordIsRejectedAlone(t *testing.T) {
	d := newDialogue(t, "notes")
	lines := append(many(12, recOf, "notes", "n"), misfit("notes", "bad"), state("notes", 1))
	o := d.say(t, append(lines, rec("notes", "last"), state("notes", 2))...)
	mustSucceed(t, o)
	var stored []string
	for _, s := range d.slices {
		for _, r := range s.Records {
			stored = append(stored, r.Key)
		}
	}
	if len(stored) != 13 || strings.Contains(strings.Join(stored, " "), "bad") {
		t.Errorf("stored %v", stored)
	}
	gap := d.slices[0].Gaps[0]
	if gap.Stream != "notes" || gap.RecordKey != "bad" || gap.Reason != protocol.Reason(protocol.KeyMismatch) ||
		!gap.Retryable || !strings.Contains(string(gap.LastError), "data.id") {
		t.Errorf("gap %+v", gap)
	}
	if c := o.Checkpoint; c.RecordsAttempted != 14 || c.RecordsAccepted != 13 || c.RecordsRejected != 1 ||
		c.CommitStatus != CommitFull {
		t.Errorf("checkpoint %+v", c)
	}
	want := KnownGap{Kind: protocol.KnownDetailGap, Reason: string(protocol.KeyMismatch),
		Severity: protocol.SeverityRecoverable, Stream: "notes", Count: 1,
		Message:      protocol.OwnerCopy(protocol.Reason(protocol.KeyMismatch), ""),
		RecoveryHint: protocol.RecoveryHint{Action: protocol.RetryOnConnectorUpgrade}}
	if diff := cmp.Diff([]KnownGap{want}, o.KnownGaps); diff != "" {
		t.Errorf("known gaps (-want +got):\n%s", diff)
	}
	if s := o.Facts.Streams[0].Skipped; s == nil || s.RecoveryAction != protocol.RetryOnConnectorUpgrade ||
		o.Facts.Streams[0].Collected != 13 {
		t.Errorf("facts %+v", o.Facts.Streams[0])
	}
}

// mustReject demands that the run went on without the one record that it had.
func mustReject(t *testing.T, d *dialogue, o Outcome, rule protocol.Subtype) {
	t.Helper()
	mustSucceed(t, o)
	if len(d.slices) != 1 || len(d.slices[0].Records) != 0 || len(d.slices[0].Gaps) != 1 ||
		d.slices[0].Gaps[0].Reason != protocol.Reason(rule) {
		t.Errorf("committed %+v, want one gap for %s", d.slices, rule)
	}
}

func recOf(stream, key string) string { return rec(stream, key) }

// Too many of them end the stream and not the run: its cursor and those of its parents
// wait, nothing more of it is stored, and the other streams go on.
func TestTooManyRejectedEndTheStream(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		kept  int
		gaps  int
	}{
		"more than a hundred": {append(many(2000, recOf, "messages", "n"),
			append(many(101, misfit, "messages", "bad"), rec("messages", "late"))...), 2000, 100},
		"more than a tenth": {append(many(20, recOf, "messages", "n"),
			append(many(10, misfit, "messages", "bad"), rec("messages", "late"))...), 20, 9},
		"more than a tenth of a small stream": {[]string{rec("messages", "n"), misfit("messages", "bad"),
			rec("messages", "late")}, 2, 1},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDialogue(t, "threads", "messages", "notes")
			lines := append(c.lines, state("messages", 1), rec("threads", "t"), state("threads", 1, accounted("k", "", "")),
				rec("notes", "1"), state("notes", 7))
			o := d.say(t, lines...)
			mustSucceed(t, o)
			kept, gaps, cursors := 0, 0, []string{}
			for _, s := range d.slices {
				for _, r := range s.Records {
					if r.Stream == "messages" {
						kept++
					}
				}
				gaps += len(s.Gaps)
				for _, cur := range s.Cursors {
					cursors = append(cursors, cur.Stream)
				}
			}
			if kept != c.kept || gaps != c.gaps {
				t.Errorf("%d records and %d gaps, want %d and %d", kept, gaps, c.kept, c.gaps)
			}
			early := name == "more than a tenth of a small stream" // it shows only at the end: slices have moved
			if want := []string{"notes"}; !early && cmp.Diff(want, cursors) != "" {
				t.Errorf("cursors of %v moved", cursors)
			}
			last := o.KnownGaps[len(o.KnownGaps)-1]
			if last.Reason != string(protocol.ReasonTooManyRejected) || last.Stream != "messages" ||
				last.RecoveryHint.Action != protocol.RetryOnConnectorUpgrade {
				t.Errorf("known gaps %+v", o.KnownGaps)
			}
		})
	}
}

// A gap is not closed by a record that was rejected.
func TestRejectedRecordRecoversNothing(t *testing.T) {
	d := newDialogue(t, "threads", "messages")
	d.owe("k1")
	mustSucceed(t, d.play(t.Context(), func(c *connector) int {
		gap := c.start().DetailGaps[0]
		for _, l := range append(many(20, recOf, "messages", "n"), attempted(gap), misfit("messages", "k1"), recovered(gap)) {
			c.line(l)
		}
		return c.done(protocol.DoneSucceeded)
	}))
	for _, s := range d.slices {
		if len(s.Recovered) > 0 {
			t.Errorf("recovered %v", s.Recovered)
		}
	}
	if g := d.slices[len(d.slices)-1].Gaps; len(g) == 0 || g[len(g)-1].LeaseID != "page-1:gap-k1" ||
		g[len(g)-1].Reason != protocol.Reason(protocol.KeyMismatch) {
		t.Errorf("settled as %+v", g)
	}
}

// A connector that does not know gaps closes one by sending the record, unless it reports the detail missing in the
// same run.
func TestRecordClosesTheGapThatStandsForIt(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		want  []string
	}{
		"sent":     {[]string{rec("messages", "k1")}, []string{"messages/k1", "recovered:gap-k1"}},
		"not sent": {[]string{rec("messages", "k2")}, []string{"messages/k2"}},
		"sent and missed": {[]string{rec("messages", "k1"), gapOf("messages", "threads", "k1")},
			[]string{"messages/k1 gap:messages/k1"}},
		"sent and settled": {[]string{rec("messages", "k1"),
			`{"type":"DETAIL_GAP_RECOVERED","stream":"messages","gap_id":"gap-k1"}`}, []string{"messages/k1 recovered:gap-k1"}},
	} {
		d := newDialogue(t, "threads", "messages")
		d.owe("k1")
		mustSucceed(t, d.say(t, c.lines...))
		if got := strings.Join(d.log(), " "); got != strings.Join(c.want, " ") {
			t.Errorf("%s: committed %s, want %v", name, got, c.want)
		}
	}
}

// A foreign connector's records are held against the schema that it declares.
func TestSchemaIsHeldWhereItIsEnforced(t *testing.T) {
	for _, enforced := range []bool{true, false} {
		d := newDialogue(t, "notes")
		d.spec.Foreign = enforced
		o := d.say(t, append(many(12, recOf, "notes", "n"), rec("notes", "bad", `"title":7`), state("notes", 1))...)
		mustSucceed(t, o)
		if got := o.Checkpoint.RecordsRejected == 1; got != enforced {
			t.Errorf("enforced %t: checkpoint %+v", enforced, o.Checkpoint)
		}
		if gaps := d.slices[0].Gaps; enforced &&
			(len(gaps) != 1 || gaps[0].Reason != protocol.Reason(protocol.SchemaMismatch) ||
				!strings.Contains(string(gaps[0].LastError), "/properties/title/type")) {
			t.Errorf("gaps %+v", gaps)
		}
	}
}

// A foreign connector's record is stored under the key that it sends, whatever its manifest promises. Only an
// item that would replace another one under the same key is left out, and no number of them ends the stream.
func TestForeignKeysAreKept(t *testing.T) {
	keyed := func(key, id string) string {
		return strings.Replace(rec("notes", key), `"id":"`+key+`"`, `"id":"`+id+`"`, 1)
	}
	d := newDialogue(t, "notes")
	d.spec.Foreign = true
	lines := []string{keyed("k", "a"), keyed("k", "a"), keyed("m", "b"), rec("notes", "n")}
	for i := range 2 * maxRejected {
		lines = append(lines, keyed("k", fmt.Sprint("other", i)))
	}
	o := d.say(t, append(lines, state("notes", 1))...)
	mustSucceed(t, o)
	s := d.slices[0]
	if len(s.Records) != 4 || len(s.Gaps) != maxRejected || len(s.Cursors) != 1 ||
		s.Gaps[0].RecordKey != "k" || s.Gaps[0].Reason != protocol.Reason(protocol.KeyMismatch) {
		t.Errorf("%d records, %d gaps, cursors %v", len(s.Records), len(s.Gaps), s.Cursors)
	}
	if len(o.KnownGaps) != 1 || o.KnownGaps[0].Count != 2*maxRejected {
		t.Errorf("known gaps %+v", o.KnownGaps)
	}
	var notes []string
	for _, e := range append(s.Events, o.Events...) {
		if e.Type == "run.progress_reported" {
			notes = append(notes, e.Stream+string(e.Data))
		}
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "3 items are stored under the key that the connector sent") ||
		!strings.Contains(notes[0], "value of id") {
		t.Errorf("notes %q", notes)
	}
}
