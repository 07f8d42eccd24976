// Command ociimage writes a container image as an OCI layout, from the programs of a release and nothing else:
//
//	ociimage -out FOLDER -version 1.2.3 -epoch SECONDS linux/amd64=FOLDER linux/arm64=FOLDER
//
// The image has no shell, and runs as a user without rights. The same programs, certificates and time zones give the
// same bytes.
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// userID is the user of the image, as in images of others without a shell.
const userID = 65532

const (
	typeIndex    = "application/vnd.oci.image.index.v1+json"
	typeManifest = "application/vnd.oci.image.manifest.v1+json"
	typeConfig   = "application/vnd.oci.image.config.v1+json"
	typeLayer    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

func main() {
	var i image
	flag.StringVar(&i.out, "out", "", "the folder of the layout")
	flag.StringVar(&i.version, "version", "", "the version of the release")
	flag.StringVar(&i.certificates, "certificates", "/etc/ssl/certs/ca-certificates.crt", "certificates to trust")
	flag.StringVar(&i.zones, "zones", "", "the zoneinfo.zip of Go")
	epoch := flag.Int64("epoch", 0, "the time of all files, in seconds")
	flag.Parse()
	i.when = time.Unix(*epoch, 0).UTC()
	if err := i.write(flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "ociimage:", err)
		os.Exit(1)
	}
}

type image struct {
	out, version, certificates, zones string
	when                              time.Time
}

