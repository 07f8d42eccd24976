package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// measureDemo measures what a newcomer waits for: from the start of the demonstration
// to the first page that shows its connections.
func measureDemo(ctx context.Context, _ config, dir string, r *report) (err error) {
	p, err := build(ctx, dir)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, p.pdpp, "demo", "--json", "--listen", "127.0.0.1:0")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() {
		begin := time.Now()
		err = errors.Join(err, cmd.Process.Signal(syscall.SIGTERM), cmd.Wait())
		r.tell(figure{Name: "demonstration from SIGTERM to its end", Value: time.Since(begin).Seconds(), Unit: "s", Below: 10})
	}()
	var told struct {
		URL      string `json:"url"`
		Password string `json:"owner_password"`
	}
	if err := json.NewDecoder(out).Decode(&told); err != nil {
		return fmt.Errorf("the demonstration did not become ready: %w", err)
	}
	page, err := signIn(ctx, told.URL, told.Password)
	if err != nil {
		return err
	}
	if n := strings.Count(page, "data-connection="); n < 6 {
		return fmt.Errorf("the first page shows %d connections", n)
	}
	r.tell(figure{Name: "demonstration from start to its first page", Value: time.Since(begin).Seconds(), Unit: "s", Below: 3, Note: "fourteen connections and a year of records, signing in included"})
	return nil
}

// signIn gives the page that an owner is at after signing in.
func signIn(ctx context.Context, base, password string) (string, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return "", err
	}
	client := &http.Client{Jar: jar, Timeout: 10 * time.Second}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/login", strings.NewReader(url.Values{"password": {password}}.Encode()))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("signing in leads to %d", resp.StatusCode)
	}
	return string(body), err
}
