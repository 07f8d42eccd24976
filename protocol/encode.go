package protocol

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// encoding escapes U+2028 and U+2029, which some readers treat as line ends.
var encoding = json.JoinOptions(jsontext.EscapeForJS(true), json.Deterministic(true))

// AppendLine appends the message as one LF-terminated line.
func AppendLine(dst []byte, m Message) ([]byte, error) {
	if r, ok := m.(*Record); ok {
		return appendRecord(dst, r, func(dst []byte) ([]byte, error) {
			return jsontext.AppendFormat(dst, r.Data, jsontext.EscapeForJS(true))
		})
	}
	body, err := json.Marshal(m, encoding)
	if err != nil {
		return dst, fmt.Errorf("encode %s: %w", m.Type(), err)
	}
	dst = append(dst, `{"type":"`...)
	dst = append(dst, m.Type()...)
	dst = append(dst, '"')
	if len(body) > len("{}") {
		dst = append(dst, ',')
	}
	dst = append(dst, body[1:]...)
	return append(dst, '\n'), nil
}

// AppendEncoded is AppendLine for a record with data that is already encoded as AppendLine would: valid, on one
// line, with U+2028 and U+2029 escaped. It does not check the data.
func AppendEncoded(dst []byte, m Message) ([]byte, error) {
	if r, ok := m.(*Record); ok {
		return appendRecord(dst, r, func(dst []byte) ([]byte, error) { return append(dst, r.Data...), nil })
	}
	return AppendLine(dst, m)
}

func appendRecord(dst []byte, r *Record, data func(dst []byte) ([]byte, error)) ([]byte, error) {
	start := len(dst)
	dst = append(dst, `{"type":"RECORD","stream":`...)
	dst, err := appendText(dst, r.Stream)
	if err == nil {
		dst = append(dst, `,"key":`...)
		dst, err = appendText(dst, r.Key)
	}
	if err == nil && r.Op == OpDelete {
		dst = append(dst, `,"op":"delete"`...)
	}
	if err == nil && r.Data != nil {
		dst = append(dst, `,"data":`...)
		dst, err = data(dst)
	}
	if err == nil && r.EmittedAt != "" {
		dst = append(dst, `,"emitted_at":`...)
		dst, err = appendText(dst, r.EmittedAt)
	}
	if err == nil && r.Blobs != nil {
		var blobs []byte
		if blobs, err = json.Marshal(r.Blobs, encoding); err == nil {
			dst = append(append(dst, `,"blobs":`...), blobs...)
		}
	}
	if err == nil && r.File != "" {
		dst = append(dst, `,"file":`...)
		dst, err = appendText(dst, r.File)
	}
	if err != nil {
		return dst[:start], fmt.Errorf("encode record of stream %q: %w", r.Stream, err)
	}
	return append(dst, '}', '\n'), nil
}

// appendText quotes s, with the two line separators escaped.
func appendText(dst []byte, s string) ([]byte, error) {
	start := len(dst)
	dst, err := jsontext.AppendQuote(dst, s)
	if err == nil && (strings.Contains(s, "\u2028") || strings.Contains(s, "\u2029")) {
		return jsontext.AppendFormat(dst[:start], bytes.Clone(dst[start:]), jsontext.EscapeForJS(true))
	}
	return dst, err
}
