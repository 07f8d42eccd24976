package runner

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pdpp-go/pdpp/protocol"
)

func bounded(since, until string) protocol.StreamScope {
	return protocol.StreamScope{Name: "notes", TimeRange: &protocol.TimeRange{Since: since, Until: until}}
}

func compound(key, data string) string {
	return `{"type":"RECORD","stream":"pairs","emitted_at":"2026-01-02T03:04:05Z","key":` + key + `,"data":` + data + `}`
}

func numbered(key, data string) string {
	return `{"type":"RECORD","stream":"numbers","emitted_at":"2026-01-02T03:04:05Z","key":` + key + `,"data":` + data + `}`
}

// Every check of a record, with its rule. An empty rule means that the record passes.
func TestRecordGates(t *testing.T) {
	notes := protocol.StreamScope{Name: "notes"}
	for name, c := range map[string]struct {
		scope protocol.StreamScope
		line  string
		rule  protocol.Subtype
	}{
		"plain":                      {notes, rec("notes", "1", `"title":"x"`), ""},
		"undeclared by the manifest": {notes, rec("nodes", "1"), protocol.UndeclaredStream},
		"declared but out of scope":  {notes, rec("events", "1"), protocol.UndeclaredStream},

		"field in scope": {protocol.StreamScope{Name: "notes", Fields: []string{"title"}},
			rec("notes", "1", `"title":"x"`), ""},
		"field that the key needs": {protocol.StreamScope{Name: "notes", Fields: []string{"title"}}, rec("notes", "1"), ""},
		"field out of scope": {protocol.StreamScope{Name: "notes", Fields: []string{"title"}},
			rec("notes", "1", `"body":"x"`), protocol.FieldOutOfScope},
		"unknown field, no filter": {notes, rec("notes", "1", `"extra":1`), ""},

		"at since": {bounded("2026-01-01T00:00:00Z", ""), rec("notes", "1", `"at":"2026-01-01T00:00:00Z"`), ""},
		"before since": {bounded("2026-01-01T00:00:00Z", ""), rec("notes", "1", `"at":"2025-12-31T23:59:59.999999Z"`),
			protocol.OutsideTimeRange},
		"before until": {bounded("", "2026-02-01"), rec("notes", "1", `"at":"2026-01-31T23:59:59.999Z"`), ""},
		"at until": {bounded("", "2026-02-01"), rec("notes", "1", `"at":"2026-02-01T00:00:00Z"`),
			protocol.OutsideTimeRange},
		"another zone": {bounded("2026-01-01T00:00:00Z", ""), rec("notes", "1", `"at":"2026-01-01T00:30:00+01:00"`),
			protocol.OutsideTimeRange},
		"a day":              {bounded("2026-01-01", "2026-01-02"), rec("notes", "1", `"at":"2026-01-01"`), ""},
		"no time":            {bounded("2026-01-01", ""), rec("notes", "1"), protocol.OutsideTimeRange},
		"null time":          {bounded("2026-01-01", ""), rec("notes", "1", `"at":null`), protocol.OutsideTimeRange},
		"unreadable time":    {bounded("2026-01-01", ""), rec("notes", "1", `"at":"in spring"`), protocol.OutsideTimeRange},
		"unbounded, no time": {notes, rec("notes", "1", `"at":"in spring"`), ""},
		"stream without time": {protocol.StreamScope{Name: "folders", TimeRange: &protocol.TimeRange{Since: "2026-01-01"}},
			rec("folders", "1"), ""},

		"key mismatch":      {notes, strings.Replace(rec("notes", "1"), `"id":"1"`, `"id":"2"`, 1), protocol.KeyMismatch},
		"key field missing": {notes, strings.Replace(rec("notes", "1"), `"id":"1"`, `"title":"1"`, 1), protocol.KeyMismatch},
		"key field no text": {notes, strings.Replace(rec("notes", "1"), `"id":"1"`, `"id":["1"]`, 1), protocol.KeyMismatch},
		"escaped key":       {notes, strings.Replace(rec("notes", "é"), `"id":"é"`, `"id":"\u00e9"`, 1), ""},
		"number":            {protocol.StreamScope{Name: "numbers"}, numbered(`"42"`, `{"id":42}`), ""},
		"large number": {protocol.StreamScope{Name: "numbers"},
			numbered(`"9007199254740993"`, `{"id":9007199254740993}`), ""},
		"other number":     {protocol.StreamScope{Name: "numbers"}, numbered(`"42"`, `{"id":43}`), protocol.KeyMismatch},
		"compound":         {protocol.StreamScope{Name: "pairs"}, compound(`["x","y"]`, `{"a":"x","b":"y"}`), ""},
		"compound as text": {protocol.StreamScope{Name: "pairs"}, compound(`"[\"x\",\"y\"]"`, `{"a":"x","b":"y"}`), ""},
		"compound swapped": {protocol.StreamScope{Name: "pairs"}, compound(`["y","x"]`, `{"a":"x","b":"y"}`),
			protocol.KeyMismatch},
		"compound half": {protocol.StreamScope{Name: "pairs"}, compound(`["x","y"]`, `{"a":"x"}`), protocol.KeyMismatch},
		"compound too short": {protocol.StreamScope{Name: "pairs"}, compound(`"x"`, `{"a":"x","b":"y"}`),
			protocol.KeyMismatch},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDialogue(t)
			d.spec.Scope = []protocol.StreamScope{c.scope}
			o := d.say(t, c.line)
			if c.rule == "" {
				mustSucceed(t, o)
				return
			}
			if c.rule.OfRecord() {
				mustReject(t, d, o, c.rule)
				return
			}
			v := mustViolate(t, o, c.rule)
			if v.MessageType != protocol.TypeRecord || v.Stream == "" || len(d.log()) != 0 {
				t.Errorf("violation = %+v, committed = %v", v, d.log())
			}
		})
	}
}

