package protocol

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// PacePrefix is the prefix of cursor members that carry the learned request rate to the next run. They are not
// part of the position.
const PacePrefix = "pacing_"

// SplitPace splits a cursor into its position and its pace, both objects. The pace is nil if there is none. A
// cursor that is not an object is returned unchanged.
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

// comparedMember is the cursor member with the time of the last comparison with the stored records, in
// milliseconds of Unix time. It is not part of the position.
const comparedMember = "kit_compared_ms"

// SplitCompared removes the time of the last comparison from a cursor and returns it in milliseconds of Unix
// time. Zero means never.
func SplitCompared(cursor jsontext.Value) (place jsontext.Value, at int64) {
	if cursor.Kind() != '{' || !bytes.Contains(cursor, []byte(`"`+comparedMember+`"`)) {
		return cursor, 0
	}
	var members map[string]jsontext.Value
	if json.Unmarshal(cursor, &members) != nil {
		return cursor, 0
	}
	at, _ = strconv.ParseInt(string(members[comparedMember]), 10, 64) // anything else: never compared
	delete(members, comparedMember)
	place, err := json.Marshal(members, json.Deterministic(true))
	if err != nil {
		return cursor, 0
	}
	return place, at
}

// WithCompared adds the time of a comparison with the stored records to a cursor. Zero adds nothing.
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
