package protocol

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
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

// comparedMember of a bookmark holds when its stream was last compared with the stored records, in milliseconds of
// Unix time. Like the pace it is no part of the place that the bookmark marks.
const comparedMember = "kit_compared_ms"

// SplitCompared takes out of a cursor when its stream was last compared with the stored records, in milliseconds of
// Unix time; zero means never.
func SplitCompared(cursor jsontext.Value) (place jsontext.Value, at int64) {
	if cursor.Kind() != '{' || !bytes.Contains(cursor, []byte(`"`+comparedMember+`"`)) {
		return cursor, 0
	}
	var members map[string]jsontext.Value
	if json.Unmarshal(cursor, &members) != nil {
		return cursor, 0
	}
	at, _ = strconv.ParseInt(string(members[comparedMember]), 10, 64) // anything else: it was never compared
	delete(members, comparedMember)
	place, err := json.Marshal(members, json.Deterministic(true))
	if err != nil {
		return cursor, 0
	}
	return place, at
}

// WithCompared adds to a cursor when its stream was compared with the stored records; zero adds nothing.
func WithCompared(place jsontext.Value, at int64) jsontext.Value {
	object := bytes.TrimRight(place, " \t\r\n")
	if at == 0 || place.Kind() != '{' || len(object) < 2 {
		return place
	}
	object = bytes.TrimRight(slices.Clone(object[:len(object)-1]), " \t\r\n")
	out, err := appendMember(object, comparedMember, strconv.AppendInt(nil, at, 10))
	if err != nil {
		return place
	}
	return append(out, '}')
}

func appendMember(object jsontext.Value, name string, value jsontext.Value) (jsontext.Value, error) {
	if len(object) > 1 {
		object = append(object, ',')
	}
	object, err := jsontext.AppendQuote(object, name)
	return append(append(object, ':'), value...), err
}
