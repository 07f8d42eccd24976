package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxLine is the longest line that is read.
const maxLine = 16 << 20

// lineFailure is the reason why a line has no result.
type lineFailure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Line    int    `json:"line"`
}

func (f *lineFailure) Error() string { return f.Code + ": " + f.Message }

// utcTimes writes every time in UTC, so that one moment is always written the same way.
var utcTimes = json.WithMarshalers(json.MarshalToFunc(func(enc *jsontext.Encoder, t time.Time) error {
	return enc.WriteToken(jsontext.String(t.UTC().Format(time.RFC3339Nano)))
}))

// judgeLines answers line by line. Ok is false when a line failed; an error is
// one of reading or writing.
func judgeLines(in io.Reader, out io.Writer, check bool) (ok bool, err error) {
	reader, writer := bufio.NewReaderSize(in, 64<<10), bufio.NewWriter(out)
	defer func() {
		if flushErr := writer.Flush(); err == nil && flushErr != nil {
			err = fmt.Errorf("write the answers: %w", flushErr)
		}
	}()
	ok = true
	for n := 1; ; n++ {
		line, tooLong, readErr := readLine(reader)
		if len(bytes.TrimSpace(line)) > 0 || tooLong {
			answer, good := judgeLine(line, tooLong, n, check)
			ok = ok && good
			if _, err := writer.Write(append(answer, '\n')); err != nil {
				return false, fmt.Errorf("write the answers: %w", err)
			}
		}
		if errors.Is(readErr, io.EOF) {
			return ok, nil
		}
		if readErr != nil {
			return false, fmt.Errorf("read the lines: %w", readErr)
		}
	}
}

// readLine reads up to a line break. Of a line that is too long nothing is kept.
func readLine(r *bufio.Reader) (line []byte, tooLong bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if !tooLong {
			line = append(line, part...)
		}
		if len(line) > maxLine {
			line, tooLong = nil, true
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, tooLong, err
		}
	}
}

// judgeLine returns the answer to one line, always one JSON object.
func judgeLine(line []byte, tooLong bool, n int, check bool) (answer []byte, ok bool) {
	var value any
	err := error(&lineFailure{Code: "line_too_long", Message: fmt.Sprintf("a line may have %d bytes", maxLine)})
	if !tooLong {
		value, err = answerTo(line, check)
	}
	ok = err == nil
	if err != nil {
		var f *lineFailure
		if !errors.As(err, &f) {
			f = &lineFailure{Code: "unreadable", Message: err.Error()}
		}
		f.Line = n
		value = map[string]any{"error": f}
	}
	if r, is := value.(interface{ broken() bool }); is && r.broken() {
		ok = false
	}
	answer, err = json.Marshal(value, json.Deterministic(true), jsontext.AllowInvalidUTF8(true), utcTimes)
	if err != nil {
		f := &lineFailure{Code: "unwritable", Message: "the answer cannot be written", Line: n}
		answer, _ = json.Marshal(map[string]any{"error": f})
		return answer, false
	}
	return answer, ok
}
