package claudecode_test

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/answers"
	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	claudecode "github.com/pdpp-go/pdpp/connectors/claude_code"
	"github.com/pdpp-go/pdpp/providersim/files"
)

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DetectDriftFiles(t, target(t), claudecode.Connector())
}

// BenchmarkSample measures what the comparison of lines costs of a run that reads, judges and emits their records: the
// share of its time, in percent. A runner and a store, which cost more, are not counted.
func BenchmarkSample(b *testing.B) {
	tree, err := files.Claude(b.TempDir(), files.Config{Seed: 4, Sessions: 60, Lines: 400})
	if err != nil {
		b.Fatal(err)
	}
	sheet, err := os.ReadFile("answers.txt")
	if err != nil {
		b.Fatal(err)
	}
	var lines [][]byte
	if err := filepath.WalkDir(tree.Root(), func(at string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(at) != ".jsonl" {
			return err
		}
		content, err := os.ReadFile(at)
		lines = append(lines, bytes.Split(content, []byte("\n"))...)
		return err
	}); err != nil {
		b.Fatal(err)
	}
	c := claudecode.Connector()
	c.Answers = string(sheet)
	var whole, sampled time.Duration
	for b.Loop() {
		stdin, w := io.Pipe()
		began := time.Now()
		code := connectorkit.Run(b.Context(), c, connectorkit.Process{
			Stdin:  io.MultiReader(bytes.NewReader(connectortest.StartAllStreams(b, c)), stdin),
			Stdout: io.Discard, Stderr: io.Discard, Now: time.Now,
			Env: func(name string) string { return map[string]string{"CLAUDE_CONFIG_DIR": tree.Root()}[name] },
		})
		whole += time.Since(began)
		if _ = w.Close(); code != 0 {
			b.Fatalf("exit code %d", code)
		}
		began = time.Now()
		compared := answers.Compare(string(sheet))
		for i, line := range lines {
			if len(line) > 0 && (i < 16 || i%256 == 0) {
				compared.Content("messages", "transcripts", answers.Content{Body: line, Whole: true})
			}
		}
		sampled += time.Since(began)
	}
	b.ReportMetric(100*sampled.Seconds()/whole.Seconds(), "%-of-run")
	b.ReportMetric(float64(len(lines)), "lines")
}
