package protocol

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// PacePrefix begins the names of the numbers by which a connector tells its next
// run how fast its provider may be asked. They ride on a bookmark and are no
// part of the place that it marks.
const PacePrefix = "pacing_"

// SplitPace parts a cursor into the place that it marks and the pace that rides
// on it, both objects. The pace is nil when there is none. A cursor that is no
// object is a place as it is.
func SplitPace(cursor jsontext.Value) (place, pace jsontext.Value) {
	if cursor.Kind() != '{' || !bytes.Contains(cursor, []byte(`"`+PacePrefix)) {
		return cursor, nil
	}
	dec := jsontext.NewDecoder(bytes.NewReader(cursor))
	if _, err := dec.ReadToken(); err != nil {
		return cursor, nil
	}
	place, pace = jsontext.Value("{"), jsontext.Value("{")
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return cursor, nil
		}
		text := name.String()
		value, err := dec.ReadValue()
		if err != nil {
			return cursor, nil
		}
		part := &place
		if strings.HasPrefix(text, PacePrefix) && value.Kind() == '0' {
			part = &pace
		}
		if *part, err = appendMember(*part, text, value); err != nil {
			return cursor, nil
		}
	}
	if len(pace) == 1 {
		return cursor, nil
	}
	return append(place, '}'), append(pace, '}')
}

func appendMember(object jsontext.Value, name string, value jsontext.Value) (jsontext.Value, error) {
	if len(object) > 1 {
		object = append(object, ',')
	}
	object, err := jsontext.AppendQuote(object, name)
	return append(append(object, ':'), value...), err
}
