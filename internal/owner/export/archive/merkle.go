package archive

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/mod/sumdb/tlog"
)

// merkle computes the root of the tree of RFC 6962 over records, one after the other.
type merkle struct {
	nodes []tlog.Hash // of complete subtrees, the largest first
	sizes []int64
}

// addLine adds a record in its RFC 8785 form.
func (m *merkle) addLine(line []byte) error {
	v := jsontext.Value(bytes.Clone(line))
	if err := v.Canonicalize(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)); err != nil {
		return fmt.Errorf("read a record: %w", err)
	}
	m.nodes, m.sizes = append(m.nodes, tlog.RecordHash(v)), append(m.sizes, 1)
	for n := len(m.sizes); n > 1 && m.sizes[n-1] == m.sizes[n-2]; n-- {
		m.nodes[n-2] = tlog.NodeHash(m.nodes[n-2], m.nodes[n-1])
		m.sizes[n-2] *= 2
		m.nodes, m.sizes = m.nodes[:n-1], m.sizes[:n-1]
	}
	return nil
}

// sum returns the root in base64; empty when there are no records.
func (m *merkle) sum() string {
	if len(m.nodes) == 0 {
		return ""
	}
	root := m.nodes[len(m.nodes)-1]
	for i := len(m.nodes) - 2; i >= 0; i-- {
		root = tlog.NodeHash(m.nodes[i], root)
	}
	return base64.StdEncoding.EncodeToString(root[:])
}

// writeRow writes a row of a table of Markdown.
func writeRow(to *bytes.Buffer, cells ...any) {
	plain := strings.NewReplacer("|", `\|`, "\n", " ", "\r", " ")
	for _, cell := range cells {
		fmt.Fprintf(to, "| %s ", plain.Replace(fmt.Sprint(cell)))
	}
	to.WriteString("|\n")
}
