package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// runAForeignConnector runs the lines of docs/extend/first-foreign-connector.md as a new user does, in an
// empty home, and then reads the records in the console.
func runAForeignConnector(t *testing.T, programs string) {
	home := t.TempDir()
	source := filepath.Join("..", "..", "internal", "quality", "foreigntest", "testdata", "shelf")
	if err := os.CopyFS(filepath.Join(home, "Downloads", "shelf"), os.DirFS(source)); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(home, "Texts"), os.DirFS(filepath.Join("testdata", "texts"))); err != nil {
		t.Fatal(err)
	}
	w := &walk{env: append(os.Environ(), "HOME="+home, "PDPP_HOME=", "PDPP_LISTEN=127.0.0.1:0",
		"PATH="+programs+":/usr/bin:/bin")}
	began := time.Now()
	for _, line := range walkLines(t) {
		switch out, err := w.do(t, line); {
		case err != nil:
			t.Fatalf("%s: %v\n%s", line, err, out)
		case strings.HasPrefix(line, "pdpp connect "):
			expect(t, line, out, "succeeded: 2 records")
		case strings.HasPrefix(line, "pdpp connectors"):
			expect(t, line, strings.Join(strings.Fields(out), " "), "shelf Shelf 0.3.0 foreign")
		case strings.HasPrefix(line, "pdpp records"):
			expect(t, line, out, "the boats are in")
		}
	}
	t.Attr("result", fmt.Sprintf("from an unpacked folder to the first records: %.1f s", time.Since(began).Seconds()))
	page := w.console(t, "/thing/cin_shelf_1/pages/harbour")
	expect(t, "the console", page, "the boats are in")
}

func expect(t *testing.T, where, text, part string) {
	t.Helper()
	if !strings.Contains(text, part) {
		t.Errorf("%s: %q is not in\n%s", where, part, text)
	}
}

// walkLines are the lines of the document.
func walkLines(t *testing.T) []string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "extend", "first-foreign-connector.md"))
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```walk\n(.*?)\n```").FindSubmatch(page)
	if block == nil {
		t.Fatal("the document has no lines to run")
	}
	return strings.Split(string(block[1]), "\n")
}

// walk is a person at a shell.
type walk struct {
	env               []string
	address, password string
}

// do runs one line and returns its output. A server keeps running; do returns when it is ready.
func (w *walk) do(t *testing.T, line string) (string, error) {
	cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
	cmd.Env, cmd.SysProcAttr = w.env, &syscall.SysProcAttr{Setpgid: true}
	if !strings.HasSuffix(line, " serve") {
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		return "", err
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
		_ = cmd.Wait()
	})
	var output strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		fmt.Fprintln(&output, lines.Text())
		if _, rest, ok := strings.Cut(lines.Text(), "ready on "); ok {
			w.address, _, _ = strings.Cut(rest, ";")
		}
		if _, password, ok := strings.Cut(lines.Text(), "not shown again: "); ok {
			w.password = password
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return output.String(), nil
		}
	}
	return output.String(), io.ErrUnexpectedEOF
}

// console signs in and returns a page.
func (w *walk) console(t *testing.T, path string) string {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar}
	defer client.CloseIdleConnections()
	in, err := client.PostForm(w.address+"/login", url.Values{"password": {w.password}})
	if err != nil {
		t.Fatal(err)
	}
	_ = in.Body.Close()
	answer, err := client.Get(w.address + path)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", path, answer.Status, err)
	}
	return string(body)
}
