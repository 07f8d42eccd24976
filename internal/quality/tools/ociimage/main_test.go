package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestLayout writes an image twice, compares the bytes, follows every reference from the index, and reads the files.
func TestLayout(t *testing.T) {
	programs, dir := t.TempDir(), t.TempDir()
	for _, name := range []string{"pdpp", "pdpp-connectors"} {
		if err := os.WriteFile(filepath.Join(programs, name), []byte(name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	trusted := filepath.Join(dir, "trusted.crt")
	if err := os.WriteFile(trusted, []byte("trusted"), 0o600); err != nil {
		t.Fatal(err)
	}
	var trees [2]map[string]string
	for n := range trees {
		out := filepath.Join(dir, string(rune('a'+n)))
		i := image{out: out, version: "1.2.3", certificates: trusted, zones: trusted, when: time.Unix(1772344800, 0).UTC()}
		if err := i.write([]string{"linux/amd64=" + programs, "linux/arm64=" + programs}); err != nil {
			t.Fatal(err)
		}
		trees[n] = map[string]string{}
		if err := filepath.WalkDir(out, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			trees[n][strings.TrimPrefix(path, out+"/")] = string(text)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	l := layout{t, trees[0]}
	for name, text := range l.files {
		if trees[1][name] != text {
			t.Errorf("%s differs the second time", name)
		}
		if sum := sha256.Sum256([]byte(text)); strings.HasPrefix(name, "blobs/") &&
			!strings.HasSuffix(name, hex.EncodeToString(sum[:])) {
			t.Errorf("%s is not its hash", name)
		}
	}
	var index struct{ Manifests []descriptor }
	l.decode("index.json", &index)
	l.follow(index.Manifests[0], &index)
	var systems []string
	for _, m := range index.Manifests {
		systems = append(systems, m.Platform.OS+"/"+m.Platform.Architecture)
		l.checkImage(m)
	}
	if !slices.Equal(systems, []string{"linux/amd64", "linux/arm64"}) {
		t.Errorf("images of %v", systems)
	}
	for _, wrong := range [][]string{nil, {"windows/amd64=" + programs}, {"linux/amd64=" + dir}} {
		if (image{out: t.TempDir(), certificates: trusted}).write(wrong) == nil {
			t.Errorf("%v made an image", wrong)
		}
	}
}

type layout struct {
	t     *testing.T
	files map[string]string
}

func (l layout) decode(name string, to any) {
	l.t.Helper()
	if err := json.Unmarshal([]byte(l.files[name]), to); err != nil {
		l.t.Fatalf("%s: %v", name, err)
	}
}

func (l layout) follow(d descriptor, to any) {
	l.t.Helper()
	name := "blobs/sha256/" + strings.TrimPrefix(d.Digest, "sha256:")
	if int64(len(l.files[name])) != d.Size {
		l.t.Errorf("%s has %d bytes, not %d", name, len(l.files[name]), d.Size)
	}
	if to != nil {
		l.decode(name, to)
	}
}

// checkImage reads the configuration and the files of an image.
func (l layout) checkImage(m descriptor) {
	l.t.Helper()
	var manifest struct {
		Config descriptor
		Layers []descriptor
	}
	l.follow(m, &manifest)
	var config struct {
		Config struct {
			User        string
			Entrypoint  []string
			Healthcheck struct{ Test []string }
		}
		Rootfs struct {
			DiffIDs []string `json:"diff_ids"`
		}
	}
	l.follow(manifest.Config, &config)
	if config.Config.User != "65532:65532" || config.Config.Entrypoint[0] != "/usr/bin/pdpp" ||
		!slices.Equal(config.Config.Healthcheck.Test, []string{"CMD", "/usr/bin/pdpp", "serve", "--probe"}) {
		l.t.Errorf("configuration %+v", config)
	}
	l.follow(manifest.Layers[0], nil)
	packed, err := gzip.NewReader(strings.NewReader(l.files["blobs/sha256/"+
		strings.TrimPrefix(manifest.Layers[0].Digest, "sha256:")]))
	if err != nil {
		l.t.Fatal(err)
	}
	plain, err := io.ReadAll(packed)
	if err != nil {
		l.t.Fatal(err)
	}
	if sum := sha256.Sum256(plain); config.Rootfs.DiffIDs[0] != "sha256:"+hex.EncodeToString(sum[:]) {
		l.t.Errorf("the layer is not %s", config.Rootfs.DiffIDs[0])
	}
	files := map[string]*tar.Header{}
	for r := tar.NewReader(bytes.NewReader(plain)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			l.t.Fatal(err)
		}
		files[h.Name] = h
	}
	for name, mode := range map[string]int64{"usr/bin/pdpp": 0o755, "usr/bin/pdpp-connectors": 0o755, "tmp/": 0o1777,
		"var/lib/pdpp/": 0o700, "etc/ssl/certs/ca-certificates.crt": 0o644, "usr/share/zoneinfo.zip": 0o644} {
		if h := files[name]; h == nil || h.Mode != mode || (h.Uid == userID) != (name == "var/lib/pdpp/") {
			l.t.Errorf("%s: %+v", name, h)
		}
	}
}
