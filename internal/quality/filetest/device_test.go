package filetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// road is the way from a device to its server, on which pieces of files break off.
type road struct {
	url    string
	pieces atomic.Int64 // that set out
	bytes  atomic.Int64 // of them that arrived
	cut    func(n int64) bool
	killed func()
}

// newRoad starts a proxy to a server. It cuts an uploaded piece in the middle if cut returns true.
func newRoad(t *testing.T, to string) *road {
	t.Helper()
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	r := &road{cut: func(int64) bool { return false }, killed: func() {}}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.ErrorHandler = func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if req.Method == http.MethodPut && strings.Contains(req.URL.Path, "/blobs/") {
				req.Body = &piece{ReadCloser: req.Body, road: r, cut: r.cut(r.pieces.Add(1)), left: req.ContentLength / 2}
			}
			proxy.ServeHTTP(w, req)
		})}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	r.url = "http://" + l.Addr().String()
	return r
}

// piece is a piece of a file on its way.
type piece struct {
	io.ReadCloser
	road *road
	cut  bool
	left int64
	once sync.Once
}

func (p *piece) Read(b []byte) (int, error) {
	if p.cut && p.left <= 0 {
		p.once.Do(p.road.killed)
		return 0, io.ErrUnexpectedEOF
	}
	if p.cut {
		b = b[:min(int64(len(b)), p.left)]
	}
	n, err := p.ReadCloser.Read(b)
	p.left -= int64(n)
	p.road.bytes.Add(int64(n))
	return n, err
}

// TestAttachmentsFromADevice lets the shipped program of a device read a Maildir, while pieces of its
// files break off on the way and the program is killed in the middle of one. Every file arrives as the
// Maildir has it, before its record, and what has arrived of one is not sent again. Nothing is left on
// the device.
func TestAttachmentsFromADevice(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.serve()
	device := t.TempDir()
	truth := map[string][]byte{}
	for n, files := range [][]attached{
		{{"map.pdf", "application/pdf", noise(11, 30_000)}, {"page.html", "text/html", []byte("<b>hello</b>")},
			{"empty.bin", "application/octet-stream", nil}},
		{{"film.mov", "video/quicktime", noise(12, 10<<20)}},
		{{"map again.pdf", "application/pdf", noise(11, 30_000)}},
	} {
		path := filepath.Join(device, "Maildir", "cur", fmt.Sprintf("17000000%d.M1.host:2,S", n))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		content := bytes.ReplaceAll(letter(fmt.Sprintf("letter%d", n), files...), []byte("\r\n"), []byte("\n"))
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		for i, f := range files {
			truth[fmt.Sprintf("maildir/17000000%d.M1.host/%d", n, i+1)] = f.content
		}
	}

	road := newRoad(t, h.url)
	var made struct {
		Command string `json:"command"`
	}
	if err := json.Unmarshal([]byte(h.pdpp("devices", "add", "mail", "--json")), &made); err != nil {
		t.Fatal(err)
	}
	var program *exec.Cmd
	run := func(args ...string) (string, error) {
		var output bytes.Buffer
		program = exec.Command(filepath.Join(installed, "pdpp-local-collector"), args...)
		program.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + device, "TMPDIR=" + t.TempDir()}
		program.Stdout, program.Stderr = &output, &output
		program.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		err := program.Start()
		if err == nil {
			err = program.Wait()
		}
		return output.String(), err
	}
	road.cut = func(n int64) bool { return n == 4 || n == 6 } // both of the long file
	road.killed = func() {
		if road.pieces.Load() == 4 {
			_ = syscall.Kill(-program.Process.Pid, syscall.SIGKILL)
		}
	}
	command := strings.ReplaceAll(made.Command, h.url, road.url)
	if out, err := run(strings.Fields(command)[1:]...); err == nil {
		t.Fatalf("it was to be killed: %s", out)
	}
	_, rest, found := strings.Cut(h.pdpp("devices", "--json"), `"source_instance_id":"`)
	source, _, _ := strings.Cut(rest, `"`)
	if !found {
		t.Fatal("the device is not there")
	}
	for n := 0; ; n++ {
		out, err := run("run", "--source-instance-id", source)
		if err == nil {
			break
		}
		if n == 5 {
			t.Fatalf("%v: %s", err, out)
		}
	}
	reader := h.grant("mail/attachments")
	got := h.attachments(reader)
	if len(got) != len(truth) {
		t.Fatalf("%d attachments are listed, the Maildir has %d", len(got), len(truth))
	}
	sent := int64(0)
	for key, want := range truth {
		r := got[key]
		if len(r.Blobs) != 1 || r.Blobs[0].SHA256 != hashOf(want) {
			t.Errorf("%s: %+v", key, r)
			continue
		}
		if status, _, content := h.get(reader, "/v1/blobs/"+hashOf(want)); status != http.StatusOK ||
			!bytes.Equal(content, want) {
			t.Errorf("%s: %d with %d bytes, want %d", key, status, len(content), len(want))
		}
		sent += int64(len(want))
	}
	if n := road.bytes.Load(); n > sent+6<<20 {
		t.Errorf("%d bytes were sent for %d: what had arrived came again", n, sent)
	}
	err := filepath.WalkDir(device, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.Contains(path, ".files") {
			t.Errorf("%s is left on the device", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
