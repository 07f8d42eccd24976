package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

const (
	recordBytes = 550
	sliceSize   = 1000
)

// body is the data of record i: about recordBytes of JSON with a text worth indexing.
func body(i int) string {
	id := fmt.Sprintf("rec_%09d", i)
	words := [...]string{"harbour", "lantern", "copper", "meadow", "winter", "signal", "thread", "quiet", "amber", "river"}
	var text strings.Builder
	for n := i; text.Len() < 300; n = n*7 + 3 {
		text.WriteString(words[(n&0x7fffffff)%len(words)])
		text.WriteByte(' ')
	}
	s := fmt.Sprintf(`{"id":%q,"at":"2026-01-02T03:04:05Z","kind":"entry","count":%d,"text":%q,"fill":"`, id, i,
		text.String())
	return s + strings.Repeat("x", max(0, recordBytes-len(s)-2)) + `"}`
}

// playConnector is the child: it emits the records as fast as it can, a STATE
// after every slice, and speaks the protocol to its end.
func playConnector() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(make([]byte, 64<<10), 16<<20)
	if !in.Scan() {
		os.Exit(1)
	}
	n, err := strconv.Atoi(os.Getenv("PDPP_BENCH_RECORDS"))
	if err != nil {
		os.Exit(1)
	}
	out := bufio.NewWriterSize(os.Stdout, 128<<10)
	lines := templates()
	for i := range n {
		_, _ = out.Write(lines[i%len(lines)].number(i))
		if (i+1)%sliceSize == 0 {
			fmt.Fprintf(out, `{"type":"STATE","stream":"entries","cursor":{"after":%d}}`+"\n", i)
		}
	}
	fmt.Fprintf(out, `{"type":"DONE","status":"succeeded","records_emitted":%d}`+"\n", n)
	if out.Flush() != nil {
		os.Exit(1)
	}
}

// template is a rendered RECORD line with an id that can be changed in place. It keeps the child
// cheap, so that the benchmark measures the processing after it.
type template struct {
	line []byte
	at   [2]int // offsets of the nine digits of the id: in the key and in the data
}

func templates() []template {
	out := make([]template, 512)
	for i := range out {
		line := recordLine(i)
		digits := fmt.Sprintf("rec_%09d", i)
		first := bytes.Index(line, []byte(digits)) + len("rec_")
		second := first + bytes.Index(line[first:], []byte(digits)) + len("rec_")
		out[i] = template{append(line, '\n'), [2]int{first, second}}
	}
	return out
}

func (t template) number(i int) []byte {
	for _, at := range t.at {
		for d, v := 8, i; d >= 0; d, v = d-1, v/10 {
			t.line[at+d] = byte('0' + v%10)
		}
	}
	return t.line
}

// recordLine is the whole RECORD of record i, without its LF.
func recordLine(i int) []byte {
	return fmt.Appendf(nil, `{"type":"RECORD","stream":"entries","key":"rec_%09d","data":%s,`+
		`"emitted_at":"2026-01-02T03:04:05Z"}`, i, body(i))
}

// install writes a foreign connector folder with this program as its executable.
func install(dir string, search bool) error {
	stream := map[string]any{
		"name": "entries", "description": "Generated entries.", "semantics": "mutable_state", "checkpoint": "slice",
		"primary_key": "id", "consent_time_field": "at",
		"schema": map[string]any{
			"type": "object", "required": []string{"id", "at"},
			"properties": map[string]any{
				"id": map[string]any{"type": "string"}, "at": map[string]any{"type": "string"},
				"kind":  map[string]any{"type": "string"},
				"count": map[string]any{"type": "integer"}, "text": map[string]any{"type": "string"},
				"fill": map[string]any{"type": "string"},
			},
		},
	}
	if search {
		stream["query"] = map[string]any{"search": []string{"text"}}
	}
	m := map[string]any{
		"protocol_version": "0.1.0", "connector_id": "bench", "connector_key": "bench", "version": "1.0.0",
		"display_name": "Bench",
		"runtime_requirements": map[string]any{
			"bindings": map[string]any{},
			"environment_variables": []any{map[string]any{"name": "PDPP_BENCH_RECORDS",
				"description": "How many records to emit."}},
		},
		"streams": []any{stream},
	}
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	folder := filepath.Join(dir, "bench")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "manifest.json"), b, 0o644); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return os.Symlink(self, filepath.Join(folder, "connector"))
}
