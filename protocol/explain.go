package protocol

import (
	"errors"
	"reflect"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// wireError describes, for a connector's author, what a value must be.
type wireError string

func (e wireError) Error() string { return string(e) }

// typeViolation describes a value of the wrong type by its path and kind only.
func typeViolation(err error) *Violation {
	v := &Violation{Subtype: InvalidField, Received: "an invalid value"}
	var se *json.SemanticError
	if !errors.As(err, &se) {
		return v
	}
	received := kindName(se.JSONKind)
	var want wireError
	switch {
	case errors.Is(err, json.ErrUnknownName):
		received, v.Expected = "an unknown member", []string{"no unknown member here"}
	case errors.As(err, &want):
		v.Expected = []string{string(want)}
	case se.GoType != nil:
		v.Expected = []string{jsonName(se.GoType)}
	}
	v.Received = clipText(string(se.JSONPointer)) + ": " + received
	return v
}

func malformed(line []byte, err error) *Violation {
	received := "a line of " + strconv.Itoa(len(line)) + " bytes"
	var se *jsontext.SyntacticError
	if errors.As(err, &se) {
		received += ", broken at byte " + strconv.FormatInt(se.ByteOffset, 10)
	}
	return &Violation{Subtype: MalformedJSON, Expected: []string{"one JSON object"}, Received: received}
}

// jsonName returns the JSON name of a Go type.
func jsonName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "a boolean"
	case reflect.Int, reflect.Int64:
		return "an integer"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "an array"
	default:
		return "an object"
	}
}

func kindName(k jsontext.Kind) string {
	switch k {
	case 'n':
		return "null"
	case 't', 'f':
		return "boolean"
	case '"':
		return "string"
	case '0':
		return "number"
	case '{':
		return "object"
	case '[':
		return "array"
	default:
		return "an invalid value"
	}
}
