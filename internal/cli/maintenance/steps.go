package maintenance

import (
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/storage/backup"
)

var stepNames = map[backup.StepName]string{
	backup.StepCopy:    "Copying the database",
	backup.StepCheck:   "Checking the copy",
	backup.StepWrite:   "Writing",
	backup.StepVerify:  "Reading back",
	backup.StepExtract: "Unpacking",
	backup.StepReplace: "Putting it in place",
}

// stepDisplay shows the progress of a backup or restore: one updated line on a terminal, one line per step elsewhere.
type stepDisplay struct {
	invocation *command.Invocation
	live       bool
	step       backup.StepName
	painted    time.Time
	anything   bool
}

func newStepDisplay(inv *command.Invocation) *stepDisplay {
	_, live := output.TerminalFile(inv.ErrOut)
	return &stepDisplay{invocation: inv, live: live}
}

const stepInterval = 200 * time.Millisecond

func (s *stepDisplay) observe(p backup.Step) {
	words := stepNames[p.Name]
	if s.invocation.JSON || words == "" {
		return
	}
	if !s.live {
		if p.Name != s.step {
			s.step = p.Name
			output.Printf(s.invocation.ErrOut, "%s%s\n", words, totalSizeText(p.Total))
		}
		return
	}
	now := s.invocation.Env.Now()
	if p.Name == s.step && now.Sub(s.painted) < stepInterval {
		return
	}
	s.step, s.painted, s.anything = p.Name, now, true
	line := words + totalSizeText(p.Total)
	if p.Total > 0 && p.Done > 0 {
		line += fmt.Sprintf(" %d%%", min(100, 100*p.Done/p.Total))
	}
	output.Printf(output.RawWriter(s.invocation.ErrOut), "\r\x1b[K%s", line)
}

func totalSizeText(total int64) string {
	if total <= 0 {
		return ""
	}
	return " (" + text.Bytes(total) + ")"
}

// end clears the line on the terminal.
func (s *stepDisplay) end() {
	if s.anything {
		output.Printf(output.RawWriter(s.invocation.ErrOut), "\r\x1b[K")
	}
}
