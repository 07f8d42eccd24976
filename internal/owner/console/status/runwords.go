package status

import (
	"strconv"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/words"
)

// leftInWords returns the range of time that a stream still needs, or "" if it is unknown.
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
		add(words.RequestsPerMinute(*s.PerMinute))
	}
	add(leftInWords(s))
	return text
}

func eventKey(e *api.Event) string { return strconv.FormatInt(e.Seq, 10) }
