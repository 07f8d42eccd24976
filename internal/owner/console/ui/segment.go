package ui

import (
	"encoding/base64"
	"errors"
	"strings"
)

// PlainSegment is what may stand in a path as it is: nothing in it is escaped by a
// browser, decoded by a proxy or taken for a step to another folder.
const PlainSegment = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."

// encodedMark begins a segment that does not stand as it is.
const encodedMark = "~"

var errSegment = errors.New("not a part of an address that was made here")

// Segment puts any text into one segment of a path. Keys of records come from
// sources and may be "..", hold slashes or be empty, which percent signs alone do not
// survive: browsers resolve %2E%2E, and proxies decode %2F.
func Segment(text string) string {
	if text != "" && strings.Trim(text, ".") != "" && strings.Trim(text, PlainSegment) == "" {
		return text
	}
	return encodedMark + base64.RawURLEncoding.EncodeToString([]byte(text))
}

// Unsegment gives the text that Segment was given.
func Unsegment(part string) (string, error) {
	encoded, is := strings.CutPrefix(part, encodedMark)
	if !is {
		return part, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil {
		return "", errSegment
	}
	return string(text), nil
}
