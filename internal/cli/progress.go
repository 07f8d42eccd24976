package cli

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"golang.org/x/term"

	"github.com/pdpp-go/pdpp/protocol"
)

// progress is what is known of a running run.
type progress struct {
	records, committed, gaps int64
	stream, message          string
	count, total             *float64
	rate                     *protocol.CollectionRate
}

// painter shows progress. It is called by one goroutine at a time.
type painter interface {
	paint(p progress)
	// clear takes away what is on the screen, for something else to be written.
	clear()
}

// terminal gives the file behind a stream when it is a terminal.
func terminal(stream any) (*os.File, bool) {
	if p, ok := stream.(*plainText); ok {
		stream = p.w
	}
	file, ok := stream.(*os.File)
	return file, ok && term.IsTerminal(int(file.Fd()))
}

// columns is the width of the owner's terminal; a file has room for long lines.
func (a *app) columns() int {
	if file, ok := terminal(a.out); ok {
		if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
			return width
		}
		return 80
	}
	return 200
}

// plainLines shows progress where there is no terminal: one line per change.
type plainLines struct {
	w    io.Writer
	last string
}

func (l *plainLines) paint(p progress) {
	if line := p.line(); line != l.last {
		l.last = line
		printf(l.w, "%s\n", line)
	}
}

func (*plainLines) clear() {}

// line is everything that is known, in words.
func (p progress) line() string {
	line := text.Count(p.records, "record", "records")
	if detail := p.detail(); detail != "" {
		line += ", " + detail
	}
	return line
}

// detail is what goes beside the count of records.
func (p progress) detail() string {
	var parts []string
	if p.gaps > 0 {
		parts = append(parts, text.Count(p.gaps, "gap", "gaps"))
	}
	if p.rate != nil && p.rate.EffectiveRatePerMin > 0 {
		parts = append(parts, fmt.Sprintf("%.0f requests/min", p.rate.EffectiveRatePerMin))
	}
	if what := p.what(); what != "" {
		parts = append(parts, what)
	}
	return strings.Join(parts, ", ")
}

// what is the connector's own word on where it is.
func (p progress) what() string {
	words := p.message
	if p.stream != "" && !strings.Contains(words, p.stream) {
		words = strings.TrimSpace(p.stream + " " + words)
	}
	if p.count != nil && p.total != nil {
		words += fmt.Sprintf(" (%.0f of %.0f)", *p.count, *p.total)
	}
	return text.Cut(words, 60)
}
