//pdpp:tier programs

package devicetest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestMain lets the test binary play the connector, under the name that connectors have.
func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case "connector":
		playDiary()
	case clocked:
		playClocked()
	}
	os.Exit(m.Run())
}

const sliceLines = 40

// playDiary is a connector for a text file with one note per line. A line that begins with
// a question mark is a note that cannot be read: it is declared missing.
func playDiary() {
	in, out := bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)
	var start struct {
		State map[string]struct{ N int }
	}
	line, err := in.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &start)
	}
	body, readErr := os.ReadFile(os.Getenv("DIARY_FILE"))
	if err != nil || readErr != nil {
		fmt.Fprintln(os.Stderr, err, readErr)
		syscall.Exit(1)
	}
	notes, sent := strings.Fields(string(body)), 0
	for n := start.State["notes"].N; n < len(notes); n++ {
		if key, lost := strings.CutPrefix(notes[n], "?"); lost {
			fmt.Fprintf(out, `{"type":"DETAIL_GAP","stream":"notes","record_key":%q,"reason":"unreadable","retryable":false}`+
				"\n", key)
		} else {
			sent++
			fmt.Fprintf(out, `{"type":"RECORD","stream":"notes","key":%q,"data":{"id":%q,"10":1,"2":"%s"},`+
				`"emitted_at":"2026-03-01T08:00:00Z"}`+"\n", key, key, strings.Repeat("x", 200))
		}
		if (n+1)%sliceLines == 0 || n+1 == len(notes) {
			fmt.Fprintf(out, `{"type":"STATE","stream":"notes","cursor":{"n":%d}}`+"\n", n+1)
		}
	}
	fmt.Fprintf(out, `{"type":"DONE","status":"succeeded","records_emitted":%d}`+"\n", sent)
	_ = out.Flush()
	_, _ = io.Copy(io.Discard, in)
	syscall.Exit(0)
}
