package arguments

import (
	"testing"
)

func TestNearest(t *testing.T) {
	names := []string{"run", "runs", "records", "record", "streams"}
	for typed, want := range map[string]string{"rnu": "run", "recrods": "records", "stream": "streams", "str": "streams",
		"banana": ""} {
		if got := NearestName(typed, names); got != want {
			t.Errorf("%s: %q, want %q", typed, got, want)
		}
	}
}
