package protocol

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Subtype names the violated rule.
type Subtype string

const (
	MalformedJSON        Subtype = "malformed_json"
	LineTooLong          Subtype = "line_too_long"
	NestingTooDeep       Subtype = "nesting_too_deep"
	NotAnObject          Subtype = "not_an_object"
	UnknownMessageType   Subtype = "unknown_message_type"
	WrongDirection       Subtype = "wrong_direction"
	MissingField         Subtype = "missing_field"
	InvalidField         Subtype = "invalid_field"
	UndeclaredStream     Subtype = "undeclared_stream"
	UndeclaredProgress   Subtype = "progress_for_undeclared_stream"
	UndeclaredState      Subtype = "state_for_undeclared_stream"
	ResourceOutOfScope   Subtype = "resource_not_in_scope"
	FieldOutOfScope      Subtype = "field_not_in_scope"
	OutsideTimeRange     Subtype = "outside_time_range"
	KeyMismatch          Subtype = "key_does_not_match_data"
	SchemaMismatch       Subtype = "schema_mismatch"
	TombstoneNotAllowed  Subtype = "tombstone_on_append_only_stream"
	OutputWhileAsking    Subtype = "output_while_interaction_open"
	NoInteractiveBinding Subtype = "interaction_without_binding"
	MessageAfterDone     Subtype = "message_after_done"
	RecordCountMismatch  Subtype = "record_count_mismatch"
	ExitCodeMismatch     Subtype = "exit_code_mismatch"
	DuplicateCoverage    Subtype = "duplicate_detail_coverage"
	InvalidCoverage      Subtype = "invalid_detail_coverage"
	GapLeaseMismatch     Subtype = "gap_lease_mismatch"
	AttemptWithoutResult Subtype = "gap_attempt_without_outcome"
	UnknownAssistance    Subtype = "unknown_assistance_request"
)

// OfRecord reports whether the rule concerns a single record, so that only that record is rejected.
func (s Subtype) OfRecord() bool {
	return s == FieldOutOfScope || s == OutsideTimeRange || s == KeyMismatch || s == SchemaMismatch ||
		s == TombstoneNotAllowed
}

const (
	maxViolationText     = 200
	maxViolationExpected = 20
)

// Violation describes a protocol error of a connector. It contains names, kinds and lengths, never record
// content, so it can be stored and shown.
type Violation struct {
	Subtype        Subtype     `json:"subtype"`
	MessageType    MessageType `json:"message_type,omitzero"`
	Stream         string      `json:"stream,omitzero"`
	Expected       []string    `json:"expected,omitempty"`
	Received       string      `json:"received,omitzero"`
	LastValidEvent string      `json:"last_valid_event,omitzero"`
}

// Error describes the violation in one line.
func (v *Violation) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "protocol violation: %s", v.Subtype)
	if v.MessageType != "" {
		fmt.Fprintf(&b, " in %s", v.MessageType)
	}
	if v.Stream != "" {
		fmt.Fprintf(&b, " on stream %q", v.Stream)
	}
	if v.Received != "" {
		fmt.Fprintf(&b, ": received %s", v.Received)
	}
	if len(v.Expected) > 0 {
		fmt.Fprintf(&b, ", expected %s", strings.Join(v.Expected, " or "))
	}
	if v.LastValidEvent != "" {
		fmt.Fprintf(&b, " (last valid event: %s)", v.LastValidEvent)
	}
	return b.String()
}

// Bounded returns a copy with all texts truncated to their limits, for storage.
func (v *Violation) Bounded() *Violation {
	c := *v
	c.MessageType = MessageType(clipText(string(v.MessageType)))
	c.Stream, c.Received, c.LastValidEvent = clipText(v.Stream), clipText(v.Received), clipText(v.LastValidEvent)
	c.Expected = make([]string, 0, min(len(v.Expected), maxViolationExpected))
	for _, e := range v.Expected[:min(len(v.Expected), maxViolationExpected)] {
		c.Expected = append(c.Expected, clipText(e))
	}
	return &c
}

// AsViolation finds a violation in err's chain.
func AsViolation(err error) (*Violation, bool) {
	var v *Violation
	ok := errors.As(err, &v)
	return v, ok
}

// clipText truncates s to the limit of violation texts without splitting a rune.
func clipText(s string) string {
	if len(s) <= maxViolationText {
		return s
	}
	s = s[:maxViolationText]
	for len(s) > 0 && !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s
}
