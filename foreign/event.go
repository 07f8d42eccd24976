package foreign

import (
	"bytes"
	"errors"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// eventKind is what a line of a tap says, in either protocol.
type eventKind int

const (
	eventNote     eventKind = iota // text for people
	eventSchema                    // a stream begins
	eventRecord                    // data
	eventState                     // a checkpoint
	eventActivate                  // what did not come with this version is gone
	eventBatch                     // records in files
	eventStatus                    // how far a stream is
	eventTrouble                   // a failure, classified by the tap
	eventControl                   // the configuration has changed
)

// event is one line of a tap. Its raw values outlive the line.
type event struct {
	kind    eventKind
	stream  string // as the tap calls it; empty where the whole tap is meant
	data    jsontext.Value
	version *int64
	// form says how a state goes back to the tap.
	form stateForm
	// counted is how many records the tap says it sent since the last state.
	counted *int64
	status  string
	class   string // of a failure
	wait    time.Duration
	batch   batch
	text    string
	at      int64 // where its line ends in the tap's output
}

// errBroken is a line that could have been a message and is none.
var errBroken = errors.New("the tap wrote a line that is neither a message nor text")

// dialect is what the two protocols do differently.
type dialect interface {
	// arguments start a sync; state is empty when there is none.
	arguments(a *Adapter, config, catalog, state string) []string
	// catalog selects streams.
	catalog(a *Adapter, selected []string) (jsontext.Value, error)
	// state is the file that a tap resumes from; nil when it starts anew.
	state(marks []bookmark) jsontext.Value
	// read decodes a line.
	read(line []byte) (event, error)
}

func dialectOf(k Kind) dialect {
	if k == Airbyte {
		return airbyte{}
	}
	return singer{}
}

// note is a line of text that a program wrote where only messages belong. A line that begins
// as a message does is no text: a record may have been lost in it.
func note(line []byte) (event, error) {
	if bytes.HasPrefix(bytes.TrimSpace(line), []byte("{")) {
		return event{}, errBroken
	}
	return event{kind: eventNote, text: string(line)}, nil
}
