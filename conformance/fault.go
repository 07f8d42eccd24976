package conformance

import (
	"fmt"
	"strings"

	"github.com/pdpp-go/pdpp/protocol"
)

// Fault is one problem of the connector, and its fix.
type Fault struct {
	// Rule is the violated rule of the protocol, the same in every version. It is empty if the problem concerns
	// several messages.
	Rule  protocol.Subtype `json:"rule,omitempty"`
	Text  string           `json:"text"`
	Fix   string           `json:"fix"`
	Times int              `json:"times"`
}

func (f Fault) String() string {
	if f.Times > 1 {
		return fmt.Sprintf("%s (%d times)", f.Text, f.Times)
	}
	return f.Text
}

// endingRules concern the end of a run and have their own check.
var endingRules = map[protocol.Subtype]bool{
	protocol.MessageAfterDone:    true,
	protocol.RecordCountMismatch: true,
	protocol.ExitCodeMismatch:    true,
	noDone:                       true,
	staysAlive:                   true,
}

// Rules about the end of a process.
const (
	noDone     protocol.Subtype = "no_done"
	staysAlive protocol.Subtype = "does_not_exit"
)

// ruleFixes contains the fix for each violated rule.
var ruleFixes = map[protocol.Subtype]string{
	protocol.MalformedJSON:      "Write one JSON object per line to stdout and nothing else; logs go to stderr.",
	protocol.LineTooLong:        "Split what you send: a line has at most 16 MiB.",
	protocol.NestingTooDeep:     "Flatten the record: at most 64 levels.",
	protocol.NotAnObject:        "Write an object with a type, one per line.",
	protocol.UnknownMessageType: "Use one of the types in docs/extend/protocol; write text for people to stderr.",
	protocol.WrongDirection:     "Only the runner sends that message: remove it.",
	protocol.MissingField:       "Add the member.",
	protocol.InvalidField:       "Set the member to a value of that kind.",
	protocol.UndeclaredStream: "Send only streams in START's scope; declare the stream in the manifest if it is " +
		"missing there.",
	protocol.UndeclaredProgress: "Name a stream of the scope, or none.",
	protocol.UndeclaredState:    "Send a STATE only for streams of the scope.",
	protocol.ResourceOutOfScope: "If scope.streams[].resources is present, send only those records, or send " +
		"SKIP_RESULT with scope_not_supported.",
	protocol.FieldOutOfScope: "If scope.streams[].fields is present, remove every other member from data.",
	protocol.OutsideTimeRange: "If scope.streams[].time_range is present, send only records with a " +
		"consent_time_field inside it.",
	protocol.KeyMismatch: "Make key the primary_key fields of data: a string, or an array of strings in the " +
		"declared order.",
	protocol.TombstoneNotAllowed: "Declare the stream as mutable_state, or do not delete.",
	protocol.OutputWhileAsking:   "After INTERACTION write nothing until its INTERACTION_RESPONSE has been read.",
	protocol.NoInteractiveBinding: "Ask only if START's bindings contain interactive; otherwise end with DONE, failed, " +
		"and an error that names what is missing.",
	protocol.MessageAfterDone: "Make DONE the last line, and write it once.",
	protocol.RecordCountMismatch: "Count every RECORD line that you write, including deletions, and send that number " +
		"in records_emitted.",
	protocol.ExitCodeMismatch:  "Exit with 0 after DONE succeeded, and with another code after failed or cancelled.",
	protocol.DuplicateCoverage: "Send DETAIL_COVERAGE once per stream and state_stream.",
	protocol.InvalidCoverage: "List each required key once, with one outcome, for a lane that the manifest " +
		"declares with parent_streams.",
	protocol.GapLeaseMismatch: "Settle only gaps of this run, with the gap_id, lease_id and stream as they were " +
		"served, and each once.",
	protocol.AttemptWithoutResult: "After DETAIL_GAP_ATTEMPTED send DETAIL_GAP_RECOVERED, or DETAIL_GAP with its " +
		"gap_id and lease_id.",
	protocol.UnknownAssistance: "End only requests for help that this run has made.",
	noDone:                     "End every run with one DONE line: succeeded, failed with an error, or cancelled.",
	staysAlive:                 "Exit when stdin is closed after DONE: stop timers, servers and threads.",
	protocol.SchemaMismatch:    "Send records that match the stream's schema, or correct the schema.",
}

func violationFault(v *protocol.Violation) Fault {
	return Fault{Text: strings.TrimPrefix(v.Error(), "protocol violation: "), Fix: ruleFixes[v.Subtype], Rule: v.Subtype}
}
