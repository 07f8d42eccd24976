package governor

import "time"

// countLate takes in an answer of another run, of which others that left later may be known already.
func (p *pacer) countLate(sent time.Duration) {
	if !p.epoch.precede(sent) {
		p.count(sent)
	}
}

// precede counts a request that left before the last mark, and reports whether it did. Marks say how many were
// answered by their moment, so that the pace after one does not look faster for what is heard of late.
func (e *epoch) precede(sent time.Duration) bool {
	passed := float32(seconds(sent - e.began))
	if e.used == 0 || passed >= e.marks[e.used-1].passed {
		return false
	}
	e.n++
	for i := range e.marks[:e.used] {
		if m := &e.marks[i]; m.passed > passed {
			m.n++
		}
	}
	return true
}

// rested takes in for how long nobody had anything to send, by what another run knows. It counts as having been
// before all marks, for the same reason.
func (e *epoch) rested(idle float64) {
	late := idle - e.idle
	if late <= 0 {
		return
	}
	e.idle = idle
	for i := range e.marks[:e.used] {
		e.marks[i].active -= float32(late)
	}
}
