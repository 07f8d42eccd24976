package records

import (
	"fmt"
	"io"
	"time"

	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const (
	// progressAfter is how long an export runs before it shows its progress.
	progressAfter = 300 * time.Millisecond
	progressEvery = 100 * time.Millisecond
)

// exportProgress shows on a terminal how many records are written.
type exportProgress struct {
	to    io.Writer // nil: no progress is shown
	total int64
	done  int64
	next  time.Time
	now   func() time.Time
	shown bool
}

func newExportProgress(inv *command.Invocation, streams []api.Stream) *exportProgress {
	p := &exportProgress{now: time.Now}
	if file, terminal := output.TerminalFile(inv.ErrOut); terminal && !inv.JSON {
		p.to = file
	}
	for i := range streams {
		p.total += streams[i].Records
	}
	p.next = p.now().Add(progressAfter)
	return p
}

func (p *exportProgress) note(s *api.Stream, _ int64) {
	p.done++
	if p.to == nil || p.done%64 != 0 {
		return
	}
	if now := p.now(); now.After(p.next) {
		p.next, p.shown = now.Add(progressEvery), true
		_, _ = fmt.Fprintf(p.to, "\r\x1b[K%d of about %d records: %s", p.done, p.total,
			text.Cut(output.SingleLine(s.Name), 40))
	}
}

func (p *exportProgress) clear() {
	if p.shown {
		_, _ = io.WriteString(p.to, "\r\x1b[K")
		p.shown = false
	}
}
