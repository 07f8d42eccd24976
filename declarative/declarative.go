package declarative

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/declarative/describe"
	"github.com/pdpp-go/pdpp/declarative/document"
	"github.com/pdpp-go/pdpp/declarative/review"
	"github.com/pdpp-go/pdpp/declarative/source"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/manifest/folder"
)

// AdapterKind is the kind of the adapter of a declared source, and SourceFile its file in the connector's folder.
const (
	AdapterKind = "declarative"
	SourceFile  = "source.yaml"
)

// Adapter is the adapter.json of a declared source.
type Adapter struct {
	Kind string `json:"kind"`
	File string `json:"file"`
	// Digest is the SHA-256 of the file in hex. A file that changed does not run.
	Digest string `json:"sha256"`
	// Name is the display name that the owner chose. Empty means the file's own.
	Name string `json:"name,omitempty"`
	// Hosts are the hosts that the file talks to. A name in braces is a setting.
	Hosts []string `json:"hosts"`
	// Accepted is what the owner read before the file was added. A later file is compared with it.
	Accepted *review.Review `json:"accepted,omitempty"`
}

var connectorKey = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// DescribeFile reads a file and describes it. Streams that need something unsupported are among the disabled ones.
// The error lists every problem that makes the whole file unusable.
func DescribeFile(text []byte, o describe.Options) (*describe.Description, error) {
	if !connectorKey.MatchString(o.Key) {
		return nil, fmt.Errorf("%q is not a name for a connector; use lower-case letters, digits and underscores, "+
			"beginning with a letter", o.Key)
	}
	doc, err := document.Parse(text)
	if err != nil {
		return nil, err
	}
	doc.Streams = slices.DeleteFunc(doc.Streams, func(s *document.Stream) bool {
		problem := source.CheckStream(s)
		if problem == nil {
			return false
		}
		doc.Disabled = append(doc.Disabled, document.Disabled{Name: s.Name, Path: s.Path, Problem: document.Problem{
			Level: document.StreamOnly, Path: s.Path, Stream: s.Name, Message: "needs a part that cannot be used: " +
				problem.Error(),
			Fix: "Wait for a version that supports it, or leave the stream out."}})
		return true
	})
	d, err := describe.Describe(doc, o)
	if err != nil {
		return nil, err
	}
	d.AskForOwnServer()
	base := d.AddressVariable()
	d.Manifest.RuntimeRequirements.EnvironmentVariables = append(d.Manifest.RuntimeRequirements.EnvironmentVariables,
		manifest.EnvironmentVariable{Name: base, Description: "Scheme and host to ask instead of the provider's, such as " +
			"those of a simulator."})
	return d, nil
}

// Wrap writes the folder of a connector that collects as a file declares. The file is copied unchanged.
func Wrap(dir string, text []byte, o describe.Options) (*describe.Description, error) {
	d, err := DescribeFile(text, o)
	if err != nil {
		return nil, err
	}
	if len(d.Streams) == 0 {
		return nil, errors.New("no stream of the file can run; see pdpp-connectors validate FILE")
	}
	if _, err := source.New(d); err != nil {
		return nil, err
	}
	body, err := d.Manifest.JSON()
	if err != nil {
		return nil, fmt.Errorf("write the manifest: %w", err)
	}
	accepted := reviewOf(d, text)
	a := Adapter{Kind: AdapterKind, File: SourceFile, Digest: digest(text), Name: o.Name, Hosts: []string{},
		Accepted: &accepted}
	for _, h := range d.Hosts {
		if !slices.Contains(a.Hosts, h.Name) {
			a.Hosts = append(a.Hosts, h.Name)
		}
	}
	own, err := json.Marshal(a, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return nil, fmt.Errorf("write the adapter: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the folder: %w", err)
	}
	for _, file := range []struct {
		name string
		text []byte
	}{{SourceFile, text}, {folder.Manifest, body}, {folder.Adapter, append(own, '\n')}} {
		if err := os.WriteFile(filepath.Join(dir, file.name), file.text, 0o644); err != nil {
			return nil, fmt.Errorf("write %s: %w", file.name, err)
		}
	}
	return d, nil
}

// ErrChanged means that the file of a declared source is not the one that was added.
var ErrChanged = errors.New("the file " + SourceFile +
	" changed since it was added; see what changed and accept it: pdpp connectors confirm NAME")

// IsDeclared reports whether a folder has the adapter of a declared source.
func IsDeclared(dir string) bool {
	a, err := readAdapter(dir)
	return err == nil && a.Kind == AdapterKind
}

func readAdapter(dir string) (a Adapter, err error) {
	body, err := folder.ReadFile(dir, folder.Adapter)
	if err == nil {
		err = json.Unmarshal(body, &a)
	}
	if err != nil {
		return a, fmt.Errorf("read %s: %w", folder.Adapter, err)
	}
	return a, nil
}

// CheckSettings returns source.ErrNotOwnServer if the settings of a connection lead to a private or unencrypted address
// that the owner did not allow. env returns the values of the settings.
func CheckSettings(ctx context.Context, dir string, env func(string) string) error {
	d, err := loadDescription(dir)
	if err != nil {
		return err
	}
	return source.CheckSettings(ctx, d, env)
}

// Load returns the connector of a folder that Wrap wrote.
func Load(dir string) (connectorkit.Connector, error) {
	d, err := loadDescription(dir)
	if err != nil {
		return connectorkit.Connector{}, err
	}
	return source.New(d)
}

// loadDescription describes the file of a folder that Wrap wrote.
func loadDescription(dir string) (*describe.Description, error) {
	a, err := readAdapter(dir)
	if err != nil {
		return nil, err
	}
	text, err := folder.ReadLimited(dir, SourceFile, document.MaxFile)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", SourceFile, err)
	}
	if digest(text) != a.Digest {
		return nil, ErrChanged
	}
	own, err := folder.ReadFile(dir, folder.Manifest)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", folder.Manifest, err)
	}
	m, err := manifest.Parse(own)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", folder.Manifest, err)
	}
	return DescribeFile(text, describe.Options{Key: m.Key(), Name: a.Name, AsksForToken: m.OAuth() == nil})
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
