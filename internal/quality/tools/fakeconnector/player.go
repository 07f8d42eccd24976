package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// player is a connector that executes a script line by line:
//
//	record STREAM KEY {data}      delete STREAM KEY        state STREAM {cursor} [MODE]
//	gap STREAM KEY REASON [CLASS] recover                  progress STREAM N TOTAL TEXT
//	gaps STREAM N REASON [CLASS]  wanted
//	skip STREAM REASON TEXT       start                    env NAME
//	ask {interaction}             done                     fail CODE HINT TEXT
//	signal PIPE                   await PIPE               hang
//	stderr TEXT                   exit CODE                {any other message}
//	peek KEY PATH                 poke KEY PATH            try KEY PROGRAM ARG...
type player struct {
	in      *bufio.Reader
	dir     string
	start   map[string]any
	records int
}

const emittedAt = "2026-03-01T08:00:00Z"

func play(path string) {
	script, err := os.ReadFile(path)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	playLines(filepath.Dir(path), string(script))
}

func playLines(dir, script string) {
	p := &player{in: bufio.NewReader(os.Stdin), dir: dir}
	if err := p.receive(&p.start); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for _, line := range strings.Split(script, "\n") {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			p.do(line)
		}
	}
}

func (p *player) do(line string) {
	if line[0] == '{' {
		fmt.Println(line)
		return
	}
	word, rest, _ := strings.Cut(line, " ")
	arg := strings.SplitN(rest, " ", 4)
	for len(arg) < 4 {
		arg = append(arg, "")
	}
	switch word {
	case "record":
		p.record(arg[0], arg[1], strings.Join(arg[2:], " "))
	case "delete":
		p.records++
		send("RECORD", map[string]any{"stream": arg[0], "key": arg[1], "op": "delete", "emitted_at": emittedAt})
	case "bookmarks":
		for _, s := range p.start["scope"].(map[string]any)["streams"].([]any) {
			send("STATE", map[string]any{"stream": s.(map[string]any)["name"],
				"cursor": map[string]string{"of": "built-in-bookmark"}})
		}
	case "state":
		m := map[string]any{"stream": arg[0], "cursor": json.RawMessage(arg[1])}
		if arg[2] != "" {
			m["mode"] = arg[2]
		}
		send("STATE", m)
	case "gap":
		gap(arg[0], arg[1], arg[2], arg[3])
	case "gaps":
		n, _ := strconv.Atoi(arg[1])
		for i := range n {
			gap(arg[0], fmt.Sprintf("p%04d", i), arg[2], arg[3])
		}
	case "recover":
		p.recover()
	case "wanted":
		p.wanted()
	case "progress":
		n, _ := strconv.ParseFloat(arg[1], 64)
		total, _ := strconv.ParseFloat(arg[2], 64)
		send("PROGRESS", map[string]any{"stream": arg[0], "count": n, "total": total, "message": arg[3]})
	case "skip":
		send("SKIP_RESULT", map[string]any{"stream": arg[0], "reason": arg[1],
			"message": strings.TrimSpace(arg[2] + " " + arg[3])})
	case "start":
		body, _ := json.Marshal(map[string]any{"id": "start", "written_at": emittedAt, "start": p.start})
		p.record("entries", "start", string(body))
	case "env":
		body, _ := json.Marshal(map[string]any{"id": "env", "text": os.Getenv(rest)})
		p.record("entries", "env", string(body))
	case "ask":
		p.ask(rest)
	case "done":
		send("DONE", map[string]any{"status": "succeeded", "records_emitted": p.records})
		os.Exit(0)
	case "fail":
		send("DONE", map[string]any{"status": "failed", "records_emitted": p.records, "error": map[string]any{
			"code": arg[0], "message": strings.TrimSpace(arg[2] + " " + arg[3]),
			"recovery_hint": map[string]any{"action": arg[1]}}})
		os.Exit(1)
	case "signal":
		if f, err := os.OpenFile(pipe(rest), os.O_WRONLY, 0); err == nil {
			_ = f.Close()
		}
	case "await":
		if f, err := os.Open(pipe(rest)); err == nil {
			_, _ = io.Copy(io.Discard, f)
		}
	case "hang":
		for { // a program without a timer would be ended by the runtime as one that is stuck
			time.Sleep(time.Hour)
		}
	case "peek", "poke":
		path := strings.ReplaceAll(os.ExpandEnv(arg[1]), "PARENT", strconv.Itoa(os.Getppid()))
		if !filepath.IsAbs(path) {
			path = filepath.Join(p.dir, path)
		}
		p.tell(arg[0], reach(word, path))
	case "try":
		p.tell(arg[0], exec.Command(arg[1], strings.Fields(strings.Join(arg[2:], " "))...).Run())
	case "stderr":
		if text, err := strconv.Unquote(`"` + rest + `"`); err == nil {
			rest = text
		}
		fmt.Fprintln(os.Stderr, rest)
	case "exit":
		code, _ := strconv.Atoi(rest)
		os.Exit(code)
	default:
		fmt.Fprintln(os.Stderr, "unknown line:", line)
		os.Exit(99)
	}
}

