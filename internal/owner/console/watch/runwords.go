package watch

import (
	"strconv"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// leftInWords bounds the time that a stream still takes; empty when nobody can tell.
func leftInWords(s *api.RunStream) string {
	if s.LeftLow == nil || s.LeftHigh == nil {
		return ""
	}
	return rangeWords(*s.LeftLow, *s.LeftHigh) + " left"
}

// streamSays is the line beside a stream's progress.
func streamSays(s *api.RunStream) string {
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

func eventKey(e *api.Event) string { return strconv.FormatInt(e.Seq, 10) }
