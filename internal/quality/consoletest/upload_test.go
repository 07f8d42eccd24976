package consoletest

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// ballast makes an export larger than two pieces.
const ballast = 2*api.PieceBytes + 1<<20

// largeExport is an export of Pocket with something large beside its table: what comes before and after
// so many zeros.
func largeExport(t *testing.T, links ...string) (before, after []byte) {
	t.Helper()
	var whole bytes.Buffer
	w := zip.NewWriter(&whole)
	table, err := w.Create("part_000000.csv")
	if err == nil {
		_, err = io.WriteString(table, saved(links...))
	}
	large, err2 := w.CreateHeader(&zip.FileHeader{Name: "about.bin", Method: zip.Store})
	if err2 == nil {
		_, err2 = large.Write(make([]byte, ballast))
	}
	if err := errors.Join(err, err2, w.Close()); err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(whole.Bytes(), make([]byte, ballast))
	return whole.Bytes()[:at], whole.Bytes()[at+ballast:]
}

// line is the way to a server, which can be cut.
type line struct {
	net.Listener
	to   string
	sent atomic.Int64 // bytes on their way to the server
	// cut is called once, when so many bytes were sent. What follows on the same connection is lost: on a
	// busy machine the system holds megabytes that a dead program has sent.
	after int64
	cut   func()
}

func (l *line) run() {
	for {
		in, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer in.Close()
			out, err := net.Dial("tcp", l.to)
			if err != nil {
				return // the server is away
			}
			defer out.Close()
			go func() { _, _ = io.Copy(in, out); _ = in.Close() }()
			b := make([]byte, 64<<10)
			for {
				n, err := in.Read(b)
				if _, failed := out.Write(b[:n]); err != nil || failed != nil {
					return
				}
				if was := l.sent.Add(int64(n)) - int64(n); was < l.after && was+int64(n) >= l.after {
					l.cut()
					return
				}
			}
		}()
	}
}

// newLine makes one to the house.
func (h *house) newLine(t *testing.T, after int64, cut func()) *line {
	t.Helper()
	at, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &line{Listener: at, to: strings.TrimPrefix(h.ready.URL, "http://"), after: after, cut: cut}
	t.Cleanup(func() { _ = l.Close() })
	go l.run()
	return l
}

