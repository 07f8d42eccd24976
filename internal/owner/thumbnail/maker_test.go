//pdpp:tier programs

package thumbnail

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/blob"
)

// The test binary plays the program that is started again. Two inputs, which are no pictures, let
// it do what a decoder must not.
func TestMain(m *testing.M) {
	if len(os.Args) != 2 || os.Args[1] != HiddenCommand {
		os.Exit(m.Run())
	}
	var first [16]byte
	n, _ := io.ReadFull(os.Stdin, first[:])
	err := Child(&played{bytes.NewReader(first[:n]), string(first[:n])}, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		syscall.Exit(1)
	}
	syscall.Exit(0)
}

const (
	takesMemory = "takes all memory"
	takesTime   = "never ends, ever"
)

// played continues with standard input, and misbehaves if told names a misbehaviour.
type played struct {
	io.Reader
	message string
}

func (p *played) Read(b []byte) (int, error) {
	switch p.message {
	case takesMemory:
		var all [][]byte
		for {
			piece := make([]byte, 16<<20)
			for i := 0; i < len(piece); i += 4096 {
				piece[i] = 1
			}
			all = append(all, piece)
			if len(all) == 256 { // 4 GB
				return copy(b, "enough"), io.EOF
			}
		}
	case takesTime:
		// If all goroutines blocked forever and none could get a signal, Go would end the program.
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
		select {}
	}
	if n, err := p.Reader.Read(b); err == nil {
		return n, nil
	}
	return os.Stdin.Read(b)
}

// bed is a maker over a folder of files.
type bed struct {
	*Maker
	t      *testing.T
	place  blob.FolderStorage
	output *bytes.Buffer
	now    time.Time
}

func newBed(t *testing.T) *bed {
	t.Helper()
	b := &bed{t: t, place: blob.FolderStorage{Dir: t.TempDir()}, output: &bytes.Buffer{},
		now: time.Date(2026, 3, 10, 14, 32, 0, 0, time.UTC)}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b.Maker = New(Config{Program: program, Originals: b.place, Folder: filepath.Join(t.TempDir(), "thumbnails"),
		Now: func() time.Time { return b.now },
		Log: slog.New(slog.NewTextHandler(b.output, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	return b
}

func (b *bed) put(content []byte) string {
	b.t.Helper()
	hash, _, err := b.place.Put(b.t.Context(), bytes.NewReader(content))
	if err != nil {
		b.t.Fatal(err)
	}
	return hash
}

func (b *bed) get(hash string) []byte {
	b.t.Helper()
	small, err := b.Get(b.t.Context(), hash)
	if err != nil {
		b.t.Fatal(err)
	}
	return small
}

// quarters returns a picture with a different colour in each quarter.
func quarters(w, h int) *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			m.SetRGBA(x, y, corners[2*(2*y/h)+2*x/w])
		}
	}
	return m
}

var corners = []color.RGBA{{200, 30, 30, 255}, {30, 200, 30, 255}, {30, 30, 200, 255}, {200, 200, 30, 255}}

func encoded(t *testing.T, write func(io.Writer) error) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := write(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func asPNG(t *testing.T, m image.Image) []byte {
	return encoded(t, func(w io.Writer) error { return png.Encode(w, m) })
}

func asJPEG(t *testing.T, m image.Image) []byte {
	return encoded(t, func(w io.Writer) error { return jpeg.Encode(w, m, nil) })
}

// A picture of every kind becomes a small JPEG of the same proportions, and nothing else of it
// stays.
func TestPictures(t *testing.T) {
	t.Parallel()
	seeThrough := image.NewNRGBA(image.Rect(0, 0, 40, 20))
	webp, err := base64.StdEncoding.DecodeString("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==")
	if err != nil {
		t.Fatal(err)
	}
	secret := append([]byte("\xff\xd8\xff\xfe\x00\x10the way home.."), asJPEG(t, quarters(600, 300))[2:]...)
	b := newBed(t)
	for name, c := range map[string]struct {
		body []byte
		size image.Point
	}{
		"wide photo":   {asJPEG(t, quarters(2000, 1001)), image.Pt(480, 240)},
		"tall drawing": {asPNG(t, quarters(300, 900)), image.Pt(160, 480)},
		"small":        {asPNG(t, quarters(12, 8)), image.Pt(12, 8)},
		"line":         {asPNG(t, quarters(2000, 1)), image.Pt(480, 1)},
		"see-through":  {asPNG(t, seeThrough), image.Pt(40, 20)},
		"moving": {encoded(t, func(w io.Writer) error { return gif.Encode(w, quarters(500, 500), nil) }),
			image.Pt(480, 480)},
		"webp":            {webp, image.Pt(1, 1)},
		"with a secret":   {secret, image.Pt(480, 240)},
		"with more after": {append(asPNG(t, quarters(20, 20)), "<script>alert(1)</script>"...), image.Pt(20, 20)},
	} {
		small := b.get(b.put(c.body))
		m, err := jpeg.Decode(bytes.NewReader(small))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := m.Bounds().Size(); got != c.size {
			t.Errorf("%s: %v, want %v", name, got, c.size)
		}
		if bytes.Contains(small, []byte("the way home")) || bytes.Contains(small, []byte("script")) {
			t.Errorf("%s: something of the original is left", name)
		}
		if r, _, _, _ := m.At(2, 0).RGBA(); name == "see-through" && r>>8 < 250 {
			t.Errorf("%s: behind it is %d", name, r>>8)
		}
	}
}

// chunk is a part of a PNG.
func chunk(name string, data []byte) []byte {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	body := append([]byte(name), data...)
	out = append(out, body...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(body))
}

// header is the beginning of a PNG of a size.
func header(w, h uint32) []byte {
	data := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, w), h)
	return append([]byte("\x89PNG\r\n\x1a\n"), chunk("IHDR", append(data, 8, 6, 0, 0, 0))...)
}

