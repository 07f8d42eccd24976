package runs

import (
	"fmt"
	"io"
	"strings"

	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/protocol"
)

// runProgressState is the current progress of a run.
type runProgressState struct {
	records, committed, gaps int64
	stream, message          string
	count, total             *float64
	rate                     *protocol.CollectionRate
}

// progressPainter shows progress. One goroutine at a time calls it.
type progressPainter interface {
	paint(p runProgressState)
	// clear removes the progress from the screen, so that other text can be written.
	clear()
}

// plainLinePainter prints progress without a terminal: one line per change.
type plainLinePainter struct {
	w    io.Writer
	last string
}

func (l *plainLinePainter) paint(p runProgressState) {
	if line := p.line(); line != l.last {
		l.last = line
		output.Printf(l.w, "%s\n", line)
	}
}

func (*plainLinePainter) clear() {}

// line returns the whole progress as text.
func (p runProgressState) line() string {
	line := text.Count(p.records, "record", "records")
	if detail := p.detail(); detail != "" {
		line += ", " + detail
	}
	return line
}

// detail returns the text beside the count of records.
func (p runProgressState) detail() string {
	var parts []string
	if p.gaps > 0 {
		parts = append(parts, text.Count(p.gaps, "gap", "gaps"))
	}
	if p.rate != nil && p.rate.EffectiveRatePerMin > 0 {
		parts = append(parts, fmt.Sprintf("%.0f requests/min", p.rate.EffectiveRatePerMin))
	}
	if what := p.connectorMessage(); what != "" {
		parts = append(parts, what)
	}
	return strings.Join(parts, ", ")
}

// connectorMessage returns the connector's own progress message.
func (p runProgressState) connectorMessage() string {
	words := p.message
	if p.stream != "" && !strings.Contains(words, p.stream) {
		words = strings.TrimSpace(p.stream + " " + words)
	}
	if p.count != nil && p.total != nil {
		words += fmt.Sprintf(" (%.0f of %.0f)", *p.count, *p.total)
	}
	return text.Cut(words, 60)
}
