package ui

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

//go:embed assets
var files embed.FS

// asset is a file that pages link to, ready to be sent.
type asset struct {
	kind   string // its Content-Type
	plain  []byte
	packed func() []byte // gzip, made when first asked for: most commands serve no page; nil when that is no gain
	hash   string
}

// assets are all there are, by name. Whatever else is asked for does not exist, so
// that no path can lead out of them. They are read when the first is asked for: most commands
// show no page.
var assets = sync.OnceValue(func() map[string]asset {
	return map[string]asset{
		"console.css":    newAsset("text/css; charset=utf-8", sheet()),
		"inter.woff2":    newAsset("font/woff2", read("fonts/inter.woff2")),
		"fraunces.woff2": newAsset("font/woff2", read("fonts/fraunces.woff2")),
		"console.js":     newAsset("text/javascript; charset=utf-8", read("console.js")),
		"htmx.js":        newAsset("text/javascript; charset=utf-8", read("vendor/htmx-2.0.8.min.js")),
		"passkey.js":     newAsset("text/javascript; charset=utf-8", read("passkey.js")),
		"upload.js":      newAsset("text/javascript; charset=utf-8", read("upload.js")),
		"surface.js":     newAsset("text/javascript; charset=utf-8", read("surface.js")),
		"push-worker.js": newAsset("text/javascript; charset=utf-8", read("push-worker.js")),
		"icon.svg":       newAsset("image/svg+xml", read("icon.svg")),
	}
})

func read(name string) []byte {
	text, err := files.ReadFile("assets/" + name)
	if err != nil {
		panic(err) // the file is part of this program
	}
	return text
}

// sheet joins the style sheets in the order of their names, and completes the addresses of fonts.
func sheet() []byte {
	parts, err := fs.Glob(files, "assets/css/*.css")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	var all bytes.Buffer
	for _, part := range parts {
		all.Write(read(strings.TrimPrefix(part, "assets/")))
		all.WriteByte('\n')
	}
	text := all.Bytes()
	for _, name := range []string{"inter", "fraunces"} {
		address := "/assets/" + name + ".woff2?v="
		text = bytes.Replace(text, []byte(address), []byte(address+shortHash(read("fonts/"+name+".woff2"))), 1)
	}
	return text
}

// shortHash returns the part of a file's hash that is in its address.
func shortHash(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:6])
}

func newAsset(kind string, text []byte) asset {
	return asset{
		kind: kind, plain: text, hash: shortHash(text),
		packed: sync.OnceValue(func() []byte { return pack(text) }),
	}
}

func pack(text []byte) []byte {
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		panic(err) // the level is a constant
	}
	_, _ = z.Write(text) // a buffer takes everything
	_ = z.Close()
	if packed.Len() >= len(text) {
		return nil
	}
	return packed.Bytes()
}

// Asset is the address of a file. It changes with the file, so that a browser may
// keep what it has for good.
func Asset(name string) string { return "/assets/" + name + "?v=" + assets()[name].hash }

// ServeAsset answers GET /assets/{name}.
func ServeAsset(w http.ResponseWriter, r *http.Request) {
	serveFile(w, r, r.PathValue("name"))
}

// ServePushWorker answers GET /push-worker.js: a service worker governs only what
// lies below its own address.
func ServePushWorker(w http.ResponseWriter, r *http.Request) { serveFile(w, r, "push-worker.js") }

func serveFile(w http.ResponseWriter, r *http.Request, name string) {
	a, found := assets()[name]
	if !found {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", a.kind)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Add("Vary", "Accept-Encoding")
	h.Set("ETag", `"`+a.hash+`"`)
	h.Set("Cache-Control", "no-cache")
	if r.URL.Query().Get("v") == a.hash {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	if r.Header.Get("If-None-Match") == `"`+a.hash+`"` {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	body := a.plain
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		if packed := a.packed(); packed != nil {
			h.Set("Content-Encoding", "gzip")
			body = packed
		}
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(body)
	}
}
