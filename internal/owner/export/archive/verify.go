package archive

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// largestManifest bounds what is read before anything is verified.
const largestManifest = 1 << 28

// Verdict is the result of a verification.
type Verdict struct {
	Signer   string   `json:"signer"` // the key that the signature was verified with
	Records  int64    `json:"records"`
	Files    int      `json:"files"`
	Problems []string `json:"problems"`
}

// Verify compares an archive with its manifest, and the manifest with its signature. An empty key accepts the one that
// the manifest names: then the archive agrees with itself, and the caller has to know the key. It returns an error only
// if the archive cannot be read at all.
func Verify(place, key string) (v Verdict, err error) {
	t, closer, err := openTree(place)
	if err != nil {
		return v, err
	}
	defer closer.Close()
	v.Problems = []string{}
	problem := func(format string, args ...any) { v.Problems = append(v.Problems, fmt.Sprintf(format, args...)) }
	names, foreign, err := t.names()
	if err != nil {
		return v, err
	}
	for _, name := range foreign {
		problem("%q does not belong to the archive", name)
	}
	body, err := readSmall(t, manifestFile)
	if err != nil {
		problem("%s cannot be read", manifestFile)
		return v, nil
	}
	var m Manifest
	if json.Unmarshal(body, &m) != nil || m.Version != 1 {
		problem("%s is no manifest of a version that is known here", manifestFile)
		return v, nil
	}
	v.Signer = m.Signer
	if key != "" {
		v.Signer = key
	}
	if why := checkSignature(t, body, v.Signer); why != "" {
		problem("%s", why)
	}
	there := map[string]bool{}
	for _, name := range names {
		there[name] = true
	}
	listed := map[string]bool{manifestFile: true, signatureFile: true}
	for _, f := range m.Files {
		listed[f.Path] = true
		switch bytes, sum, err := hashFile(t, f.Path); {
		case !there[f.Path]:
			problem("%q is missing", f.Path)
		case err != nil:
			problem("%q cannot be read", f.Path)
		case bytes != f.Bytes || sum != f.SHA256:
			problem("%q has changed", f.Path)
		}
		v.Files++
	}
	for _, name := range names {
		if !listed[name] {
			problem("%q is not in the manifest", name)
		}
	}
	for _, s := range m.Streams {
		checkStream(t, s, listed, problem)
		v.Records += s.Records
	}
	return v, nil
}

// checkSignature returns what is wrong with the signature; empty when nothing is.
func checkSignature(t tree, manifest []byte, key string) string {
	signed, err := readSmall(t, signatureFile)
	if err != nil {
		return signatureFile + " cannot be read"
	}
	verifier, err := note.NewVerifier(key)
	if err != nil {
		return "the key is none that verifies a signature"
	}
	n, err := note.Open(signed, note.VerifierList(verifier))
	if err != nil {
		return "the signature is not one of the key " + key
	}
	if n.Text != noteText(manifest) {
		return manifestFile + " has changed since it was signed"
	}
	return ""
}

// checkStream computes the root over a stream's records again.
func checkStream(t tree, s StreamEntry, listed map[string]bool, problem func(string, ...any)) {
	if !listed[s.Path] {
		problem("%q is not in the list of files", s.Path)
		return
	}
	file, err := t.open(s.Path)
	if err != nil {
		return // it was reported as missing
	}
	defer file.Close()
	var root merkle
	var n int64
	err = eachLineOf(file, func(line []byte) error {
		n++
		return root.addLine(line)
	})
	if err != nil || n != s.Records || root.sum() != s.Root {
		problem("the records of %q are not those of the manifest", s.Path)
	}
}

func readSmall(t tree, name string) ([]byte, error) {
	file, err := t.open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	body, err := io.ReadAll(io.LimitReader(file, largestManifest))
	if err == nil && strings.TrimSpace(string(body)) == "" {
		return nil, io.ErrUnexpectedEOF
	}
	return body, err
}
