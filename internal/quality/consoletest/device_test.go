package consoletest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

// laptop is another computer of the owner's: a home with transcripts, and the collector.
type laptop struct {
	t      *testing.T
	home   string
	bin    string
	output strings.Builder // by its service
}

func (l *laptop) command(line string) *exec.Cmd {
	cmd := exec.Command("sh", "-c", line)
	cmd.Env = []string{"PATH=" + l.bin + ":" + os.Getenv("PATH"), "HOME=" + l.home, "TMPDIR=" + l.home}
	cmd.Dir = l.home
	return cmd
}

// paste runs a line in a shell, as a person who copied it would.
func (l *laptop) paste(line string) (string, error) {
	out, err := l.command(line).CombinedOutput()
	return string(out), err
}

// serve runs the collector as a service until stop is called or the test ends.
func (l *laptop) serve() (stop func()) {
	l.t.Helper()
	cmd := l.command("exec pdpp-local-collector service run")
	cmd.Stdout, cmd.Stderr = &l.output, &l.output
	if err := cmd.Start(); err != nil {
		l.t.Fatal(err)
	}
	over := false
	stop = func() {
		if over {
			return
		}
		over = true
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		if l.t.Failed() {
			l.t.Logf("the collector's log:\n%s", l.output.String())
		}
	}
	l.t.Cleanup(stop)
	return stop
}

// write adds a prompt to a transcript.
func (l *laptop) write(text string) {
	l.t.Helper()
	path := filepath.Join(l.home, ".claude", "projects", "-home-mara-garden", "5e551042-0000-4000-8000-000000000001.jsonl")
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	var file *os.File
	if err == nil {
		file, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	}
	if err == nil {
		_, err = fmt.Fprintf(file,
			`{"type":"user","uuid":"u-%x","sessionId":"5e551042-0000-4000-8000-000000000001",`+
				`"timestamp":"2026-06-01T10:00:00.000Z","message":{"role":"user","content":%q}}`+"\n", text, text)
	}
	if err == nil {
		err = file.Close()
	}
	if err != nil {
		l.t.Fatal(err)
	}
}

// through sends the collector's traffic through a proxy that damages one upload.
func (l *laptop) through() (damages *atomic.Int32) {
	l.t.Helper()
	profiles, err := filepath.Glob(filepath.Join(l.home, ".config", "pdpp", "collectors", "*.env"))
	if err != nil || len(profiles) != 1 {
		l.t.Fatalf("%q, %v", profiles, err)
	}
	body, err := os.ReadFile(profiles[0])
	if err != nil {
		l.t.Fatal(err)
	}
	const name = "PDPP_REFERENCE_BASE_URL="
	_, rest, _ := strings.Cut(string(body), name)
	address, _, _ := strings.Cut(rest, "\n")
	server, err := url.Parse(address)
	if err != nil {
		l.t.Fatal(err)
	}
	damages = &atomic.Int32{}
	proxy := httputil.NewSingleHostReverseProxy(server)
	road := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/ingest-batches") && damages.Add(1) == 1 {
			sent, err := io.ReadAll(r.Body)
			if err != nil || len(sent) == 0 {
				panic(http.ErrAbortHandler)
			}
			sent[len(sent)/2] ^= 0x20
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(sent)), int64(len(sent))
		}
		proxy.ServeHTTP(w, r)
	}))
	l.t.Cleanup(road.Close)
	changed := strings.Replace(string(body), name+address, name+road.URL, 1)
	if err := os.WriteFile(profiles[0], []byte(changed), 0o600); err != nil {
		l.t.Fatal(err)
	}
	return damages
}

