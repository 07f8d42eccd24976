package runner

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pdpp-go/pdpp/protocol"
)

// shelved makes the dialogue's store hold the keys.
func (d *dialogue) shelved(keys ...string) {
	slices.Sort(keys)
	d.spec.StoredKeys = func(_ context.Context, _, since, after string, limit int) ([]string, error) {
		if since == "2026-03-01T00:00:00.000000Z" {
			return []string{"young"}, nil
		}
		from, found := slices.BinarySearch(keys, after)
		if found {
			from++
		}
		return keys[from:min(len(keys), from+limit)], nil
	}
}

// end asks for what is missing, to the last page.
func (c *connector) end(stream, since string) (status protocol.WalkStatus, keys []string) {
	for {
		c.send(&protocol.Walk{Stream: stream, Phase: protocol.WalkEnd, RequestID: "w", Since: since})
		m, heard := c.hear().(*protocol.WalkMissing)
		if !heard {
			return "", keys
		}
		if keys = append(keys, m.Keys...); !m.More {
			return m.Status, keys
		}
	}
}

func manyKeys(n int) (keys []string) {
	for i := range n {
		keys = append(keys, fmt.Sprintf("k%05d", i))
	}
	return keys
}

// TestWalkIsCompared shows which stored keys a walk did not meet, and that none is returned without proof.
func TestWalkIsCompared(t *testing.T) {
	present := func(keys ...string) string {
		line, err := protocol.AppendLine(nil, &protocol.Walk{Stream: "notes", Phase: protocol.WalkPresent, Keys: keys})
		if err != nil {
			t.Fatal(err)
		}
		return string(line[:len(line)-1])
	}
	const (
		begin = `{"type":"WALK","stream":"notes","phase":"begin"}`
		sent  = `{"type":"RECORD","stream":"notes","key":"a","data":{"id":"a"},"emitted_at":"2026-03-01"}`
		gone  = `{"type":"RECORD","stream":"notes","key":"b","op":"delete"}`
		gap   = `{"type":"DETAIL_GAP","stream":"notes","record_key":"c","reason":"rate_limited","retryable":true}`
	)
	for name, c := range map[string]struct {
		stored []string
		say    []string
		since  string
		adjust func(*Spec)
		want   protocol.WalkStatus
		keys   []string
		kept   int64
	}{
		"records, deletions and gaps are met": {stored: []string{"a", "b", "c", "d"}, say: []string{begin, sent, gone, gap},
			want: protocol.WalkCompared, keys: []string{"d"}},
		"what was sent before does not count": {stored: []string{"a", "b"}, say: []string{sent, begin, present("b")},
			want: protocol.WalkCompared, keys: []string{"a"}},
		"a second walk forgets the first": {stored: []string{"a", "b"},
			say: []string{begin, present("a"), begin, present("b")}, want: protocol.WalkCompared, keys: []string{"a"}},
		"nearly all of a large stream": {stored: manyKeys(12_000), say: []string{begin, present(manyKeys(1000)...)},
			want: protocol.WalkRefused, kept: 11_000},
		"half of a large stream is believed": {stored: manyKeys(2000), say: []string{begin, present(manyKeys(1000)...)},
			want: protocol.WalkCompared, keys: manyKeys(2000)[1000:]},
		"more than half is not": {stored: manyKeys(1999), say: []string{begin, present(manyKeys(999)...)},
			want: protocol.WalkRefused, kept: 1000},
		"a few are believed always": {stored: manyKeys(20), say: []string{begin}, want: protocol.WalkCompared,
			keys: manyKeys(20)},
		"a part of the source": {stored: []string{"a"}, say: []string{begin}, since: "2026-03-01",
			want: protocol.WalkCompared, keys: []string{"young"}},
		"something left out": {stored: []string{"a"},
			say:  []string{begin, `{"type":"SKIP_RESULT","stream":"notes","reason":"schema_mismatch"}`},
			want: protocol.WalkUnproven},
		"something of any stream left out": {stored: []string{"a"},
			say: []string{begin, `{"type":"SKIP_RESULT","reason":"broken"}`}, want: protocol.WalkUnproven},
		"a gap without a key": {stored: []string{"a"},
			say: []string{begin, `{"type":"DETAIL_GAP","stream":"notes","detail_locator":{"p":1},"reason":"rate_limited",` +
				`"retryable":true}`},
			want: protocol.WalkUnproven},
		"single records are asked for": {stored: []string{"a", "d"}, say: []string{begin, sent}, want: protocol.WalkUnproven,
			adjust: func(s *Spec) { s.Scope[0].Resources = []string{"a"} }},
		"a time range": {stored: []string{"d"}, say: []string{begin}, want: protocol.WalkUnproven,
			adjust: func(s *Spec) { s.Scope[0].TimeRange = &protocol.TimeRange{Since: "2026-01-01"} }},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDialogue(t, "notes")
			d.shelved(c.stored...)
			if c.adjust != nil {
				c.adjust(&d.spec)
			}
			o := d.play(t.Context(), func(conn *connector) int {
				if !conn.start().Walks {
					t.Error("START does not say that walks are compared")
				}
				for _, line := range c.say {
					conn.line(line)
				}
				status, keys := conn.end("notes", c.since)
				if status != c.want || !slices.Equal(keys, c.keys) {
					t.Errorf("%s with %d keys, want %s with %d: %s", status, len(keys), c.want, len(c.keys), cmp.Diff(c.keys, keys))
				}
				return conn.done(protocol.DoneSucceeded)
			})
			if o.Status != Succeeded {
				t.Fatalf("%s: %v", o.Status, o.Failure)
			}
			var kept int64
			for _, g := range o.KnownGaps {
				if g.Reason == string(protocol.ReasonMissingKept) && g.Stream == "notes" && g.Message != "" {
					kept = g.Count
				}
			}
			if kept != c.kept {
				t.Errorf("%d missing records are reported as kept, want %d", kept, c.kept)
			}
		})
	}
}

