package limitertest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// HAProxyVariable names the HAProxy program of the benchmarks.
const HAProxyVariable = "PDPP_TEST_HAPROXY"

// Window is a number of requests in a time, as HAProxy counts them.
type Window struct {
	Requests int
	Length   time.Duration // whole seconds
	// Fixed windows begin by the clock. Otherwise the window slides.
	Fixed bool
	// Lenient counts only what was let through; otherwise a refused request counts too.
	Lenient bool
	// Status is what a refused request gets. Zero closes its connection without an
	// answer.
	Status int
	// RetryAfter is the Retry-After value of a refusal, in whole seconds. Zero sends no header.
	RetryAfter int
}

// Rate is the limit in requests per second.
func (w Window) Rate() float64 { return float64(w.Requests) / w.Length.Seconds() }

// config is a whole haproxy.cfg. The answers are HAProxy's own: it has no server behind.
func (w Window) config(address string) string {
	length := int(w.Length.Seconds())
	key, counter := "int(1)", "http_req_rate"
	store := fmt.Sprintf("http_req_rate(%ds)", length)
	if w.Fixed {
		key, counter, store = fmt.Sprintf("date,div(%d)", length), "http_req_cnt", "http_req_cnt"
	}
	rules := []string{
		fmt.Sprintf("http-request track-sc0 %s table items", key),
		fmt.Sprintf("%s if { %s,table_%s(items) gt %d }", w.refusal(), key, counter, w.Requests),
	}
	if w.Lenient { // it is asked before the request is counted
		rules[1] = fmt.Sprintf("%s if { %s,table_%s(items) ge %d }", w.refusal(), key, counter, w.Requests)
		slices.Reverse(rules)
	}
	return fmt.Sprintf(`global
	nbthread 1
defaults
	mode http
	timeout client 10m
	timeout connect 5s
	timeout server 1m
frontend items
	bind %s
	http-request return status 200 content-type text/plain string ready if { path /ready }
	%s
	http-request return status 200 content-type text/plain string item
backend items
	stick-table type integer size 1k expire %ds store %s
`, address, strings.Join(rules, "\n\t"), 3*length, store)
}

func (w Window) refusal() string {
	if w.Status == 0 {
		return "http-request reject"
	}
	message := ""
	if w.RetryAfter > 0 {
		message = fmt.Sprintf(" hdr Retry-After %d", w.RetryAfter)
	}
	return fmt.Sprintf("http-request return status %d content-type text/plain string refused%s", w.Status, message)
}

// HAProxy is one that runs, and serves whatever is asked for within its window.
type HAProxy struct {
	URL string

	process *process
}

// RunHAProxy starts the HAProxy at program with its files in the folder dir. The process
// ends with Stop, and with the process that started it.
func RunHAProxy(program, dir string, w Window) (*HAProxy, error) {
	address, release, err := reserve()
	if err != nil {
		return nil, fmt.Errorf("reserve a port: %w", err)
	}
	defer release()
	if err := os.WriteFile(filepath.Join(dir, "haproxy.cfg"), []byte(w.config(address)), 0o644); err != nil {
		return nil, fmt.Errorf("prepare HAProxy: %w", err)
	}
	h := &HAProxy{URL: "http://" + address}
	if h.process, err = launch(program, dir, "-db", "-q", "-f", "haproxy.cfg"); err != nil {
		return nil, fmt.Errorf("start HAProxy: %w", err)
	}
	if err := h.process.ready(h.URL); err != nil {
		return nil, fmt.Errorf("wait for HAProxy: %w", errors.Join(err, h.Stop()))
	}
	return h, nil
}

// Stop ends HAProxy. What it complained about is part of the error.
func (h *HAProxy) Stop() error {
	p := h.process
	if err := p.stop(); err != nil {
		return fmt.Errorf("HAProxy: %w", err)
	}
	// It ends by the signal that ends it.
	if waitStatus, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || waitStatus.Signaled() &&
		waitStatus.Signal() != syscall.SIGTERM || p.output.Len() > 0 {
		return fmt.Errorf("HAProxy complained: %w: %s", p.err, bytes.TrimSpace(p.output.Bytes()))
	}
	return nil
}
