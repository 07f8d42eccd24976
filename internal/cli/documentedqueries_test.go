package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/manifest"
)

var (
	queryCommand = regexp.MustCompile(`pdpp (?:records|aggregate) ([a-z_]+)`)
	queryFlag    = regexp.MustCompile(`--(where|sum|min|max|by) '?([a-z_]+)([<>=]*)`)
)

// declares reports whether the stream lets readers ask as the flag does.
func declares(s *manifest.Stream, flag, field, operator string) bool {
	q := s.Query
	if q == nil {
		return false
	}
	a := q.Aggregations
	if a == nil {
		a = &manifest.Aggregations{}
	}
	switch {
	case flag == "where" && operator == "=":
		return slices.Contains(q.Filter, field)
	case flag == "where":
		return len(q.RangeFilters[field]) > 0
	case flag == "sum":
		return slices.Contains(a.Sum, field)
	case flag == "min":
		return slices.Contains(a.Min, field)
	case flag == "max":
		return slices.Contains(a.Max, field)
	default:
		return slices.Contains(a.GroupBy, field) || slices.Contains(a.GroupByTime, field)
	}
}

// TestDocumentedQueriesWork: what the documents and help texts filter and sum up by, some shipped
// stream of that name declares.
func TestDocumentedQueriesWork(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../../docs/*/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	documents := ""
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		documents += string(text) + "\n"
	}
	paths, err := filepath.Glob("../../connectors/*/manifest.json")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no manifests: %v", err)
	}
	streams := map[string][]*manifest.Stream{}
	for _, path := range paths {
		body, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		m, err := manifest.Parse(body)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for i := range m.Streams {
			streams[m.Streams[i].Name] = append(streams[m.Streams[i].Name], &m.Streams[i])
		}
	}
	help := ""
	for _, c := range newRootCommand(&command.Invocation{}).Commands() {
		if c.Name() == "aggregate" || c.Name() == "records" {
			help += c.Example + "\n"
		}
	}
	checked := 0
	for line := range strings.Lines(documents + help) {
		command := queryCommand.FindStringSubmatch(line)
		flags := queryFlag.FindAllStringSubmatch(line, -1)
		if strings.Contains(line, "pdpp search ") { // its --by names no field
			continue
		}
		if command == nil && len(flags) == 0 || !strings.Contains(line, "pdpp") && !strings.Contains(line, "`--") {
			continue
		}
		stream := "issues" // the rows of the table that name only a flag go on from the first
		if command != nil {
			stream = command[1]
		}
		for _, f := range flags {
			checked++
			if !slices.ContainsFunc(streams[stream], func(s *manifest.Stream) bool { return declares(s, f[1], f[2], f[3]) }) {
				t.Errorf("no shipped stream %s declares %s: %s", stream, f[0], strings.TrimSpace(line))
			}
		}
	}
	if checked < 8 {
		t.Errorf("%d queries found in the documents", checked)
	}
}