// TestWalkOverAGrowingStream compares nothing: nothing is deleted from such a stream.
func TestWalkOverAGrowingStream(t *testing.T) {
	d := newDialogue(t, "events")
	d.shelved("d")
	d.play(t.Context(), func(conn *connector) int {
		conn.start()
		conn.send(&protocol.Walk{Stream: "events", Phase: protocol.WalkBegin})
		if status, keys := conn.end("events", ""); status != protocol.WalkUnproven || keys != nil {
			t.Errorf("%s with %v", status, keys)
		}
		return conn.done(protocol.DoneSucceeded)
	})
}

// TestWalkRules shows what ends a run.
func TestWalkRules(t *testing.T) {
	const end = `{"type":"WALK","stream":"notes","phase":"end","request_id":"w"}`
	for name, c := range map[string]struct {
		lines  []string
		adjust func(*dialogue)
	}{
		"an end without a beginning": {lines: []string{end}},
		"keys after the end": {lines: []string{
			`{"type":"WALK","stream":"notes","phase":"begin"}`, end,
			`{"type":"WALK","stream":"notes","phase":"present","keys":["a"]}`}},
		"a stream that is not asked for": {lines: []string{`{"type":"WALK","stream":"events","phase":"begin"}`}},
		"nothing to compare with": {lines: []string{`{"type":"WALK","stream":"notes","phase":"begin"}`},
			adjust: func(d *dialogue) { d.spec.StoredKeys = nil }},
		"a run that recovers alone": {lines: []string{`{"type":"WALK","stream":"notes","phase":"begin"}`},
			adjust: func(d *dialogue) { d.spec.RecoveryOnly = true }},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDialogue(t, "notes")
			d.shelved("a")
			if c.adjust != nil {
				c.adjust(d)
			}
			if o := d.say(t, c.lines...); o.Failure == nil || o.Failure.Reason != ReasonViolation {
				t.Errorf("%s: %v", o.Status, o.Failure)
			}
		})
	}
	d := newDialogue(t, "notes")
	d.spec.StoredKeys = func(context.Context, string, string, string, int) ([]string, error) { return nil, errDiskFull }
	if o := d.say(t, `{"type":"WALK","stream":"notes","phase":"begin"}`, end); o.Failure == nil ||
		o.Failure.Reason != ReasonStorage {
		t.Errorf("a store that does not answer: %s: %v", o.Status, o.Failure)
	}
}
