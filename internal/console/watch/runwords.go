package watch

import (
	"strconv"

	"pdpp/internal/console/ui"
	"pdpp/internal/ownerapi"
)

// leftInWords bounds the time that a stream still takes; empty when nobody can tell.
func leftInWords(s *ownerapi.RunStream) string {
	if s.LeftLow == nil || s.LeftHigh == nil {
		return ""
	}
	low, high := ui.Span(*s.LeftLow), ui.Span(*s.LeftHigh)
	if low == high {
		return "about " + low + " left"
	}
	return low + " to " + high + " left"
}

// streamSays is the line beside a stream's progress.
func streamSays(s *ownerapi.RunStream) string {
	text := s.Message
	add := func(more string) {
		switch {
		case more == "":
		case text == "":
			text = more
		default:
			text += " · " + more
		}
	}
	if s.PerMinute != nil {
		add(perMinute(*s.PerMinute))
	}
	add(leftInWords(s))
	return text
}

func eventKey(e *ownerapi.Event) string { return strconv.FormatInt(e.Seq, 10) }
