package protocol_test

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/protocol"
)

// A connector writes records, and then a cursor that makes them durable.
func ExampleAppendLine() {
	var out []byte
	for _, m := range []protocol.Message{
		&protocol.Record{Stream: "letters", Key: "7", Data: jsontext.Value(`{"id":"7","text":"Hello"}`),
			EmittedAt: "2024-05-01T12:00:00Z"},
		&protocol.State{Stream: "letters", Cursor: jsontext.Value(`{"after":"7"}`)},
		&protocol.Done{Status: protocol.DoneSucceeded, RecordsEmitted: 1},
	} {
		line, err := protocol.AppendLine(nil, m)
		if err != nil {
			fmt.Println(err)
			return
		}
		out = append(out, line...)
	}
	os.Stdout.Write(out)
	// Output:
	// {"type":"RECORD","stream":"letters","key":"7","data":{"id":"7","text":"Hello"},"emitted_at":"2024-05-01T12:00:00Z"}
	// {"type":"STATE","stream":"letters","cursor":{"after":"7"}}
	// {"type":"DONE","status":"succeeded","records_emitted":1}
}

// A runner reads line by line. A violation describes the error without content.
func ExampleDecoder() {
	input := `{"type":"RECORD","stream":"letters","key":"7","data":{"id":"7"},"emitted_at":"2024-05-01T12:00:00Z"}
{"type":"RECORD","key":"8","data":{"id":"8","text":"private"}}
`
	lines, dec := protocol.NewLineReader(strings.NewReader(input), 0), protocol.NewDecoder(protocol.FromConnector)
	for {
		line, err := lines.Next()
		if err != nil {
			return
		}
		m, err := dec.Decode(line)
		var broken *protocol.Violation
		switch {
		case errors.As(err, &broken):
			fmt.Println(broken.Subtype, broken.Expected)
		case err == nil:
			fmt.Println(m.Type())
		}
	}
	// Output:
	// RECORD
	// missing_field [stream: a non-empty string]
}