// descriptor refers to a blob of the layout.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int64             `json:"size"`
	Platform    *platform         `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type platform struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
}

// write writes an image for each system of the form linux/amd64=FOLDER, and an index of them.
func (i image) write(systems []string) error {
	if len(systems) == 0 || i.out == "" {
		return fmt.Errorf("name a folder with -out, and at least one system")
	}
	var images []descriptor
	for _, text := range systems {
		system, folder, _ := strings.Cut(text, "=")
		name, arch, _ := strings.Cut(system, "/")
		if name != "linux" || arch == "" || folder == "" {
			return fmt.Errorf("%q is not of the form linux/ARCH=FOLDER", text)
		}
		d, err := i.writeImage(arch, folder)
		if err != nil {
			return err
		}
		images = append(images, d)
	}
	all, err := i.putJSON(typeIndex, map[string]any{"schemaVersion": 2, "mediaType": typeIndex, "manifests": images})
	if err != nil {
		return err
	}
	all.Annotations = map[string]string{"org.opencontainers.image.ref.name": i.version,
		"io.containerd.image.name": "docker.io/library/pdpp:" + i.version}
	index, err := json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": typeIndex, "manifests": []descriptor{all}})
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(i.out, "index.json"), index, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(i.out, "oci-layout"), []byte(`{"imageLayoutVersion":"1.0.0"}`), 0o644)
}

// writeImage writes the layer, the configuration and the manifest of one system.
func (i image) writeImage(arch, folder string) (descriptor, error) {
	var plain bytes.Buffer
	if err := i.writeLayer(&plain, folder); err != nil {
		return descriptor{}, err
	}
	plainSum := sha256.Sum256(plain.Bytes())
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(plain.Bytes()); err != nil {
		return descriptor{}, err
	}
	if err := w.Close(); err != nil {
		return descriptor{}, err
	}
	layer, err := i.put(typeLayer, packed.Bytes())
	if err != nil {
		return descriptor{}, err
	}
	config, err := i.putJSON(typeConfig, map[string]any{
		"architecture": arch, "os": "linux", "created": i.when.Format(time.RFC3339),
		"config": map[string]any{
			"User": fmt.Sprintf("%d:%d", userID, userID), "WorkingDir": "/var/lib/pdpp",
			"Entrypoint": []string{"/usr/bin/pdpp"}, "Cmd": []string{"serve"},
			"Env": []string{"PATH=/usr/bin", "HOME=/var/lib/pdpp", "PDPP_HOME=/var/lib/pdpp", "PDPP_LISTEN=0.0.0.0:7377",
				"ZONEINFO=/usr/share/zoneinfo.zip"},
			"Volumes": map[string]any{"/var/lib/pdpp": struct{}{}}, "ExposedPorts": map[string]any{"7377/tcp": struct{}{}},
			"StopSignal": "SIGTERM", "Labels": map[string]string{"org.opencontainers.image.version": i.version},
			"Healthcheck": map[string]any{"Test": []string{"CMD", "/usr/bin/pdpp", "serve", "--probe"},
				"Interval": 30 * time.Second, "Timeout": 10 * time.Second, "StartPeriod": 60 * time.Second, "Retries": 3},
		},
		"rootfs":  map[string]any{"type": "layers", "diff_ids": []string{"sha256:" + hex.EncodeToString(plainSum[:])}},
		"history": []map[string]any{{"created": i.when.Format(time.RFC3339), "created_by": "ociimage"}},
	})
	if err != nil {
		return descriptor{}, err
	}
	d, err := i.putJSON(typeManifest, map[string]any{"schemaVersion": 2, "mediaType": typeManifest, "config": config,
		"layers": []descriptor{layer}})
	d.Platform = &platform{arch, "linux"}
	return d, err
}

// writeLayer writes the files of an image.
func (i image) writeLayer(to io.Writer, folder string) error {
	programs, err := filepath.Glob(filepath.Join(folder, "pdpp*"))
	if err != nil || len(programs) == 0 {
		return fmt.Errorf("there are no programs in %s", folder)
	}
	w := tar.NewWriter(to)
	add := func(name string, mode fs.FileMode, owner int, content []byte) {
		if err != nil {
			return
		}
		h := &tar.Header{Name: name, Mode: int64(mode), Uid: owner, Gid: owner, ModTime: i.when, Size: int64(len(content)),
			Typeflag: tar.TypeReg, Format: tar.FormatUSTAR}
		if strings.HasSuffix(name, "/") {
			h.Typeflag = tar.TypeDir
		}
		if err = w.WriteHeader(h); err == nil {
			_, err = w.Write(content)
		}
	}
	read := func(path string) (content []byte) {
		if err == nil {
			content, err = os.ReadFile(path)
		}
		return content
	}
	for _, name := range []string{"etc/", "etc/ssl/", "etc/ssl/certs/", "usr/", "usr/bin/", "usr/share/", "var/",
		"var/lib/"} {
		add(name, 0o755, 0, nil)
	}
	add("tmp/", 0o1777, 0, nil)
	add("var/lib/pdpp/", 0o700, userID, nil)
	add("etc/passwd", 0o644, 0, fmt.Appendf(nil, "pdpp:x:%d:%d:PDPP:/var/lib/pdpp:/sbin/nologin\n", userID, userID))
	add("etc/group", 0o644, 0, fmt.Appendf(nil, "pdpp:x:%d:\n", userID))
	add("etc/ssl/certs/ca-certificates.crt", 0o644, 0, read(i.certificates))
	if i.zones != "" {
		add("usr/share/zoneinfo.zip", 0o644, 0, read(i.zones))
	}
	slices.Sort(programs)
	for _, path := range programs {
		add("usr/bin/"+filepath.Base(path), 0o755, 0, read(path))
	}
	if err != nil {
		return err
	}
	return w.Close()
}

// put writes a blob under its hash.
func (i image) put(kind string, content []byte) (descriptor, error) {
	sum := sha256.Sum256(content)
	digest := hex.EncodeToString(sum[:])
	folder := filepath.Join(i.out, "blobs", "sha256")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return descriptor{}, err
	}
	d := descriptor{MediaType: kind, Digest: "sha256:" + digest, Size: int64(len(content))}
	return d, os.WriteFile(filepath.Join(folder, digest), content, 0o644)
}

func (i image) putJSON(kind string, value any) (descriptor, error) {
	content, err := json.Marshal(value)
	if err != nil {
		return descriptor{}, err
	}
	return i.put(kind, content)
}
