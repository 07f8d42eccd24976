package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// measureFiles measures a connector of local files without a server. The built-in host reads a
// folder of transcripts, and its output is discarded. It measures processor time, because wall
// time means little on a shared machine.
func measureFiles(ctx context.Context, c config, dir string, r *report) error {
	p, err := build(ctx, dir)
	if err != nil {
		return err
	}
	host := filepath.Join(filepath.Dir(p.pdpp), "pdpp-connectors")
	home := filepath.Join(dir, "transcripts")
	const files, lines, lineBytes = 64, 512, 2000
	size, err := writeTranscripts(home, files, lines, lineBytes)
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	var standard, off, plain []float64
	for range c.Rounds {
		bare, err := plainRead(home)
		if err != nil {
			return err
		}
		masked, err := readFiles(ctx, host, home, "standard", nil)
		if err != nil {
			return err
		}
		open, err := readFiles(ctx, host, home, "off", nil)
		if err != nil {
			return err
		}
		plain, standard, off = append(plain, bare), append(standard, masked.cpu), append(off, open.cpu)
	}
	mb := float64(size) / 1e6
	r.tell(figure{Name: "local files: transcripts read, masked and written", Value: mb / median(standard),
		Unit: "MB per CPU-s", AtLeast: 150,
		Note: fmt.Sprintf("%.0f MB in lines of 2 kB; without masking %.0f", mb, mb/median(off))})
	r.tell(figure{Name: "local files: CPU against a plain read of the same lines that checks their JSON",
		Value: median(standard) / median(plain), Unit: "x",
		Note: fmt.Sprintf("a plain read takes %.0f MB per CPU-s", mb/median(plain))})
	r.tell(figure{Name: "local files: CPU with masking against without", Value: median(standard) / median(off), Unit: "x",
		Below: 1.1})
	for _, n := range []int{10_000, 100_000} {
		if err := idleFiles(ctx, host, filepath.Join(dir, "many"), n, c.IdleTime, r); err != nil {
			return err
		}
	}
	return hugeFiles(ctx, host, filepath.Join(dir, "huge"), r)
}

// idleFiles measures a pass over files of which none has changed, and the service that looks at them in
// between.
func idleFiles(ctx context.Context, host, home string, n int, watched time.Duration, r *report) error {
	defer os.RemoveAll(home)
	if _, err := writeTranscripts(home, n, 1, 300); err != nil {
		return err
	}
	first, err := readFiles(ctx, host, home, "", nil)
	if err != nil {
		return err
	}
	idle := first
	for range 6 { // files that were written a moment before they were read are looked at once more
		if idle, err = readFiles(ctx, host, home, "", idle.state); err != nil {
			return err
		}
		if idle.records < 100 {
			break
		}
	}
	name := fmt.Sprintf("local files: pass over %d unchanged files", n)
	mark := 0
	for _, cursor := range idle.state {
		mark = max(mark, len(cursor))
	}
	r.tell(figure{Name: name, Value: 1000 * idle.cpu, Unit: "CPU-ms", Note: "made once an hour when nothing changes"})
	r.tell(figure{Name: name + ", peak RSS", Value: idle.rss, Unit: "MiB", Below: 96})
	r.tell(figure{Name: name + ", bookmark", Value: float64(mark) / 1024, Unit: "KiB", Below: 100})
	return idleService(ctx, home, n, watched, idle.cpu, r)
}

// hugeFiles measures the memory that a file of 1 GiB and a line of 20 MiB take.
func hugeFiles(ctx context.Context, host, home string, r *report) error {
	defer os.RemoveAll(home)
	if _, err := writeTranscripts(home, 4, 200, 2000); err != nil {
		return err
	}
	project := filepath.Join(home, "projects", "-home-mara-0")
	long := transcriptLine("long", 0, 20<<20) + transcriptLine("long", 1, 15<<20) + transcriptLine("long", 2, 2000)
	if err := os.WriteFile(filepath.Join(project, "long.jsonl"), []byte(long), 0o600); err != nil {
		return err
	}
	h, err := os.Create(filepath.Join(project, "sparse.jsonl"))
	if err != nil {
		return err
	}
	defer h.Close()
	if _, err := h.WriteAt([]byte("\n"+transcriptLine("sparse", 0, 2000)), 1<<30); err != nil {
		return err
	}
	got, err := readFiles(ctx, host, home, "", nil)
	if err != nil {
		return err
	}
	r.tell(figure{Name: "local files: peak RSS with a file of 1 GiB and a line of 20 MiB", Value: got.rss, Unit: "MiB",
		Below: 64, Note: fmt.Sprintf("%d records", got.records)})
	return nil
}

// prose is text that compresses about as much as what people and models write.
var prose = sync.OnceValue(func() string {
	rng := rand.New(rand.NewPCG(3, 5))
	words := make([]string, 4000)
	for i := range words {
		word := make([]byte, 2+rng.IntN(8))
		for j := range word {
			word[j] = "etaoinshrdlucmfwygpbvk"[rng.IntN(22)]
		}
		words[i] = string(word)
	}
	var b strings.Builder
	for b.Len() < 1<<20 {
		b.WriteString(words[rng.IntN(len(words))] + " ")
	}
	return b.String()
})

