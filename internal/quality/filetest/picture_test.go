package filetest

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// pngChunk is a part of a PNG.
func pngChunk(name string, data []byte) []byte {
	body := append([]byte(name), data...)
	out := append(binary.BigEndian.AppendUint32(nil, uint32(len(data))), body...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(body))
}

// zeros are so many compressed bytes of nothing.
func zeros(n int64) []byte {
	var out bytes.Buffer
	z := zlib.NewWriter(&out)
	_, _ = io.CopyN(z, zeroReader{}, n)
	_ = z.Close()
	return out.Bytes()
}

type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// bombPNG is a PNG that declares a size and inflates to its pixels.
func bombPNG(width, height uint32, parts ...[]byte) []byte {
	size := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, width), height)
	out := append([]byte("\x89PNG\r\n\x1a\n"), pngChunk("IHDR", append(size, 8, 0, 0, 0, 0))...)
	return append(append(out, bytes.Join(parts, nil)...), pngChunk("IEND", nil)...)
}

// withExif is a JPEG with such an application segment.
func withExif(photo []byte, exif string) []byte {
	segment := append([]byte{0xff, 0xe1}, binary.BigEndian.AppendUint16(nil, uint16(len(exif)+2))...)
	return append(append(append([]byte{}, photo[:2]...), append(segment, exif...)...), photo[2:]...)
}

// TestHostilePictures collects pictures that are made to break their reader, by the shipped programs and from
// letters, and asks the console for each file and its thumbnail. A thumbnail is a small JPEG or the sign for none, a
// file is an attachment that no browser runs, and the server's memory stays bounded.
func TestHostilePictures(t *testing.T) {
	t.Parallel()
	encode := func(write func(io.Writer) error) []byte {
		var out bytes.Buffer
		if err := write(&out); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	plain := image.NewRGBA(image.Rect(0, 0, 300, 200))
	photo := encode(func(w io.Writer) error { return jpeg.Encode(w, plain, nil) })
	frames := &gif.GIF{}
	for range 2000 {
		frame := image.NewPaletted(image.Rect(0, 0, 60, 40), color.Palette{color.Black, color.White})
		frames.Image = append(frames.Image, frame)
		frames.Delay = append(frames.Delay, 0)
	}
	const svg = `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script>` +
		`<image href="file:///etc/passwd"/></svg>`
	// A colour profile that inflates, a list of tags that claims to be longer than it is and leads back to itself.
	profile := pngChunk("iCCP", append([]byte("x\x00\x00"), zeros(200<<20)...))
	const tags = "II*\x00\x08\x00\x00\x00\xff\xff"
	turned := "Exif\x00\x00" + tags + "\x12\x01\x03\x00\xff\xff\xff\xff\x08\x00\x00\x00\x08\x00\x00\x00"
	tiff := tags + strings.Repeat("\x00\x01\x04\x00\xff\xff\xff\xff\x08\x00\x00\x00", 50)
	hostile := []struct {
		name, kind string
		content    []byte
		shown      bool // it has a thumbnail
	}{
		{"plain.jpg", "image/jpeg", photo, true},
		{"frames.gif", "image/gif", encode(func(w io.Writer) error { return gif.EncodeAll(w, frames) }), true},
		{"says huge.png", "image/png", bombPNG(1<<31-1, 1<<31-1, pngChunk("IDAT", zeros(1<<10))), false},
		{"is huge.png", "image/png", bombPNG(20_000, 20_000, pngChunk("IDAT", zeros(20_000*20_001))), false},
		{"profile.png", "image/png", bombPNG(1, 1, profile, pngChunk("IDAT", zeros(2))), true},
		{"cut.png", "image/png", encode(func(w io.Writer) error { return png.Encode(w, plain) })[:80], false},
		{"cut.jpg", "image/jpeg", photo[:len(photo)/2], false},
		{"loop.jpg", "image/jpeg", withExif(photo, turned), true},
		{"tiff.tif", "image/tiff", []byte(tiff), false},
		{"drawing.svg", "image/svg+xml", []byte(svg), false},
		{"drawing.png", "image/png", []byte(svg), false},
		{"page.jpg", "image/jpeg", []byte("<!doctype html><script>alert(1)</script>"), false},
		{"both.gif", "image/gif", []byte("GIF89a/*<script>alert(1)</script>*/=1;"), false},
	}
	box := t.TempDir()
	var files []attached
	for _, p := range hostile {
		files = append(files, attached{p.name, p.kind, p.content})
	}
	path := filepath.Join(box, "cur", "170000000.M1.host:2,S")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	content := bytes.ReplaceAll(letter("pictures", files...), []byte("\r\n"), []byte("\n"))
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	h := newHouse(t, "MAIL_MAILDIR_DIR="+box)
	h.pdpp("run", "mail")
	h.serve()
	stored := h.attachments(h.grant("mail/attachments"))
	get := h.signIn()
	signs := map[string]bool{}
	shown := 0
	for n, p := range hostile {
		key := fmt.Sprintf("maildir/170000000.M1.host/%d", n+1)
		if r := stored[key]; len(r.Blobs) != 1 || r.Blobs[0].SHA256 != hashOf(p.content) {
			t.Fatalf("%s is stored as %+v", p.name, r)
		}
		file := "/thing/cin_mail_1/attachments/" + strings.ReplaceAll(key, "/", "%2F") + "/files/" + hashOf(p.content)
		inert := func(address string) (http.Header, []byte) {
			t.Helper()
			status, header, body := get(address)
			if status != http.StatusOK || header.Get("X-Content-Type-Options") != "nosniff" ||
				!strings.HasPrefix(header.Get("Content-Security-Policy"), "sandbox") {
				t.Errorf("%s: %d, %v", address, status, header)
			}
			return header, body
		}
		header, body := inert(file)
		if !bytes.Equal(body, p.content) || !strings.HasPrefix(header.Get("Content-Disposition"), "attachment") {
			t.Errorf("%s: %d bytes, %v", p.name, len(body), header)
		}
		header, body = inert(file + "/thumbnail")
		if !p.shown {
			signs[header.Get("Content-Type")+string(body)] = true
			continue
		}
		shown++
		_, err := jpeg.Decode(bytes.NewReader(body))
		if err != nil || header.Get("Content-Type") != "image/jpeg" || len(body) > 64<<10 {
			t.Errorf("thumbnail of %s: %v, %v, %d bytes", p.name, err, header.Get("Content-Type"), len(body))
		}
	}
	for sign := range signs {
		if len(signs) > 1 || strings.Contains(sign, "script") || strings.Contains(sign, "alert") {
			t.Errorf("one of %d signs is %s", len(signs), sign)
		}
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", h.pid))
	if err != nil {
		t.Fatal(err)
	}
	peak, err := strconv.Atoi(regexp.MustCompile(`VmHWM:\s*(\d+)`).FindStringSubmatch(string(text))[1])
	if err != nil || peak > 256<<10 {
		t.Errorf("the server took %d KiB: %v", peak, err)
	}
	const result = "%d pictures: %d shown as a small JPEG, %d not at all, none served as anything active; server %d MiB"
	t.Attr("result", fmt.Sprintf(result, len(hostile), shown, len(hostile)-shown, peak>>10))
}