// A broken or malicious file yields no picture, ends at most one child process, and is not tried again for a day.
func TestHostilePictures(t *testing.T) {
	t.Parallel()
	whole := asPNG(t, quarters(300, 300))
	photo := asJPEG(t, quarters(300, 300))
	for name, body := range map[string][]byte{
		"bomb":         append(header(60000, 60000), chunk("IDAT", make([]byte, 100))...),
		"largest bomb": header(1<<31-1, 1<<31-1),
		"no size":      header(0, 0),
		"bomb of a GIF": []byte("GIF89a\xff\xff\xff\xff\xf0\x00\x00\x00\x00\x00\xff\xff\xff," +
			"\x00\x00\x00\x00\xff\xff\xff\xff\x00\x02\x02L\x01\x00;"),
		"bomb of a JPEG": append(append([]byte{}, photo[:bytes.Index(photo, []byte{0xff, 0xc0})+5]...),
			append([]byte{0xff, 0xff, 0xff, 0xff}, photo[bytes.Index(photo, []byte{0xff, 0xc0})+9:]...)...),
		"truncated":       whole[:len(whole)/2],
		"truncated photo": photo[:len(photo)/3],
		"turned bits":     bytes.ReplaceAll(whole, []byte("IDAT"), []byte("IDOT")),
		"nothing":         nil,
		"page":            []byte("<!doctype html><script>alert(1)</script>"),
		"page like a GIF": []byte("GIF89a/*<script>alert(1)</script>*/=1;"),
		"drawing in XML": []byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><image href="file:///etc/` +
			`passwd"/></svg>`),
		"program":          []byte("\x7fELF\x02\x01\x01"),
		"broken webp":      []byte("RIFF\xff\xff\xff\x7fWEBPVP8L\xff\xff\xff\x7f\x2f\xff\xff\xff\xff"),
		"takes all memory": []byte(takesMemory),
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			hash := b.put(body)
			if small := b.get(hash); small != nil {
				t.Fatalf("it gives %d bytes", len(small))
			}
			if name == "takes all memory" && !strings.Contains(b.output.String(), "exit code 2") {
				t.Errorf("the child did not end for want of memory: %s", b.output)
			}
			b.Program = "/nonexistent" // no child can be started again
			reported := b.output.Len()
			if small := b.get(hash); small != nil || b.output.Len() > reported {
				t.Errorf("it was tried again: %s", b.output)
			}
			b.now = b.now.Add(failedFor + time.Minute)
			if b.get(hash); b.output.Len() == reported {
				t.Error("it is never tried again")
			}
		})
	}
}

// A child that does not end is ended.
func TestChildThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.within = 100 * time.Millisecond
	if small := b.get(b.put([]byte(takesTime))); small != nil ||
		!strings.Contains(b.output.String(), "did not end in time") {
		t.Errorf("it has %d bytes: %s", len(small), b.output)
	}
}

// What is too large for a child, is not there or has no name that content has starts none.
func TestNoChild(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.Program = "/nonexistent"
	sum := sha256.Sum256([]byte("elsewhere"))
	path := b.put([]byte("x"))
	if err := os.Truncate(filepath.Join(b.place.Dir, path[:2], path), mostInput+1); err != nil {
		t.Fatal(err)
	}
	for name, hash := range map[string]string{"elsewhere": hex.EncodeToString(sum[:]), "no hash": "../../etc/passwd",
		"too large": path} {
		if small := b.get(hash); small != nil {
			t.Errorf("%s: %d bytes", name, len(small))
		}
	}
	if b.output.Len() > 0 {
		t.Errorf("it shows %s", b.output)
	}
}

// Many who ask at once get the same, and one who has left waits for nothing.
func TestManyAsk(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	hash := b.put(asPNG(t, quarters(400, 300)))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if small, err := b.Get(context.WithoutCancel(t.Context()), hash); err != nil || len(small) == 0 {
				t.Errorf("%d bytes, %v", len(small), err)
			}
		})
	}
	all.Wait()
	for range atOnce {
		b.slots <- struct{}{}
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := b.Get(gone, b.put([]byte("another"))); err == nil {
		t.Error("one who has left is waited for")
	}
	if small := b.get(hash); len(small) == 0 {
		t.Error("what is kept waits for a child")
	}
}