func transcriptLine(session string, n, size int) string {
	whole := prose()
	from := n * 997 % (len(whole) / 2)
	text := whole[from:]
	if size > len(text) {
		text = strings.Repeat(text, size/len(text)+1)
	}
	text = text[:size]
	return fmt.Sprintf(`{"type":"user","uuid":"%s-%d","parentUuid":null,"sessionId":"%s",`+
		`"timestamp":"2026-03-01T10:00:00.000Z","cwd":"/home/mara/app","version":"2.1.40","message":{"role":"user",`+
		`"content":"%s"}}`+"\n", session, n, session, text)
}

func writeTranscripts(home string, files, lines, size int) (total int64, err error) {
	for i := range files {
		dir := filepath.Join(home, "projects", fmt.Sprintf("-home-mara-%d", i/1000))
		if i%1000 == 0 {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return 0, err
			}
		}
		session := fmt.Sprintf("session-%06d", i)
		var b strings.Builder
		for n := range lines {
			b.WriteString(transcriptLine(session, n, size))
		}
		total += int64(b.Len())
		if err := os.WriteFile(filepath.Join(dir, session+".jsonl"), []byte(b.String()), 0o600); err != nil {
			return 0, err
		}
	}
	return total, nil
}

// plainRead is the processor time of reading every line and seeing that it is JSON.
func plainRead(home string) (float64, error) {
	begin, err := ownCPU()
	if err != nil {
		return 0, err
	}
	err = filepath.WalkDir(home, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		h, err := os.Open(path)
		if err != nil {
			return err
		}
		defer h.Close()
		lines := bufio.NewReaderSize(h, 256<<10)
		for {
			line, err := lines.ReadSlice('\n')
			switch {
			case err == io.EOF:
				return nil
			case err != nil:
				return err
			case !json.Valid(line):
				return fmt.Errorf("%s holds what is no JSON", path)
			}
		}
	})
	end, more := ownCPU()
	if err == nil {
		err = more
	}
	return (end - begin).Seconds(), err
}

func ownCPU() (time.Duration, error) {
	var use syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &use)
	return time.Duration(use.Utime.Nano() + use.Stime.Nano()), err
}

// filesRun is one run of a connector of local files.
type filesRun struct {
	cpu     float64 // seconds
	rss     float64 // MiB
	records int
	state   map[string]json.RawMessage
}

// readFiles runs the connector over a home, from a state, and throws its records away.
func readFiles(ctx context.Context, host, home, redact string, state map[string]json.RawMessage) (filesRun, error) {
	env := []string{"CLAUDE_CONFIG_DIR=" + home, "PDPP_CLAUDE_CODE_REDACT=" + redact}
	return runHost(ctx, host, "claude_code", []string{"sessions", "messages", "attachments", "coverage_diagnostics"}, env,
		state)
}

// runHost runs a built-in connector of local files, from a state, and throws its records away.
func runHost(ctx context.Context, host, connector string, names, env []string,
	state map[string]json.RawMessage) (filesRun, error) {
	if state == nil {
		state = map[string]json.RawMessage{}
	}
	var streams []map[string]string
	for _, name := range names {
		streams = append(streams, map[string]string{"name": name})
	}
	start, err := json.Marshal(map[string]any{
		"type": "START", "run_id": "bench", "collection_mode": "incremental", "scope": map[string]any{"streams": streams},
		"state":    state,
		"bindings": map[string]any{"filesystem": map[string]any{}}, "detail_gaps": []any{},
	})
	if err != nil {
		return filesRun{}, err
	}
	cmd := exec.CommandContext(ctx, host, "run", connector)
	cmd.Env = append(env, "PDPP_CONNECTOR_INSTANCE_ID=bench")
	in, err := cmd.StdinPipe()
	if err != nil {
		return filesRun{}, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return filesRun{}, err
	}
	if err := cmd.Start(); err != nil {
		return filesRun{}, err
	}
	if _, err := in.Write(append(start, '\n')); err != nil {
		return filesRun{}, err
	}
	run := filesRun{state: map[string]json.RawMessage{}}
	lines := bufio.NewReaderSize(out, 1<<20)
	for done := false; !done; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return run, fmt.Errorf("read what the connector writes: %w", err)
		}
		switch {
		case bytes.HasPrefix(line, []byte(`{"type":"RECORD"`)):
			run.records++
		case bytes.HasPrefix(line, []byte(`{"type":"STATE"`)):
			var m struct {
				Stream string          `json:"stream"`
				Mode   string          `json:"mode"`
				Cursor json.RawMessage `json:"cursor"`
			}
			if err := json.Unmarshal(line, &m); err != nil {
				return run, err
			}
			if m.Mode == "" {
				run.state[m.Stream] = m.Cursor
			}
			// The process is gone soon after its last word: its peak is read at every slice.
			if kib, err := statusField(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid), "VmHWM"); err == nil {
				run.rss = max(run.rss, float64(kib)/1024)
			}
		case bytes.HasPrefix(line, []byte(`{"type":"DONE"`)):
			if done = true; !bytes.Contains(line, []byte(`"succeeded"`)) {
				return run, fmt.Errorf("the connector says %s", line)
			}
		}
	}
	_ = in.Close()
	if err := cmd.Wait(); err != nil {
		return run, err
	}
	run.cpu = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	return run, nil
}