// pipe returns where a named pipe is: in the only folder to which a connector may write.
func pipe(name string) string { return filepath.Join(os.Getenv("PDPP_CONNECTOR_DATA_DIR"), name) }

// reach tries to read a file, or to write one.
func reach(how, path string) error {
	if how == "poke" {
		return os.WriteFile(path, []byte("x"), 0o600)
	}
	f, err := os.Open(path)
	if err == nil {
		_, err = f.Read(make([]byte, 1))
		_ = f.Close()
	}
	return err
}

// tell sends a record with the result of an attempt.
func (p *player) tell(key string, err error) {
	word := "reached"
	if err != nil {
		word = err.Error()
	}
	body, _ := json.Marshal(map[string]string{"id": key, "text": word})
	p.record("entries", key, string(body))
}

func (p *player) record(stream, key, data string) {
	p.records++
	send("RECORD", map[string]any{"stream": stream, "key": key, "data": json.RawMessage(strings.TrimSpace(data)),
		"emitted_at": emittedAt})
}

// gap reports one item as missing.
func gap(stream, key, reason, class string) {
	m := map[string]any{"stream": stream, "record_key": key, "reason": reason, "retryable": true, "reference_only": true,
		"detail_locator": map[string]any{"key": key}}
	if class != "" {
		m["detail"] = map[string]any{"class": class}
	}
	send("DETAIL_GAP", m)
}

// recover fetches every gap that the run is handed, page after page.
func (p *player) recover() {
	gaps, _ := p.start["detail_gaps"].([]any)
	for n := 0; len(gaps) > 0; n++ {
		p.fetch(gaps)
		send("DETAIL_GAPS_PAGE_REQUEST", map[string]any{"request_id": strconv.Itoa(n), "reference_only": true})
		var page struct {
			Gaps []any `json:"detail_gaps"`
		}
		if err := p.receive(&page); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		gaps = page.Gaps
	}
}

// wanted sends the individual records that the run requested. Each contains the number of
// requested records of its stream.
func (p *player) wanted() {
	scope, _ := p.start["scope"].(map[string]any)
	streams, _ := scope["streams"].([]any)
	for _, s := range streams {
		stream := s.(map[string]any)
		keys, _ := stream["resources"].([]any)
		for _, key := range keys {
			p.record(fmt.Sprint(stream["name"]), fmt.Sprint(key), fmt.Sprintf(`{"id":%q,"width":%d}`, key, len(keys)))
		}
	}
}

func (p *player) fetch(gaps []any) {
	for _, g := range gaps {
		gap := g.(map[string]any)
		ref := map[string]any{"gap_id": gap["gap_id"], "lease_id": gap["lease_id"], "stream": gap["stream"],
			"reference_only": true}
		send("DETAIL_GAP_ATTEMPTED", ref)
		key := fmt.Sprint(gap["record_key"])
		p.record(fmt.Sprint(gap["stream"]), key, `{"id":"`+key+`"}`)
		send("DETAIL_GAP_RECOVERED", ref)
	}
}

// ask puts a question and keeps the length of each answer, which is enough to
// see that it arrived.
func (p *player) ask(body string) {
	fmt.Println(body)
	var answer struct {
		Status string
		Data   map[string]any
	}
	if err := p.receive(&answer); err != nil || answer.Status != "success" {
		p.do("fail credentials_missing refresh_credentials the question was not answered: " + answer.Status)
	}
	reports := map[string]any{"id": "answer", "start": map[string]any{}}
	for name, value := range answer.Data {
		reports["start"].(map[string]any)[name] = len(fmt.Sprint(value))
	}
	data, _ := json.Marshal(reports)
	p.record("entries", "answer", string(data))
}

func (p *player) receive(into any) error {
	line, err := p.in.ReadBytes('\n')
	if err != nil {
		return err
	}
	return json.Unmarshal(line, into)
}

func send(kind string, m map[string]any) {
	line := map[string]any{"type": kind}
	for k, v := range m {
		line[k] = v
	}
	b, _ := json.Marshal(line)
	fmt.Println(string(b))
}
