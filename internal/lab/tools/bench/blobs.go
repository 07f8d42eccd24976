package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

const (
	trunkBytes    = 1 << 30
	trunkManifest = `{"protocol_version":"0.1.0","connector_id":"trunk","version":"1.0.0","display_name":"Trunk",
 "streams":[{"name":"things","semantics":"mutable_state","checkpoint":"slice","primary_key":"id",
  "schema":{"type":"object","required":["id"],"properties":{"id":{"type":"string"},"file":{"type":"integer"}}}}]}`
	// trunkConnector leaves one large file for one record.
	trunkConnector = `#!/bin/sh
read -r start
dd if=/dev/zero of=trunk.bin bs=1048576 count=1024 2>/dev/null
printf '%s\n' '{"type":"RECORD","stream":"things","key":"a","data":{"id":"a","file":1},"emitted_at":"2026-03-01","blobs":[{"field":"file","path":"trunk.bin","name":"trunk.bin"}]}'
printf '%s\n' '{"type":"STATE","stream":"things","cursor":{"n":1}}'
printf '%s\n' '{"type":"DONE","status":"succeeded","records_emitted":1}'
cat >/dev/null
`
)

// measureBlobs takes a file of a record of 1 GiB in and out through the shipped programs, against a copy
// of the same file that is hashed.
func measureBlobs(ctx context.Context, _ config, dir string, r *report) error {
	p, err := build(ctx, dir)
	if err != nil {
		return err
	}
	home := filepath.Join(dir, "trunk-home")
	folder := filepath.Join(home, "connectors", "trunk")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	for name, body := range map[string]string{"manifest.json": trunkManifest, "connector": trunkConnector} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(body), 0o700); err != nil {
			return err
		}
	}
	p.env = []string{"PDPP_HOME=" + home, "TMPDIR=" + dir, "PDPP_MAX_BLOB_BYTES=0"}
	took, rss, _, err := p.timed(ctx, home, "run", "trunk", "--json")
	if err != nil {
		return err
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, io.LimitReader(zeros{}, trunkBytes)); err != nil {
		return err
	}
	hash := hex.EncodeToString(sum.Sum(nil))
	kept := filepath.Join(home, "blobs", hash[:2], hash)
	begin := time.Now()
	plain := exec.CommandContext(ctx, "sh", "-c", `dd if=/dev/zero of="$1" bs=1048576 count=1024 2>/dev/null && cp "$1" "$1.2" && sync "$1.2" && sha256sum "$1.2" >/dev/null; rm -f "$1" "$1.2"`, "sh", filepath.Join(dir, "plain.bin"))
	if out, err := plain.CombinedOutput(); err != nil {
		return fmt.Errorf("copy: %w: %s", err, out)
	}
	bare := time.Since(begin)
	if info, err := os.Stat(kept); err != nil || info.Size() != trunkBytes {
		return fmt.Errorf("the file is not kept: %w", err)
	}
	r.tell(figure{Name: "blobs: 1 GiB in, whole run", Value: took.Seconds(), Unit: "s", Note: fmt.Sprintf("dd, cp, sync and sha256sum of the same: %.1f s", bare.Seconds())})
	r.tell(figure{Name: "blobs: 1 GiB in, peak RSS of pdpp run", Value: rss, Unit: "MiB", Below: 64})

	out := filepath.Join(dir, "trunk.out")
	took, rss, _, err = p.timed(ctx, home, "file", hash, "-o", out)
	if err != nil {
		return err
	}
	_ = os.Remove(out)
	r.tell(figure{Name: "blobs: 1 GiB out by pdpp file", Value: took.Seconds(), Unit: "s"})
	r.tell(figure{Name: "blobs: 1 GiB out, peak RSS of pdpp file", Value: rss, Unit: "MiB", Below: 64})
	return p.readTrunk(ctx, home, hash, r)
}

// readTrunk reads the file over HTTP.
func (p programs) readTrunk(ctx context.Context, home, hash string, r *report) error {
	_, _, said, err := p.timed(ctx, home, "tokens", "create", "Bench", "--json")
	if err != nil {
		return err
	}
	var made struct {
		Secret string `json:"secret"`
	}
	if err := json.Unmarshal(said, &made); err != nil {
		return err
	}
	s, err := p.serve(ctx, home, "", "--role", "web", "--listen", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer func() { _, _ = s.stop() }()
	status := fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid)
	before, err := statusField(status, "VmHWM")
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/v1/blobs/"+hash, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+made.Secret)
	begin := time.Now()
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, res.Body)
	took := time.Since(begin)
	if err != nil || res.StatusCode != http.StatusOK || n != trunkBytes || hex.EncodeToString(sum.Sum(nil)) != hash {
		return fmt.Errorf("read %d bytes with status %d: %w", n, res.StatusCode, err)
	}
	after, err := statusField(status, "VmHWM")
	if err != nil {
		return err
	}
	r.tell(figure{Name: "blobs: 1 GiB out over HTTP, hashed by the reader", Value: took.Seconds(), Unit: "s"})
	r.tell(figure{Name: "blobs: 1 GiB out, peak RSS of pdpp serve", Value: float64(after) / 1024, Unit: "MiB", Below: 64, Note: fmt.Sprintf("%.1f before", float64(before)/1024)})
	return nil
}

// timed runs a command of pdpp, and tells how long it took, how much memory it had at most, in MiB, and
// what it said.
func (p programs) timed(ctx context.Context, home string, args ...string) (took time.Duration, rss float64, said []byte, err error) {
	cmd := exec.CommandContext(ctx, p.pdpp, args...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + home}, p.env...)
	begin := time.Now()
	said, err = cmd.Output()
	took = time.Since(begin)
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("pdpp %s: %w: %s%s", args[0], err, said, exit.Stderr)
		}
		return took, 0, said, err
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return took, 0, said, fmt.Errorf("the memory of pdpp %s is not known", args[0])
	}
	return took, float64(usage.Maxrss) / 1024, said, nil
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}
