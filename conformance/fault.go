package conformance

import (
	"fmt"
	"strings"

	"pdpp/protocol"
)

// Fault is one thing that is wrong, and how an author mends it.
type Fault struct {
	Text  string `json:"text"`
	Mend  string `json:"mend"`
	Times int    `json:"times"`

	rule protocol.Subtype // empty when no single message shows it
}

func (f Fault) String() string {
	if f.Times > 1 {
		return fmt.Sprintf("%s (%d times)", f.Text, f.Times)
	}
	return f.Text
}

// ending are the rules of a run's end, which have a check of their own.
var ending = map[protocol.Subtype]bool{
	protocol.MessageAfterDone: true, protocol.RecordCountMismatch: true, protocol.ExitCodeMismatch: true, noDone: true, staysAlive: true,
}

// Rules that only the end of a process shows.
const (
	noDone     protocol.Subtype = "no_done"
	staysAlive protocol.Subtype = "does_not_exit"
)

// mends say what an author does about a broken rule.
var mends = map[protocol.Subtype]string{
	protocol.MalformedJSON:        "Write one JSON object per line to stdout and nothing else; logs go to stderr.",
	protocol.LineTooLong:          "Split what you send: a line has at most 16 MiB.",
	protocol.NestingTooDeep:       "Flatten the record: at most 64 levels.",
	protocol.NotAnObject:          "Write an object with a type, one per line.",
	protocol.UnknownMessageType:   "Use one of the types of docs/protocol.md; what is meant for people goes to stderr.",
	protocol.WrongDirection:       "That message is the runner's to say: leave it out.",
	protocol.MissingField:         "Add the member.",
	protocol.InvalidField:         "Give the member a value of that kind.",
	protocol.UndeclaredStream:     "Send only streams that START's scope names; declare the stream in the manifest if it is missing there.",
	protocol.UndeclaredProgress:   "Name a stream of the scope, or none.",
	protocol.UndeclaredState:      "Send a STATE only for streams of the scope.",
	protocol.ResourceOutOfScope:   "When scope.streams[].resources is there, send those records alone, or say SKIP_RESULT with scope_not_supported.",
	protocol.FieldOutOfScope:      "When scope.streams[].fields is there, leave every other member out of data.",
	protocol.OutsideTimeRange:     "When scope.streams[].time_range is there, send only records whose consent_time_field lies in it.",
	protocol.KeyMismatch:          "Make key the primary_key fields of data: a string, or an array of strings in the declared order.",
	protocol.TombstoneNotAllowed:  "Declare the stream as mutable_state, or do not delete.",
	protocol.OutputWhileAsking:    "After INTERACTION write nothing until its INTERACTION_RESPONSE has been read.",
	protocol.NoInteractiveBinding: "Ask only if START's bindings has interactive; otherwise end with DONE, failed, and say what is missing.",
	protocol.MessageAfterDone:     "Make DONE the last line, and write it once.",
	protocol.RecordCountMismatch:  "Count every RECORD line that you write, deletions included, and say that number in records_emitted.",
	protocol.ExitCodeMismatch:     "Exit with 0 after DONE succeeded, and with another code after failed or cancelled.",
	protocol.DuplicateCoverage:    "Say DETAIL_COVERAGE once for each stream and state_stream.",
	protocol.InvalidCoverage:      "Name each required key once, with one outcome, for a lane that the manifest declares by parent_streams.",
	protocol.GapLeaseMismatch:     "Settle only gaps of this run, with the gap_id, lease_id and stream as they were served, and each once.",
	protocol.AttemptWithoutResult: "After DETAIL_GAP_ATTEMPTED say DETAIL_GAP_RECOVERED, or DETAIL_GAP with its gap_id and lease_id.",
	protocol.UnknownAssistance:    "End only requests for help that this run has made.",
	noDone:                        "End every run with one DONE line, whatever happened: succeeded, failed with an error, or cancelled.",
	staysAlive:                    "Exit once stdin is closed after DONE: end timers, servers and threads.",
	protocol.SchemaMismatch:       "Send what the stream's schema declares, or correct the schema.",
}

func broken(v *protocol.Violation) Fault {
	return Fault{Text: strings.TrimPrefix(v.Error(), "protocol violation: "), Mend: mends[v.Subtype], rule: v.Subtype}
}
