package governor

import "time"

// countDelayed counts a response of another run. This run may already know of requests that were sent later.
func (p *pacer) countDelayed(sent time.Duration) {
	if !p.epoch.insertEarlier(sent) {
		p.countAnswer(sent)
	}
}

// insertEarlier counts a request that was sent before the last mark, and reports whether it was. It corrects the
// marks after that moment, so that a delayed report does not make the pace since then look faster.
func (e *refusalEpoch) insertEarlier(sent time.Duration) bool {
	passed := float32(inSeconds(sent - e.began))
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

// setIdle adopts the idle time that another run reports. It counts as having passed before all marks, for the
// same reason.
func (e *refusalEpoch) setIdle(idle float64) {
	late := idle - e.idle
	if late <= 0 {
		return
	}
	e.idle = idle
	for i := range e.marks[:e.used] {
		e.marks[i].active -= float32(late)
	}
}
