package protocol

import "testing"

func TestSemanticTime(t *testing.T) {
	for text, want := range map[string]string{
		"2026-02-03T04:05:06+02:00":      "2026-02-03T02:05:06.000000Z",
		"2026-02-03":                     "2026-02-03T00:00:00.000000Z",
		"2026-02-03T04:05:06.123456789Z": "2026-02-03T04:05:06.123456Z",
		"9999-12-31T23:59:59Z":           "9999-12-31T23:59:59.000000Z",
		"0001-01-01T00:00:00Z":           "0001-01-01T00:00:00.000000Z",
		"9999-12-31T23:59:59-01:00":      "", // 10000 in UTC, which sorts before 2026 as text
		"0001-01-01T00:00:00+01:00":      "",
		"10000-01-01T00:00:00Z":          "",
		"-0001-01-01T00:00:00Z":          "",
		"1767225600":                     "",
		"soon":                           "",
		"":                               "",
	} {
		_, got, ok := SemanticTime(text)
		if got != want || ok != (want != "") {
			t.Errorf("%q gives %q, %v, want %q", text, got, ok, want)
		}
	}
}
