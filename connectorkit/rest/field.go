package rest

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Fields lists where members of a record come from, by the name in the schema. A member that is not listed is the
// item's member of the same name. A null or absent value is absent from the record. A value of another type than the
// schema allows makes the item unreadable: it is declared as missing and no record is made.
type Fields map[string]Field

// Field is the origin of one member of a record. The functions below return fields, and the methods refine them.
type Field struct {
	kind     fieldKind
	paths    []string
	inner    []Field
	text     string // separator, name or JSON value
	compute  func(Item) (jsontext.Value, error)
	fallback string
	nonEmpty bool
	layout   string
	meanings map[string]string // texts, or the members of EachObject
	listed   bool
	clock    clockForm
}

type fieldKind int

const (
	fieldFrom fieldKind = iota
	fieldNumberText
	fieldPartition
	fieldJoined
	fieldConstant
	fieldEach
	fieldObjects
	fieldComputed
	fieldNone
)

// From takes the value at the first path that has one that is not null.
func From(paths ...string) Field { return Field{kind: fieldFrom, paths: paths} }

// NumberText takes a number, and keeps its digits as a string. Zero is no value. Use it for ids that are numbers.
func NumberText(path string) Field { return Field{kind: fieldNumberText, paths: []string{path}} }

// FromPartition takes a value of the partition that the item was requested in.
func FromPartition(name string) Field { return Field{kind: fieldPartition, text: name} }

// Joined joins the texts of fields. It has no value if one of them has none.
func Joined(separator string, parts ...Field) Field {
	return Field{kind: fieldJoined, text: separator, inner: parts}
}

// Constant is always the same JSON value.
func Constant(value string) Field { return Field{kind: fieldConstant, text: value} }

// Each takes a member of each element of the first list that the item has, without null and empty ones.
// An element that is a text counts as its member.
func Each(member string, lists ...string) Field {
	return Field{kind: fieldEach, paths: lists, text: member}
}

// EachObject takes objects of the elements of a list, with the members whose paths are listed by their new names.
func EachObject(list string, members map[string]string) Field {
	return Field{kind: fieldObjects, paths: []string{list}, meanings: members}
}

// Computed takes a value that a function makes of the item. Nil is no value.
func Computed(f func(Item) (jsontext.Value, error)) Field {
	return Field{kind: fieldComputed, compute: f}
}

// None has no value: the record never has the member.
func None() Field { return Field{kind: fieldNone} }

// OrElse returns the field with the JSON value that it has if the item has none.
func (f Field) OrElse(value string) Field {
	f.fallback = value
	return f
}

// NonEmpty returns the field without a value if it is an empty string, list or object.
func (f Field) NonEmpty() Field {
	f.nonEmpty = true
	return f
}

// UTC returns the field as a time in UTC, however the provider writes its offset. The first year of the calendar means
// that a time is not set.
func (f Field) UTC() Field {
	f.clock = clockRFC3339
	return f
}

// UnixTime returns the field as a time in UTC, for a number of seconds. Zero means that a time is not set.
func (f Field) UnixTime() Field {
	f.clock = clockSeconds
	return f
}

// clockForm is how the provider writes a time that the record has in UTC.
type clockForm int

const (
	clockUnchanged clockForm = iota
	clockRFC3339
	clockSeconds
)

// Listed returns the field as a list of its one value.
func (f Field) Listed() Field {
	f.listed = true
	return f
}

// Translated returns the field with other texts: those of the provider are the keys. Another text is no value.
func (f Field) Translated(meanings map[string]string) Field {
	f.meanings = meanings
	return f
}

// Time returns the field as one that must be a time of RFC 3339. Without a readable time the item is unreadable.
func (f Field) Time() Field { return f.Layout(time.RFC3339) }

// Day returns the field as one that must be a day such as 2026-03-05.
func (f Field) Day() Field { return f.Layout(time.DateOnly) }

// Layout returns the field as one that must be a time in a layout of package time.
func (f Field) Layout(layout string) Field {
	f.layout = layout
	return f
}
