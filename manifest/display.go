package manifest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Display is how a stream is shown to the owner.
type Display struct {
	Label  string        `json:"label,omitempty" doc:"Short name in the owner's words."`
	Detail string        `json:"detail,omitempty" doc:"What the stream holds, in a sentence."`
	Kind   DisplayKind   `json:"kind,omitempty" doc:"What a record is, which picks the page it is shown on: conversation, message, document, transaction, measurement, file, event or place. Absent, or one that is not known: a table."`
	Roles  *DisplayRoles `json:"roles,omitempty" doc:"Which field holds what the page shows."`
	Unit   string        `json:"unit,omitempty" doc:"Unit of the value, where no field holds it."`
	Scale  int           `json:"scale,omitempty" rule:"min=1" doc:"What the amount or the value is divided by to be read, such as 100 for cents. Absent: 1."`
}

// DisplayKind is what a record of a stream represents. Kinds that are not in DisplayKinds are kept and shown as a
// table, because a manifest may be newer than the program.
type DisplayKind string

// Kinds of records.
const (
	KindConversation DisplayKind = "conversation"
	KindMessage      DisplayKind = "message"
	KindDocument     DisplayKind = "document"
	KindTransaction  DisplayKind = "transaction"
	KindMeasurement  DisplayKind = "measurement"
	KindFile         DisplayKind = "file"
	KindEvent        DisplayKind = "event"
	KindPlace        DisplayKind = "place"
)

// DisplayKinds lists every kind that has a page.
var DisplayKinds = []DisplayKind{
	KindConversation,
	KindMessage,
	KindDocument,
	KindTransaction,
	KindMeasurement,
	KindFile,
	KindEvent,
	KindPlace,
}

// DisplayRoles names the field that holds each part of the display.
type DisplayRoles struct {
	Title     string `json:"title,omitempty" doc:"What the record is called. In a stream that others refer to, the name shown for its key."`
	Text      string `json:"text,omitempty" doc:"Main text of the record."`
	Result    string `json:"result,omitempty" doc:"What came of it, such as the output of a tool."`
	Time      string `json:"time,omitempty" doc:"When it happened or began: a date-time or a date."`
	End       string `json:"end,omitempty" doc:"When it ended, or was last added to."`
	Author    string `json:"author,omitempty" doc:"Who wrote it: a name, or the foreign_key of a relationship to the stream that has the name."`
	Address   string `json:"address,omitempty" doc:"The mail address, number or handle of an author or a person."`
	Mine      string `json:"mine,omitempty" doc:"Whether the owner wrote it: true or false."`
	Speaker   string `json:"speaker,omitempty" doc:"Who speaks in a dialogue with a program: user or person is the owner, assistant the program, and whatever else is a step, shown folded."`
	Current   string `json:"current,omitempty" doc:"False for a version that another one replaced."`
	Thread    string `json:"thread,omitempty" doc:"The conversation that it belongs to: the foreign_key of a relationship to a stream of the kind conversation, or any name."`
	Amount    string `json:"amount,omitempty" doc:"How much money: a number, what is spent below zero."`
	Currency  string `json:"currency,omitempty" doc:"Of which currency."`
	Value     string `json:"value,omitempty" doc:"What was measured: a number."`
	Unit      string `json:"unit,omitempty" doc:"In which unit."`
	Series    string `json:"series,omitempty" doc:"What it is a measurement of, where a stream has several."`
	Blob      string `json:"blob,omitempty" doc:"The file itself: a blob_ref, null where only its name is known."`
	MediaType string `json:"media_type,omitempty" doc:"What kind of file it is."`
	Size      string `json:"size,omitempty" doc:"How many bytes it has."`
	Latitude  string `json:"latitude,omitempty" doc:"Degrees north."`
	Longitude string `json:"longitude,omitempty" doc:"Degrees east."`
	PartOf    string `json:"part_of,omitempty" doc:"The record that it is the text or a file of, at the same time: the foreign_key of a relationship to its stream."`
	Project   string `json:"project,omitempty" doc:"The repository, folder or the like that a document of code or a conversation about code belongs to or is; such documents are listed as code."`
	State     string `json:"state,omitempty" doc:"How far it is, such as open or closed."`
	Link      string `json:"link,omitempty" doc:"Where it is on the web."`
}

// requiredRoles are the roles that a kind needs to be shown.
var requiredRoles = map[DisplayKind][]string{
	KindMessage: {
		"time",
	},
	KindTransaction: {"time", "amount"},
	KindMeasurement: {"time", "value"},
	KindEvent:       {"time"},
	KindPlace:       {"latitude", "longitude"},
}

// Known reports whether the kind has a page.
func (k DisplayKind) Known() bool { return slices.Contains(DisplayKinds, k) }

// Shown returns the kind that the stream is shown as. Empty means a table.
func (s *Stream) Shown() DisplayKind {
	if s.Display == nil || !s.Display.Kind.Known() {
		return ""
	}
	return s.Display.Kind
}

// Roles returns the declared roles. All are empty if there are none.
func (s *Stream) Roles() DisplayRoles {
	if s.Display == nil || s.Display.Roles == nil {
		return DisplayRoles{}
	}
	return *s.Display.Roles
}

// Related returns the stream that a field refers to by its records' keys, or nil.
func (m *Manifest) Related(s *Stream, field string) *Stream {
	for _, r := range s.Relationships {
		if r.ForeignKey == field && field != "" {
			if to, ok := m.Stream(r.Stream); ok {
				return to
			}
		}
	}
	return nil
}

// Conversations returns the stream of the conversations that the records of s belong to. It returns nil if that
// stream has no records of its own.
func (m *Manifest) Conversations(s *Stream) *Stream {
	if to := m.Related(s, s.Roles().Thread); to != nil && to.Shown() == KindConversation {
		return to
	}
	return nil
}

// Each calls visit for every declared role and its field, in order of declaration.
func (r DisplayRoles) Each(visit func(role, field string)) {
	v := reflect.ValueOf(r)
	for _, f := range fieldsOf(v.Type()) {
		if name := v.Field(f.index).String(); name != "" {
			visit(f.name, name)
		}
	}
}

// checkDisplay checks that roles refer to existing fields, and that a kind has its required roles.
func (ps *Problems) checkDisplay(path string, s *Stream, known func(at, field string)) {
	filled := map[string]bool{}
	s.Roles().Each(func(role, field string) {
		filled[role] = true
		known(path+".display.roles."+role, field)
	})
	for _, role := range requiredRoles[s.Shown()] {
		if !filled[role] {
			ps.add(
				path+".display.roles."+role,
				fmt.Sprintf("is missing although the kind is %s", s.Shown()),
				"name the field that holds it, or leave the kind out",
			)
		}
	}
}

// unknownKinds returns warnings about kinds that are shown as a table.
func (m *Manifest) unknownKinds() (warnings Problems) {
	for i, s := range m.Streams {
		if s.Display != nil && s.Display.Kind != "" && !s.Display.Kind.Known() {
			warnings.add(
				elementPath("streams", i)+".display.kind",
				quoteShort(string(s.Display.Kind))+" is not a kind that has a page, so the stream is shown as a table",
				"use one of "+strings.Join(stringsOf(DisplayKinds), ", "),
			)
		}
	}
	return warnings
}