// This test follows another computer through the console: the owner pastes its command there, and
// the page detects it. Collected data can be found. The commands on the page resend a refused
// upload. A revoked computer is refused with instructions.
func TestAnotherComputerJourney(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"CH-09.2", "CH-12.1", "CH-12.2", "CH-13.1", "CH-13.2", "CH-13.3", "CH-14.4"} {
		t.Attr("spec", id)
	}
	h := found(t)
	h.open("serve")
	l := &laptop{t: t, home: t.TempDir(), bin: filepath.Dir(h.bin)}
	l.write("When do medlars ripen?")
	b := h.signIn(t)

	b.click(`a[href="/sources/add"]`)
	b.click(`a[data-connector="claude_code"]`)
	b.click(`[data-about] [data-connect]`)
	b.click(`a[data-place="device"]`)
	b.wait(`form[data-new-device]`)
	b.shoot("device-add")
	b.submit(`#display-name`)
	b.wait(`[data-pairing=waiting]`)
	b.shoot("device-pairing")
	eval[bool](b, `(window.sameDocument = true)`)
	line := b.text(".pairing-line code")
	if out, err := l.paste(line); err != nil {
		t.Fatalf("%s\n%v\n%s", line, err, out)
	}
	b.until(`document.querySelector("[data-pairing=connected]") !== null`)
	if !eval[bool](b, `window.sameDocument === true`) || b.has(".pairing-line code") &&
		strings.Contains(b.text("main"), "lde_") {
		t.Error("the page was loaded again, or shows a line that is spent")
	}
	b.shoot("device-connected")
	b.click(`[data-pairing] a.solid`)
	b.until(`document.querySelector("#verdict[data-channel=calm][data-tone=green]") !== null`)
	connection := b.path()
	b.finds("medlars", "When do medlars ripen?")
	b.drained(connection)

	stop := l.serve()
	l.write("And when do quinces?")
	b.finds("quinces", "And when do quinces?")
	stop()

	damages := l.through()
	stop = l.serve()
	l.write("Are sloes sweeter after frost?")
	b.visit(connection)
	b.until(`document.querySelector("#recover [data-command]") !== null`)
	if damages.Load() == 0 {
		t.Error("nothing was damaged, and it is blocked")
	}
	b.stuck(connection)
	b.visit(connection)
	b.shoot("device-blocked")
	for i, command := range b.all("#recover [data-command] code") {
		out, err := l.paste(command)
		if err != nil || i == 0 && !strings.Contains(out, "put 1 failed upload back") {
			t.Fatalf("%s\n%v\n%s", command, err, out)
		}
	}
	b.until(`document.querySelector("#verdict[data-channel=calm][data-tone=green]") !== null`)
	b.finds("sloes", "Are sloes sweeter after frost?")
	stop()
	b.drained(connection)

	b.visit("/settings/devices")
	b.click(`[data-device] h2 a`)
	b.wait(`#revoke`)
	b.shoot("device")
	b.click(`#revoke summary`)
	b.click(`form[action$="/revoke"] button`)
	b.until(`location.pathname === "/settings/devices"`)
	l.write("Nobody hears of this one.")
	out, err := l.paste(`pdpp-local-collector run --source-instance-id "$(basename "$HOME"/.config/pdpp/collectors/` +
		`*.env .env)"`)
	if err == nil || !strings.Contains(out, "device_unknown") || !strings.Contains(out, "add this computer again") {
		t.Errorf("revoked, it says: %v\n%s", err, out)
	}
	b.visit(connection)
	b.until(`document.querySelector("[data-action]") !== null && document.querySelector("[data-action] a[href*='/` +
		`device?connection=']") !== null`)
	b.shoot("device-revoked")
	b.finds("medlars", "When do medlars ripen?")
	b.quiet()
}

// drained checks that a connection without stuck work shows no counts of uploads, neither on its page nor
// in its row.
func (b *tab) drained(connection string) {
	b.t.Helper()
	for _, address := range []string{connection, "/sources"} {
		b.visit(address)
		if text := b.text("main"); b.has("[data-recovery-scale], [data-cue=stuck]") || uploadCounts.MatchString(text) ||
			strings.Contains(text, "stalled") {
			b.t.Errorf("%s counts uploads of a device that has none: %s", address, text)
		}
	}
}

// stuck checks that one refused upload is counted beside its remedy, in the row and in the summary, without
// what succeeded, and that it is the device's matter.
func (b *tab) stuck(connection string) {
	b.t.Helper()
	b.visit(connection)
	if scale := b.text("[data-recovery-scale]"); !strings.Contains(scale, "1 failed upload") ||
		strings.Contains(scale, "succeeded") || strings.Contains(scale, "total") {
		b.t.Errorf("beside the remedy it says %q", scale)
	}
	if tone := eval[string](b, `document.querySelector("#verdict").dataset.tone`); tone != "amber" && tone != "red" {
		b.t.Errorf("a stalled device is %s", tone)
	}
	b.visit("/sources")
	row := fmt.Sprintf("#row-%s ", strings.TrimPrefix(connection, "/sources/"))
	if cue := b.text(row + "[data-cue=stuck]"); !strings.Contains(cue, "1 failed upload") ||
		strings.Contains(cue, "succeeded") || strings.Contains(cue, "total") {
		b.t.Errorf("the row says %q", cue)
	}
	if href := eval[string](b, fmt.Sprintf("document.querySelector(%q).getAttribute('href')",
		row+"[data-cue=stuck] a")); !strings.HasPrefix(href, connection) {
		b.t.Errorf("the row leads to %q", href)
	}
	if text := b.text("[data-count=visible]"); !strings.Contains(text, "1 with uploads stalled") ||
		strings.Contains(strings.ToLower(b.text("main")), "scheduler") {
		b.t.Errorf("the summary says %q", text)
	}
}

var uploadCounts = regexp.MustCompile(`\b\d+ (pending|failed upload)`)

// finds searches until there is a record, and reads the text in it.
func (b *tab) finds(word, text string) {
	b.t.Helper()
	b.visit("/search?q=" + url.QueryEscape(word))
	b.until(`document.querySelector("[data-key] a") !== null ? (clearTimeout(window.asked), true)
		: (window.asked ??= setTimeout(() => location.reload(), 500), false)`)
	b.click(`[data-key] a`)
	b.wait(`[data-close]`)
	if body := b.text("main"); !strings.Contains(body, text) {
		b.t.Errorf("searching for %q found, instead of %q: %s", word, text, body)
	}
}
