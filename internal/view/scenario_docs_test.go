package view_test

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/judge/health"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
)

var updateDocs = flag.Bool("update-docs", false, "write the generated tables of docs/understand")

const verdictDocument = "../../docs/understand/verdict-tables.md"

var placeOfTable = regexp.MustCompile(`(?s)<!-- table (\w+) -->\n(.*?)<!-- end -->`)

// TestVerdictDocument holds the tables of the document to those of the code.
func TestVerdictDocument(t *testing.T) {
	tables := map[string]string{}
	for _, table := range health.Tables() {
		tables[table.Name] = markdown(table.Head, table.Rows)
	}
	for _, table := range verdict.Tables() {
		tables[table.Name] = markdown(table.Head, table.Rows)
	}
	text := string(readFile(t, verdictDocument))
	shown := map[string]bool{}
	fresh := placeOfTable.ReplaceAllStringFunc(text, func(place string) string {
		name := placeOfTable.FindStringSubmatch(place)[1]
		if tables[name] == "" {
			t.Errorf("the document asks for the table %s, which the code does not have", name)
		}
		shown[name] = true
		return "<!-- table " + name + " -->\n\n" + tables[name] + "\n<!-- end -->"
	})
	for name := range tables {
		if !shown[name] {
			t.Errorf("the document does not show the table %s", name)
		}
	}
	switch {
	case fresh == text:
	case *updateDocs:
		if err := os.WriteFile(verdictDocument, []byte(fresh), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Error("docs/understand/verdict-tables.md is out of date; refresh it with: " +
			"go test ./internal/view -run TestVerdictDocument -update-docs")
	}
}

func markdown(head []string, rows [][]string) string {
	var b strings.Builder
	line := func(cells []string) {
		b.WriteString("|")
		for _, c := range cells {
			b.WriteString(" " + strings.ReplaceAll(c, "|", `\|`) + " |")
		}
		b.WriteString("\n")
	}
	line(head)
	b.WriteString("|" + strings.Repeat("---|", len(head)) + "\n")
	for _, row := range rows {
		line(row)
	}
	return b.String()
}
