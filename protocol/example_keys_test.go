package protocol_test

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/pdpp-go/pdpp/protocol"
)

// LineReader bounds the length of a line. U+2028 does not end a line.
func ExampleLineReader() {
	lines := protocol.NewLineReader(strings.NewReader("{\"a\":\"x\u2028y\"}\r\n\n{\"b\":2}"), 0)
	for {
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		fmt.Printf("%q\n", line)
	}
	// Output:
	// "{\"a\":\"x\u2028y\"}"
	// "{\"b\":2}"
}

// A record with several key fields has one canonical key.
func ExampleCompoundKey() {
	fmt.Println(protocol.CompoundKey("2026", "a\"b"))
	// Output: ["2026","a\"b"]
}

// A violation describes the error, never the content of the record.
func ExampleViolation() {
	d := protocol.NewDecoder(protocol.FromConnector)
	_, err := d.Decode([]byte(`{"type":"RECORD","stream":"letters","key":"","data":{"text":"Dear Ada"},` +
		`"emitted_at":"2026-03-02"}`))
	v, _ := protocol.AsViolation(err)
	fmt.Println(v.Subtype, v.Stream, strings.Contains(v.Error(), "Ada"))
	// Output: invalid_field letters false
}

// The learned request rate travels on a cursor and is not part of its position.
func ExampleSplitPace() {
	place, pace := protocol.SplitPace([]byte(`{"after":"7","pacing_interval_ms":250}`))
	fmt.Println(string(place), string(pace))
	// Output: {"after":"7"} {"pacing_interval_ms":250}
}
