package catalog

import (
	"bytes"
	"context"
	"fmt"
	"io"
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

// hostCache caches the output of one host program until its file changes. Otherwise a page that lists all connectors
// would start it once for each. Errors are not cached.
type hostCache struct {
	mu      sync.Mutex
	of      fileState
	reports map[string][]byte
	means   map[string]*manifest.Manifest // by output; shared and never modified
}

// hosts are the answers of each program, by its path.
var hosts sync.Map

// askHost returns the output of the host program, from the cache if possible.
func (c Catalog) askHost(ctx context.Context, args ...string) ([]byte, error) {
	return c.hostCacheFor().runHost(ctx, c.Host, args...)
}

func (c Catalog) hostCacheFor() *hostCache {
	kept, _ := hosts.LoadOrStore(c.Host, &hostCache{})
	return kept.(*hostCache)
}

// parseManifest parses a manifest from the host's output.
func (a *hostCache) parseManifest(body []byte) (*manifest.Manifest, error) {
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
	if a.means != nil { // nil while the host's file is unknown
		a.means[string(body)] = m
	}
	return m, nil
}

func (a *hostCache) runHost(ctx context.Context, host string, args ...string) ([]byte, error) {
	question, now := strings.Join(args, "\x00"), fileState{}
	if info, err := os.Stat(host); err == nil {
		now = fileState{info.Size(), info.ModTime()}
	}
	a.mu.Lock()
	if now != a.of {
		a.of, a.reports, a.means = now, map[string][]byte{}, map[string]*manifest.Manifest{}
	}
	content, known := a.reports[question]
	a.mu.Unlock()
	if known {
		return content, nil
	}
	content, err := start(ctx, host, nil, args...)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if now == a.of && now != (fileState{}) {
		a.reports[question] = content
	}
	return content, nil
}

// start runs the host program for one answer. A nil input is empty.
func start(ctx context.Context, host string, input io.Reader, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, hostTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, host, args...)
	cmd.Env, cmd.Stdin = []string{}, input
	cmd.WaitDelay = time.Second // a descendant of the host may hold the pipes open
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("ask %s %s: %w: %s", filepath.Base(host), args[0], err, strings.TrimSpace(stderr.String()))
	}
	return out, nil
}
