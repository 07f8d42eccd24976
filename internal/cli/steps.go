package cli

import (
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/internal/keep/backup"
	"github.com/pdpp-go/pdpp/internal/ops/text"
)

var stepWords = map[backup.StepName]string{
	backup.StepCopy:    "Copying the database",
	backup.StepCheck:   "Checking the copy",
	backup.StepWrite:   "Writing",
	backup.StepVerify:  "Reading back",
	backup.StepExtract: "Unpacking",
	backup.StepReplace: "Putting it in place",
}

// steps shows how far a backup or restore is: a line that grows on a terminal, one
// line per step elsewhere.
type steps struct {
	app      *app
	live     bool
	step     backup.StepName
	painted  time.Time
	anything bool
}

func (a *app) newSteps() *steps {
	_, live := terminal(a.errOut)
	return &steps{app: a, live: live}
}

const stepEvery = 200 * time.Millisecond

func (s *steps) observe(p backup.Step) {
	words := stepWords[p.Name]
	if s.app.json || words == "" {
		return
	}
	if !s.live {
		if p.Name != s.step {
			s.step = p.Name
			printf(s.app.errOut, "%s%s\n", words, ofTotal(p.Total))
		}
		return
	}
	now := s.app.env.Now()
	if p.Name == s.step && now.Sub(s.painted) < stepEvery {
		return
	}
	s.step, s.painted, s.anything = p.Name, now, true
	line := words + ofTotal(p.Total)
	if p.Total > 0 && p.Done > 0 {
		line += fmt.Sprintf(" %d%%", min(100, 100*p.Done/p.Total))
	}
	printf(behind(s.app.errOut), "\r\x1b[K%s", line)
}

func ofTotal(total int64) string {
	if total <= 0 {
		return ""
	}
	return " (" + text.Bytes(total) + ")"
}

// end leaves the terminal clean.
func (s *steps) end() {
	if s.anything {
		printf(behind(s.app.errOut), "\r\x1b[K")
	}
}
