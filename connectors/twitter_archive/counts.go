package twitterarchive

import (
	"context"
	"io"
	"path"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/connectorkit/localarchive"
)

// maxManifestBytes bounds the manifest of an archive.
const maxManifestBytes = 4 << 20

// compareCount compares the number of elements in a file with the count in the manifest of its archive. Only lists of
// single items are compared: public readers disagree on whether the count of a file of conversations means messages.
func (a *archiveReader) compareCount(ctx context.Context, m *localarchive.Member, stream string, elements int64) error {
	key := archiveFolder(m)
	if a.counts[key] == nil {
		found := map[string]int64{}
		err := m.ReadSiblings(ctx, []string{"manifest.js"}, func(in io.Reader) error {
			found = manifestCounts(ctx, in)
			return nil
		})
		if err != nil {
			return err
		}
		a.counts = map[string]map[string]int64{key: found}
	}
	if announced, ok := a.counts[key][path.Base(m.Name)]; ok {
		a.compare(stream, "FILE manifest.js", "dataTypes/*/files/[]/count", announced, elements)
	}
	return nil
}

// manifestCounts returns the count of each file that a manifest names, without the file's folder. A manifest of another
// form has no counts.
func manifestCounts(ctx context.Context, in io.Reader) map[string]int64 {
	found := map[string]int64{}
	document, err := localarchive.JSONDocument(ctx, io.LimitReader(in, maxManifestBytes))
	if err != nil {
		return found
	}
	var s struct {
		Types map[string]struct {
			Files []struct {
				Name  string            `json:"fileName"`
				Count textOrNumberCount `json:"count"`
			} `json:"files"`
		} `json:"dataTypes"`
	}
	if json.UnmarshalRead(document, &s, lenientDecoding) != nil {
		return found
	}
	for _, kind := range s.Types {
		for _, file := range kind.Files {
			if file.Count.n != nil {
				found[path.Base(file.Name)] = *file.Count.n
			}
		}
	}
	return found
}

// archiveFolder identifies the archive and the folder that a file is in.
func archiveFolder(m *localarchive.Member) string { return m.Archive + "\x00" + path.Dir(m.Name) }
