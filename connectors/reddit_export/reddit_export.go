// Package redditexport imports Reddit's answer to a data request: a zip of tables.
//
//	table.go   a table, row by row
//	things.go  what a row of each table is
package redditexport

import (
	"context"
	_ "embed"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/localarchive"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the connector of Reddit's exports.
func Connector() connectorkit.Connector { return connectorkit.MustNew(manifestJSON, newCollectors) }

// packagingFiles has the same rows without their texts.
var packagingFiles = []string{"**/checkfile*.csv", "**/*_headers.csv", "**/*_headers_[0-9]*.csv"}

func newCollectors(_ context.Context, s *connectorkit.Setup) ([]connectorkit.Collector, error) {
	i := localarchive.Import{
		Dir:   s.Env("REDDIT_EXPORT_DIR"),
		Known: packagingFiles, Packaging: packagingFiles,
		Empty: "the folder holds no Reddit export; put the zip of your data request into it",
	}
	streams := map[string]bool{}
	for _, t := range exportTables {
		if !streams[t.stream] {
			streams[t.stream] = true
			i.Streams = append(i.Streams, t.stream)
		}
		i.Kinds = append(i.Kinds, localarchive.MemberKind{Name: t.name, Patterns: tablePatterns(t.files),
			Streams: []string{t.stream},
			Reason:  t.reason, Read: t.readTableFile})
	}
	return []connectorkit.Collector{i.Source().Collector()}, nil
}

// tablePatterns match tables by name; a large one comes in parts with numbers.
func tablePatterns(names []string) (out []string) {
	for _, name := range names {
		out = append(out, "**/"+name+".csv", "**/"+name+"_[0-9]*.csv")
	}
	return out
}
