package ui

import (
	"encoding/base64"
	"errors"
	"net/url"
	"strings"
)

// PlainSegment lists the characters that a path segment may contain unencoded. Browsers do not
// escape them, proxies do not decode them, and they are no relative path.
const PlainSegment = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."

// encodedMark is the first character of an encoded segment.
const encodedMark = "~"

var errSegment = errors.New("not a part of an address that was made here")

// Segment encodes any text as one path segment. Record keys come from sources and may be "..",
// contain slashes or be empty. Percent-encoding is not enough: browsers resolve %2E%2E, and
// proxies decode %2F.
func Segment(text string) string {
	if text != "" && strings.Trim(text, ".") != "" && strings.Trim(text, PlainSegment) == "" {
		return text
	}
	return encodedMark + base64.RawURLEncoding.EncodeToString([]byte(text))
}

// Unsegment returns the text that Segment encoded.
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

// StreamSegments returns a connection and a stream as two segments of an address.
func StreamSegments(connection, stream string) string {
	return Segment(connection) + "/" + Segment(stream)
}

// QueryAddress returns a path with a query. It leaves out an empty query.
func QueryAddress(path string, q url.Values) string {
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}

const (
	// LongestTitle is the most characters of a title, LongestCell of a cell in a table, and LongestValue of a JSON
	// value.
	LongestTitle = 140
	LongestCell  = 40
	LongestValue = 2000
)
