package protocol

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func drawnWalk(t *rapid.T) Message {
	m := &Walk{Stream: text(t, "stream"), Phase: oneFrom(t, WalkPhases, "phase")}
	switch m.Phase {
	case WalkPresent:
		m.Keys = rapid.SliceOfN(shortText, 1, 3).Draw(t, "keys")
	case WalkEnd:
		m.RequestID = text(t, "id")
		m.Since = oneFrom(t, []string{"", "2026-03-01", "2026-03-01T08:30:00Z"}, "since")
	}
	return m
}

func drawnMissing(t *rapid.T) Message {
	m := &WalkMissing{RequestID: text(t, "id"), Status: oneFrom(t, WalkStatuses, "status"), Keys: KeyList{}}
	if m.Status == WalkCompared && flag(t, "some") {
		m.Keys, m.More = rapid.SliceOfN(shortText, 1, 3).Draw(t, "keys"), flag(t, "more")
	}
	return m
}

func TestRulesOfWalks(t *testing.T) {
	const (
		keys    = "keys: with phase present, and with no other"
		request = "request_id: with phase end, and with no other"
		since   = "since: a time or a date, only with phase end"
		missing = "keys and more: with status compared"
	)
	many := `["n"` + strings.Repeat(`,"n"`, MaxWalkKeys) + `]`
	checkBreaches(t, []breach{
		{TypeWalk, `{"stream":" "}`, "stream: a non-blank string"},
		{TypeWalk, `{"phase":"present"}`, keys},
		{TypeWalk, `{"keys":["n1"]}`, keys},
		{TypeWalk, `{"phase":"present","keys":` + many + `}`, "keys: at most 1000"},
		{TypeWalk, `{"phase":"end"}`, request},
		{TypeWalk, `{"request_id":"q1"}`, request},
		{TypeWalk, `{"since":"2026-03-01"}`, since},
		{TypeWalk, `{"phase":"end","request_id":"q1","since":"yesterday"}`, since},
		{TypeWalkMissing, `{"request_id":" "}`, "request_id: a non-blank string"},
		{TypeWalkMissing, `{"status":"refused","keys":["n1"]}`, missing},
		{TypeWalkMissing, `{"more":true}`, missing},
		{TypeWalkMissing, `{"status":"compared","keys":` + many + `}`, "keys: at most 1000"},
	})
}
