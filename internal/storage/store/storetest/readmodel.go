package storetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// readMember is a member of a record's object as it is written, and the text that it is found by; loose ones are not
// found.
type readMember struct {
	json, field, value string
	loose              bool
}

var readMembers = []readMember{
	{json: `"a":"x"`, field: "a", value: "x"},
	{json: `"\u0061":"\u0078"`, field: "a", value: "x"},
	{json: `"a":1.0`, field: "a", value: "1.0"},
	{json: `"a":"1.0"`, field: "a", value: "1.0"},
	{json: `"a":true`, field: "a", value: "true"},
	{json: `"a":null`, field: "a", value: "null", loose: true},
	{json: `"a":["x"]`, field: "a", value: `["x"]`, loose: true},
	{json: `"b":"\u0000"`, field: "b", value: "\x00"},
	{json: `"b":"it's \"?\""`, field: "b", value: `it's "?"`},
	{json: `"$.a\"'":"\\"`, field: `$.a"'`, value: `\`},
	{json: `"":"ä"`, field: "", value: "ä"},
	{json: `"z":"\ud800"`, field: "z", value: "z", loose: true},
}

var (
	readKeys  = []string{"a", "B", `'"?`, "ä", "[1]"}
	readTimes = []string{"", "2026-01-01T00:00:00.000000Z", "2026-02-01T00:00:00.000000Z", "2026-03-01T00:00:00.000000Z"}
	readWords = []string{"red", "blue", "green"}
)

// readVersion is a version of a record; a tombstone has no members and no words.
type readVersion struct {
	slice.Record
	members []readMember
	words   []string
}

// readStream is a stream in memory: the versions of each key, oldest first.
type readStream map[string][]readVersion

func drawVersion(t *rapid.T) readVersion {
	v := readVersion{Record: slice.Record{Stream: Stream, Key: rapid.SampledFrom(readKeys).Draw(t, "key"), EmittedAt: "x"}}
	if rapid.IntRange(0, 3).Draw(t, "deleted") == 0 {
		v.Op = protocol.OpDelete
		return v
	}
	v.SemanticTime = rapid.SampledFrom(readTimes).Draw(t, "time")
	v.members = rapid.SliceOfN(rapid.SampledFrom(readMembers), 0, 3).Draw(t, "members")
	v.words = rapid.SliceOfN(rapid.SampledFrom(readWords), 0, 2).Draw(t, "words")
	parts := []string{fmt.Sprintf(`"title":%q`, strings.Join(v.words, " ")),
		fmt.Sprintf(`"n":%d`, rapid.IntRange(0, 1000).Draw(t, "n"))}
	for _, m := range v.members {
		parts = append(parts, m.json)
	}
	v.Data = []byte(`{` + strings.Join(parts, `,`) + `}`)
	return v
}

// apply does what a commit of one record does.
func (m readStream) apply(v readVersion) {
	versions := m[v.Key]
	if len(versions) == 0 || string(versions[len(versions)-1].Data) != string(v.Data) {
		m[v.Key] = append(versions, v)
	}
}

// was returns the version that a record is compared by: for a tombstone, the last one before.
func (m readStream) was(key string) (v readVersion, known bool) {
	versions := m[key]
	last := len(versions) - 1
	if versions[last].Deleted() {
		last--
	}
	if last < 0 {
		return v, false
	}
	return versions[last], true
}

// within reports whether the version matches the filter, apart from its stream.
func (v readVersion) within(p store.AccessFilter) bool {
	time, among := v.SemanticTime, p.AllowedValues == nil
	for _, m := range v.members { // of repeated fields the last counts
		if p.AllowedValues != nil && m.field == p.AllowedValues.Field {
			among = !m.loose && m.value != "true" && slices.Contains(p.AllowedValues.Values, m.value)
		}
	}
	return !v.Deleted() && among && (p.Keys == nil || slices.Contains(p.Keys, v.Key)) &&
		(p.Since == "" || time >= p.Since) &&
		(p.Until == "" || time != "" && time < p.Until)
}

// now returns the newest version of a record.
func (m readStream) now(key string) readVersion { return m[key][len(m[key])-1] }

// ever reports whether any version of the record matched the filter.
func (m readStream) ever(key string, p store.AccessFilter) bool {
	return slices.ContainsFunc(m[key], func(v readVersion) bool { return v.within(p) })
}

func (m readStream) holds(key string, where []store.FieldValue) bool {
	v, _ := m.was(key)
	for _, w := range where {
		held := false
		for _, m := range v.members { // of repeated fields the last counts
			if m.field == w.Field {
				held = !m.loose && m.value == w.Value
			}
		}
		if !held {
			return false
		}
	}
	return true
}

// testReadModel reads random filters of random streams, page by page, and compares them with a filter over everything
// that is stored.
//
//pdpp:tier unraced TestStore/ReadModel
func testReadModel(t *testing.T, s store.Store) {
	connections := 0
	rapid.Check(t, func(rt *rapid.T) {
		connections++
		connection := fmt.Sprint("c", connections)
		l := begin(t, s, connection, "run-"+connection, titles)
		m := readStream{}
		for range rapid.IntRange(2, 4).Draw(rt, "slices") {
			var slice []slice.Record
			for _, v := range rapid.SliceOfNDistinct(rapid.Custom(drawVersion), 0, 5,
				func(v readVersion) string { return v.Key }).Draw(rt, "slice") {
				slice = append(slice, v.Record)
				m.apply(v)
			}
			put(t, s, l, slice...)
		}
		feed := changes(t, s, connection)
		same(t, len(feed), len(m))
		for range 3 {
			m.compareList(t, s, feed, m.drawRecordQuery(rt, connection, feed))
			m.compareSearch(t, s, feed, drawSearchQuery(rt, connection))
		}
	})
}

func drawPart(t *rapid.T, connection string) store.AccessFilter {
	p := store.AccessFilter{ConnectionID: connection, Stream: Stream}
	switch rapid.IntRange(0, 2).Draw(t, "window") {
	case 1:
		p.Since = rapid.SampledFrom(readTimes).Draw(t, "since")
	case 2:
		p.Since, p.Until = rapid.SampledFrom(readTimes[:2]).Draw(t, "since"), rapid.SampledFrom(readTimes).Draw(t, "until")
	}
	if rapid.IntRange(0, 3).Draw(t, "by key") == 0 {
		p.Keys = rapid.SliceOfN(rapid.SampledFrom(append(readKeys, "missing", "\x00")), 0, 4).Draw(t, "keys")
	}
	if rapid.IntRange(0, 2).Draw(t, "by value") == 0 {
		p.AllowedValues = &store.AllowedValues{Field: "a",
			Values: rapid.SliceOfN(rapid.SampledFrom([]string{"x", "1.0", "true", "null"}), 1, 3).Draw(t, "values")}
	}
	return p
}
