package command

import (
	"fmt"
	"io"
	"time"

	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const (
	// progressAfter is how long a command works before it shows its progress.
	progressAfter = 300 * time.Millisecond
	progressEvery = 100 * time.Millisecond
)

// Progress shows on a terminal how many records and files are written.
type Progress struct {
	to    io.Writer // nil: no progress is shown
	total int64     // zero when it is not known
	done  int64
	next  time.Time
	now   func() time.Time
	shown bool
}

// NewProgress returns the progress over the records of the streams. Without streams the total is not known.
func (inv *Invocation) NewProgress(streams []api.Stream) *Progress {
	p := &Progress{now: time.Now}
	if file, terminal := output.TerminalFile(inv.ErrOut); terminal && !inv.JSON {
		p.to = file
	}
	for i := range streams {
		p.total += streams[i].Records
	}
	p.next = p.now().Add(progressAfter)
	return p
}

// Note counts a record of a stream.
func (p *Progress) Note(s *api.Stream, _ int64) { p.Step(s.Name) }

// Step counts a record or a file, as a part of what.
func (p *Progress) Step(what string) {
	p.done++
	if p.to == nil || p.done%64 != 0 {
		return
	}
	if now := p.now(); now.After(p.next) {
		p.next, p.shown = now.Add(progressEvery), true
		number := fmt.Sprintf("%d records and files", p.done)
		if p.total > 0 {
			number = fmt.Sprintf("%d of about %d records", p.done, p.total)
		}
		_, _ = fmt.Fprintf(p.to, "\r\x1b[K%s: %s", number, text.Cut(output.SingleLine(what), 40))
	}
}

// Clear removes what is shown.
func (p *Progress) Clear() {
	if p.shown {
		_, _ = io.WriteString(p.to, "\r\x1b[K")
		p.shown = false
	}
}