// A large upload to a server resumes where it stopped: after the command is killed and repeated,
// after the server is killed, and automatically in the browser. The file arrives once, and the
// receipts list its content.
func TestUploadGoesOn(t *testing.T) {
	t.Parallel()
	h := found(t)
	h.open("serve")
	h.listen = strings.TrimPrefix(h.ready.URL, "http://")
	token := h.token("all")
	if status, _, answer := h.send(http.MethodPost, "/_ref/connections",
		map[string]string{"Authorization": "Bearer " + token, "Content-Type": "application/json"},
		`{"connector_id":"pocket","display_name":"Pocket","fields":{},"await_file":true}`); status != http.StatusCreated {
		t.Fatalf("connecting is %d: %s", status, answer)
	}
	before, after := largeExport(t, "oak", "elm")
	path := filepath.Join(t.TempDir(), "pocket.zip")
	if err := os.WriteFile(path, bytes.Join([][]byte{before, make([]byte, ballast), after}, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	size := int64(len(before) + ballast + len(after))
	give := func(l *line) *exec.Cmd {
		cmd := exec.Command(h.bin, "import", "cin_pocket_1", path, "--server", "http://"+l.Addr().String())
		cmd.Env = append(h.env[:len(h.env):len(h.env)], "PDPP_TOKEN="+token)
		return cmd
	}

	var first *exec.Cmd
	started := make(chan struct{})
	l := h.newLine(t, size/2, func() { <-started; _ = first.Process.Kill() })
	first = give(l)
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	close(started)
	if err := first.Wait(); err == nil || first.ProcessState.Exited() {
		t.Fatalf("the command was not killed: %v", err)
	}
	if message := h.pdpp("imports", "cin_pocket_1"); !strings.Contains(message, "pocket.zip has not come to its end") {
		t.Errorf("of one that was cut pdpp imports prints %q", message)
	}
	reopened := make(chan struct{})
	l2 := h.newLine(t, size/4, func() { h.kill(); close(reopened) })
	second := give(l2)
	var output bytes.Buffer
	second.Stdout, second.Stderr = &output, &output
	if err := second.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- second.Wait() }()
	select {
	case <-reopened:
		h.open("serve")
	case err := <-ended:
		t.Fatalf("the command ended before its server did: %v\n%s", err, output.String())
	}
	if err := <-ended; err != nil || !strings.Contains(output.String(), "pocket.zip is received") {
		t.Fatalf("the command that lost its server: %v\n%s", err, output.String())
	}
	// A cut costs what was on its way: not more than a piece of each time.
	if sent := l.sent.Load() + l2.sent.Load(); sent > size+2*api.PieceBytes {
		t.Errorf("%d bytes were sent for a file of %d", sent, size)
	}

	b := h.signIn(t)
	b.visit("/sources/cin_pocket_1/files")
	before, after = largeExport(t, "fir", "yew", "ash")
	// The second piece waits until the server is gone.
	eval[bool](b, fmt.Sprintf(`(() => { const bytes = (s) => Uint8Array.from(atob(s), (c) => c.charCodeAt(0));
		const input = document.querySelector("form[data-upload] input[type=file]"), all = new DataTransfer();
		all.items.add(new File([bytes(%q), new Uint8Array(%d), bytes(%q)], "later.zip")); input.files = all.files; input.dispatchEvent(new Event("change"));
		const open = XMLHttpRequest.prototype.open, send = XMLHttpRequest.prototype.send; let pieces = 0;
		XMLHttpRequest.prototype.open = function (method, ...rest) { this.piece = method === "PATCH"; return open.call(this, method, ...rest); };
		XMLHttpRequest.prototype.send = function (body) { if (this.piece && ++pieces === 2) { window.goOn = () => send.call(this, body); return; } send.call(this, body); };
		return true; })()`, base64.StdEncoding.EncodeToString(before), ballast, base64.StdEncoding.EncodeToString(after)))
	b.click(`form[data-upload] button`)
	b.until(`window.goOn !== undefined`)
	h.kill()
	eval[bool](b, `(() => { window.goOn(); return true; })()`)
	b.until(`document.querySelector("[data-sent]").textContent.includes("goes on by itself")`)
	h.open("serve")
	b.until(`location.pathname.includes("/files/imp_")`)

	var got struct {
		Imports []api.Import `json:"imports"`
		Uploads []api.Upload `json:"uploads"`
	}
	b.eventually("both files are read", func() bool {
		if err := json.Unmarshal([]byte(h.pdpp("imports", "cin_pocket_1", "--json")), &got); err != nil {
			t.Fatal(err)
		}
		return len(got.Imports) == 2 && got.Imports[0].Status == api.ImportRead && got.Imports[1].Status == api.ImportRead
	})
	if got.Imports[0].Name != "later.zip" || got.Imports[0].New != 3 || got.Imports[1].New != 2 || len(got.Uploads) != 0 {
		t.Errorf("receipts: %+v, unfinished: %+v", got.Imports, got.Uploads)
	}
	kept, err := os.ReadFile(filepath.Join(h.home, "imports", "cin_pocket_1", "later.zip"))
	if err != nil || !bytes.Equal(kept, bytes.Join([][]byte{before, make([]byte, ballast), after}, nil)) {
		t.Errorf("what came from the browser is another file: %d bytes, %v", len(kept), err)
	}
	if text := h.pdpp("audit"); strings.Count(text, "You imported later.zip") != 1 ||
		!strings.Contains(text, "began to upload later.zip") {
		t.Errorf("the trail has\n%s", text)
	}
}
