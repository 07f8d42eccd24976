package catalog

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/manifest"
)

// hostTimeout bounds a question to the host program, which answers from memory.
const hostTimeout = 15 * time.Second

// answers are what one host program has said, for as long as it is the same file: a page that lists
// all connectors would else start it once for each of them. A refusal is not kept.
type answers struct {
	mu    sync.Mutex
	of    state
	said  map[string][]byte
	means map[string]*manifest.Manifest // by what was said; they are shared, and nobody changes them
}

// hosts are the answers of each program, by its path.
var hosts sync.Map

// askHost asks the host program, or remembers what it said.
func (c Catalog) askHost(ctx context.Context, args ...string) ([]byte, error) {
	return c.answers().ask(ctx, c.Host, args...)
}

func (c Catalog) answers() *answers {
	kept, _ := hosts.LoadOrStore(c.Host, &answers{})
	return kept.(*answers)
}

// parse reads a manifest that the host has told.
func (a *answers) parse(body []byte) (*manifest.Manifest, error) {
	a.mu.Lock()
	known := a.means[string(body)]
	a.mu.Unlock()
	if known != nil {
		return known, nil
	}
	m, err := manifest.Parse(body)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.means != nil { // it is not while nobody knows which file the host is
		a.means[string(body)] = m
	}
	return m, nil
}

func (a *answers) ask(ctx context.Context, host string, args ...string) ([]byte, error) {
	question, now := strings.Join(args, "\x00"), state{}
	if info, err := os.Stat(host); err == nil {
		now = state{info.Size(), info.ModTime()}
	}
	a.mu.Lock()
	if now != a.of {
		a.of, a.said, a.means = now, map[string][]byte{}, map[string]*manifest.Manifest{}
	}
	said, known := a.said[question]
	a.mu.Unlock()
	if known {
		return said, nil
	}
	said, err := start(ctx, host, args...)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if now == a.of && now != (state{}) {
		a.said[question] = said
	}
	return said, nil
}

// start runs the host program for one answer.
func start(ctx context.Context, host string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, hostTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, host, args...)
	cmd.Env = []string{}
	cmd.WaitDelay = time.Second // for a host whose descendant keeps the pipes open
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("ask %s %s: %w: %s", filepath.Base(host), args[0], err, strings.TrimSpace(stderr.String()))
	}
	return out, nil
}
