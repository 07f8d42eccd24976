package foreign

import (
	"bytes"
	"errors"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// eventKind is the meaning of a tap's line, in either protocol.
type eventKind int

const (
	eventNote     eventKind = iota // text for people
	eventSchema                    // a stream begins
	eventRecord                    // data
	eventState                     // a checkpoint
	eventActivate                  // records without this version are deleted
	eventBatch                     // records in files
	eventStatus                    // progress of a stream
	eventTrouble                   // a failure, classified by the tap
	eventControl                   // the configuration has changed
)

// tapEvent is one line of a tap. Its raw values remain valid after the line.
type tapEvent struct {
	kind    eventKind
	stream  string // the tap's name of the stream; empty for the whole tap
	data    jsontext.Value
	version *int64
	// form is how a state is passed back to the tap.
	form stateForm
	// counted is the tap's own count of records since the last state.
	counted *int64
	status  string
	class   string // class of a failure
	wait    time.Duration
	batch   fileBatch
	text    string
	at      int64 // where its line ends in the tap's output
}

// errBroken is a line that looks like a message and is not valid.
var errBroken = errors.New("the tap wrote a line that is neither a message nor text")

// tapDialect contains the differences between the two protocols.
type tapDialect interface {
	// arguments returns the arguments of a sync. state is empty if there is none.
	arguments(a *Adapter, config, catalog, state string) []string
	// catalog selects streams.
	catalog(a *Adapter, selected []string) (jsontext.Value, error)
	// state returns the state file that a tap resumes from, or nil to start from the beginning.
	state(marks []streamBookmark) jsontext.Value
	// read decodes a line.
	read(line []byte) (tapEvent, error)
}

func dialectOf(k TapProtocol) tapDialect {
	if k == Airbyte {
		return airbyteDialect{}
	}
	return singerDialect{}
}

// textEvent returns a line of text that a program wrote among its messages. A line that begins like a message is not
// text, because a record may be lost in it.
func textEvent(line []byte) (tapEvent, error) {
	if bytes.HasPrefix(bytes.TrimSpace(line), []byte("{")) {
		return tapEvent{}, errBroken
	}
	return tapEvent{kind: eventNote, text: string(line)}, nil
}