func TestResourcesFilter(t *testing.T) {
	limited := []protocol.StreamScope{{Name: "notes", Resources: []string{"n1", "n2"}}}
	t.Run("outside", func(t *testing.T) {
		t.Attr("spec", "RT-05")
		t.Attr("spec", "RT-05.1")
		// Keys that look like a one-time code or an address are still named.
		for _, key := range []string{"n3", "493021", "ann@lantern.example", `["x","y"]`} {
			d := newDialogue(t)
			d.spec.Scope = limited
			o := d.say(t, rec("notes", "n1"), rec("notes", key), state("notes", 1))
			v := mustViolate(t, o, protocol.ResourceOutOfScope)
			if v.Stream != "notes" || !strings.Contains(v.Received, key) {
				t.Errorf("violation %+v does not name stream and key %s", v, key)
			}
			if !strings.Contains(o.Failure.Message, `"notes"`) || !strings.Contains(o.Failure.Message, key) {
				t.Errorf("message %q does not name stream and key %s", o.Failure.Message, key)
			}
			if len(d.log()) != 0 {
				t.Errorf("committed %v", d.log())
			}
		}
	})
	t.Run("tombstone outside", func(t *testing.T) {
		d := newDialogue(t)
		d.spec.Scope = limited
		mustViolate(t, d.say(t, tombstone("notes", "n3")), protocol.ResourceOutOfScope)
	})
	t.Run("inside", func(t *testing.T) {
		d := newDialogue(t)
		d.spec.Scope = limited
		mustSucceed(t, d.say(t, rec("notes", "n2"), tombstone("notes", "n1")))
	})
	for name, resources := range map[string][]string{"absent": nil, "empty": {}} {
		t.Run(name, func(t *testing.T) {
			t.Attr("spec", "RT-05.2")
			d := newDialogue(t)
			d.spec.Scope = []protocol.StreamScope{{Name: "notes", Resources: resources}}
			mustSucceed(t, d.say(t, rec("notes", "anything"), rec("notes", "else")))
			if diff := cmp.Diff([]string{"notes/anything notes/else"}, d.log()); diff != "" {
				t.Errorf("commits (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTombstones(t *testing.T) {
	t.Run("mutable", func(t *testing.T) {
		t.Attr("spec", "RT-07.1")
		d := newDialogue(t, "notes")
		mustSucceed(t, d.say(t, rec("notes", "n1"), tombstone("notes", "n2"), state("notes", 1)))
		if diff := cmp.Diff([]string{`notes/n1 -notes/n2 notes={"n":1}`}, d.log()); diff != "" {
			t.Errorf("commits (-want +got):\n%s", diff)
		}
		r := d.slices[0].Records[1]
		if r.Data != nil || r.EmittedAt == "" {
			t.Errorf("tombstone = %+v, want no data and a time", r)
		}
	})
	t.Run("append only", func(t *testing.T) {
		t.Attr("spec", "RT-07.2")
		d := newDialogue(t, "events")
		mustReject(t, d, d.say(t, tombstone("events", "e1")), protocol.TombstoneNotAllowed)
	})
}

func TestSemanticTimeIsStoredInOneForm(t *testing.T) {
	d := newDialogue(t, "notes", "folders")
	mustSucceed(t, d.say(t,
		rec("notes", "1", `"at":"2026-01-01T01:30:00.5+01:00"`), rec("notes", "2", `"at":"2026-03-01"`),
		rec("notes", "3", `"at":"in spring"`), rec("folders", "4", `"at":"2026-03-01"`)))
	var got []string
	for _, r := range d.slices[0].Records {
		got = append(got, r.SemanticTime)
	}
	want := []string{"2026-01-01T00:30:00.500000Z", "2026-03-01T00:00:00.000000Z", "", ""}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("times (-want +got):\n%s", diff)
	}
}
