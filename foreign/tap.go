package foreign

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/protocol"
)

// exitGrace is how long a tap may take to exit after it has closed its output.
const exitGrace = 10 * time.Second

// tapFiles are the input files of a tap. They are in the run's working directory and are deleted with it.
type tapFiles struct{ dir, config, catalog, state string }

func writeFiles(dir string, config, catalog, state jsontext.Value) (tapFiles, error) {
	f := tapFiles{dir: dir}
	for _, part := range []struct {
		path *string
		name string
		body jsontext.Value
	}{{&f.config, "config.json", config}, {&f.catalog, "catalog.json", catalog}, {&f.state, "state.json", state}} {
		if part.body == nil {
			continue
		}
		*part.path = filepath.Join(dir, part.name)
		if err := os.WriteFile(*part.path, part.body, 0o600); err != nil {
			return f, fmt.Errorf("write %s: %w", part.name, err)
		}
	}
	return f, nil
}

// tapProcess is the running foreign program. It belongs to the process group of this process, so that ending the group
// ends the tap.
type tapProcess struct {
	cmd    *exec.Cmd
	out    *tapOutput
	events chan tapEvent
	broken error // valid after events is closed
	exited chan error
}

// startTap starts the command, which reaches the network through the route. Each line of its output becomes an
// event.
func startTap(ctx context.Context, way *networkRoute, argv []string, dir string, read func([]byte) (tapEvent, error),
	log *slog.Logger) (*tapProcess, error) {
	t := &tapProcess{events: make(chan tapEvent), exited: make(chan error, 1)}
	stdout, out, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("open pipe: %w", err)
	}
	if t.out, err = newOutput(stdout); err != nil {
		return nil, errors.Join(err, stdout.Close(), out.Close())
	}
	stderr, file, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open pipe: %w", err), stdout.Close(), out.Close())
	}
	t.cmd, err = way.launch(argv, dir, func(argv, env []string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.Dir, cmd.Env, cmd.WaitDelay = dir, append(environment(dir), env...), time.Second
		cmd.Stdout, cmd.Stderr = out, file
		return cmd
	})
	_, _ = out.Close(), file.Close() // the child has its own copies
	if err != nil {
		_, _ = stdout.Close(), stderr.Close()
		return nil, fmt.Errorf("start the tap: %w", err)
	}
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		logStderr(stderr, log)
	}()
	go t.pump(ctx, read)
	go func() {
		err := t.cmd.Wait()
		<-heard
		t.exited <- err
	}()
	return t, nil
}

// pump converts lines to events until the output ends or is invalid.
func (t *tapProcess) pump(ctx context.Context, read func([]byte) (tapEvent, error)) {
	defer t.out.Close()
	defer close(t.events)
	lines := protocol.NewLineReader(t.out, 0)
	for {
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.broken = err
			return
		}
		e, err := read(line)
		if err != nil {
			t.broken = err
			return
		}
		e.at = t.out.consumed() - int64(lines.Buffered())
		select {
		case t.events <- e:
		case <-ctx.Done():
			t.broken = context.Cause(ctx)
			return
		}
	}
}

// logStderr logs the tap's messages for people. The log removes secrets.
func logStderr(stderr io.ReadCloser, log *slog.Logger) {
	defer stderr.Close()
	lines := bufio.NewScanner(stderr)
	lines.Buffer(nil, 64<<10)
	for lines.Scan() {
		if text := strings.TrimSpace(lines.Text()); text != "" {
			log.Info("tap: " + text)
		}
	}
	_, _ = io.Copy(io.Discard, stderr) // an oversized line is dropped, but must not block
}

// end waits for the process and returns its exit code, or -1 if it had to be killed.
func (t *tapProcess) end() int {
	grace := time.NewTimer(exitGrace)
	defer grace.Stop()
	select {
	case <-t.exited:
	case <-grace.C:
		_ = t.cmd.Process.Kill()
		<-t.exited
		return -1
	}
	return t.cmd.ProcessState.ExitCode()
}
