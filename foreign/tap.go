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

	"pdpp/protocol"
)

// exitGrace is how long a tap that has closed its output may take to end.
const exitGrace = 10 * time.Second

// files are what a tap is started with. They lie in the run's working directory and are gone
// with it.
type files struct{ dir, config, catalog, state string }

func writeFiles(dir string, config, catalog, state jsontext.Value) (files, error) {
	f := files{dir: dir}
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

// tap is the foreign program at work. It belongs to the process group of this process, so that
// whoever ends the group ends it too.
type tap struct {
	cmd    *exec.Cmd
	out    *output
	events chan event
	broken error // valid after events is closed
	exited chan error
}

// startTap starts the command, which reaches the network by the route. Each line of its output becomes an event.
func startTap(ctx context.Context, way *route, argv []string, dir string, read func([]byte) (event, error),
	log *slog.Logger) (*tap, error) {
	t := &tap{events: make(chan event), exited: make(chan error, 1)}
	stdout, out, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("open pipe: %w", err)
	}
	if t.out, err = newOutput(stdout); err != nil {
		return nil, errors.Join(err, stdout.Close(), out.Close())
	}
	stderr, said, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open pipe: %w", err), stdout.Close(), out.Close())
	}
	t.cmd, err = way.launch(argv, dir, func(argv, env []string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.Dir, cmd.Env, cmd.WaitDelay = dir, append(environment(dir), env...), time.Second
		cmd.Stdout, cmd.Stderr = out, said
		return cmd
	})
	_, _ = out.Close(), said.Close() // the child has its own
	if err != nil {
		_, _ = stdout.Close(), stderr.Close()
		return nil, fmt.Errorf("start the tap: %w", err)
	}
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		listen(stderr, log)
	}()
	go t.pump(ctx, read)
	go func() {
		err := t.cmd.Wait()
		<-heard
		t.exited <- err
	}()
	return t, nil
}

// pump turns lines into events until the output ends or breaks.
func (t *tap) pump(ctx context.Context, read func([]byte) (event, error)) {
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

// listen passes on what the tap tells people. The log takes secrets out.
func listen(stderr io.ReadCloser, log *slog.Logger) {
	defer stderr.Close()
	lines := bufio.NewScanner(stderr)
	lines.Buffer(nil, 64<<10)
	for lines.Scan() {
		if text := strings.TrimSpace(lines.Text()); text != "" {
			log.Info("tap: " + text)
		}
	}
	_, _ = io.Copy(io.Discard, stderr) // a line beyond all bounds is not kept, but must not block
}

// end waits for the process and gives its exit code; -1 when it had to be killed.
func (t *tap) end() int {
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
