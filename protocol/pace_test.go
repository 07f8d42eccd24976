package protocol

import (
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
		`{"n":1, "pacing_interval_ms":250.5,"k":{"pacing_x":1}, "pacing_a_quiet": 0}`: {`{"n":1,"k":{"pacing_x":1}}`, `{"pacing_interval_ms":250.5,"pacing_a_quiet":0}`},
		`{"pacing_margin":1e-3}`:                   {`{}`, `{"pacing_margin":1e-3}`},
		`{"pacing_token":"next","n":1}`:            {`{"pacing_token":"next","n":1}`, ``}, // a text is nobody's pace
		`{"pacing_x":1`:                            {`{"pacing_x":1`, ``},
		`{"at":"pacing_x","\"q\"":1,"pacing_q":2}`: {`{"at":"pacing_x","\"q\"":1}`, `{"pacing_q":2}`},
	} {
		place, pace := SplitPace(jsontext.Value(cursor))
		if string(place) != want[0] || string(pace) != want[1] {
			t.Errorf("%s: %s and %s, want %s and %s", cursor, place, pace, want[0], want[1])
		}
	}
}
