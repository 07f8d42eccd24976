package runner

import (
	"cmp"

	"github.com/pdpp-go/pdpp/protocol"
)

// outgoing is a line for the connector. Its phase is what the connector misses
// when its stdin is closed.
type outgoing struct {
	phase string
	line  []byte
}

// send posts one message to the connector.
func (s *session) send(phase string, m protocol.Message) {
	line, err := protocol.AppendLine(nil, m)
	if err != nil {
		s.abort(s.asFailure(err))
		return
	}
	s.outgoing <- outgoing{phase, line}
}

// deliver writes the lines in their order, beside the reader: a connector may
// go on speaking before it listens. A second line has to wait for the first,
// so one that never listens is not written to without bound.
func (s *session) deliver() {
	defer close(s.delivered)
	for l := range s.outgoing {
		if _, err := s.child.Write(l.line); err != nil {
			// Not a failure by itself: the connector's end tells what it means.
			s.stdinPhase = cmp.Or(s.stdinPhase, l.phase)
		}
	}
}
