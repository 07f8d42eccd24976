package protocol

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func TestSplitPace(t *testing.T) {
	for cursor, want := range map[string][2]string{
		``:                 {``, ``},
		`null`:             {`null`, ``},
		`"pacing_x"`:       {`"pacing_x"`, ``},
		`[{"pacing_x":1}]`: {`[{"pacing_x":1}]`, ``},
		`{"n": 1}`:         {`{"n": 1}`, ``},
		`{"n":1, "pacing_interval_ms":250.5,"k":{"pacing_x":1}, "pacing_a_quiet": 0}`: {`{"n":1,"k":{"pacing_x":1}}`,
			`{"pacing_interval_ms":250.5,"pacing_a_quiet":0}`},
		`{"pacing_margin":1e-3}`:                   {`{}`, `{"pacing_margin":1e-3}`},
		`{"pacing_token":"next","n":1}`:            {`{"pacing_token":"next","n":1}`, ``}, // a text is not a pace
		`{"pacing_x":1`:                            {`{"pacing_x":1`, ``},
		`{"at":"pacing_x","\"q\"":1,"pacing_q":2}`: {`{"at":"pacing_x","\"q\"":1}`, `{"pacing_q":2}`},
	} {
		place, pace := SplitPace(jsontext.Value(cursor))
		if string(place) != want[0] || string(pace) != want[1] {
			t.Errorf("%s: %s and %s, want %s and %s", cursor, place, pace, want[0], want[1])
		}
	}
}

func TestCompared(t *testing.T) {
	for cursor, want := range map[string]string{
		`{}`:                               `{"kit_compared_ms":7}`,
		`{"n":1}`:                          `{"n":1,"kit_compared_ms":7}`,
		"{\"n\":{\"kit_compared_ms\":1}} ": `{"n":{"kit_compared_ms":1},"kit_compared_ms":7}`,
		`null`:                             `null`,
	} {
		marked := WithCompared(jsontext.Value(cursor), 7)
		if string(marked) != want || string(WithCompared(jsontext.Value(cursor), 0)) != cursor {
			t.Errorf("%s: %s, want %s", cursor, marked, want)
		}
		place, at := SplitCompared(marked)
		if string(place) != strings.TrimSpace(cursor) || (at == 7) != (cursor != `null`) {
			t.Errorf("%s: %s at %d", marked, place, at)
		}
	}
	for _, other := range []string{`"kit_compared_ms"`, `{"kit_compared_ms":1`, `{"n":"kit_compared_ms"}`} {
		if place, at := SplitCompared(jsontext.Value(other)); string(place) != other || at != 0 {
			t.Errorf("%s: %s at %d", other, place, at)
		}
	}
	if place, at := SplitCompared(jsontext.Value(`{"kit_compared_ms":"soon","n":1}`)); string(place) != `{"n":1}` ||
		at != 0 {
		t.Errorf("%s at %d", place, at)
	}
}
