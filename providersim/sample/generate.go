package sample

import "time"

// generateAccount fills an empty account. Afterwards the clock is later than everything in it.
func (l *Lumen) generateAccount(cfg Config) {
	start := cfg.Start.UnixNano()
	l.clock = start

	r := seededRandom(cfg.Seed, saltForSeed)
	at := start
	l.events = make([]int64, max(0, cfg.Events))
	for i := range l.events {
		at += int64(r.IntN(120)) * int64(time.Second)
		l.events[i] = at
	}
	l.clock = max(l.clock, at)

	at = start
	for range cfg.Notes {
		at += 1 + r.Int64N(int64(3*time.Hour))
		l.appendNote(at)
	}
	l.clock = max(l.clock, at)

	at = start
	for group := 0; len(l.threads) < cfg.Threads; group++ {
		at += r.Int64N(int64(6 * time.Hour))
		// Some neighbours are a single nanosecond apart: a reader that rounds
		// its time bounds loses them.
		if r.IntN(4) == 0 {
			at = l.lastThreadTime(at) + 1
		}
		for range min(threadGroupSize(group, r.IntN(4)), cfg.Threads-len(l.threads)) {
			l.appendThread(at, 1+r.IntN(8))
		}
	}
	l.sortThreads()
	l.clock = max(l.clock, at) + int64(time.Hour)
}

// threadGroupSize returns how many threads share one updated_at. The first group is always a tie, and every tenth is
// wider than a small page.
func threadGroupSize(group, roll int) int {
	switch {
	case group%10 == 9:
		return 12
	case group == 0:
		return 3
	}
	return 1 + roll
}

func (l *Lumen) lastThreadTime(otherwise int64) int64 {
	if len(l.threads) == 0 {
		return otherwise
	}
	return l.threads[len(l.threads)-1].updated
}

func (l *Lumen) appendNote(at int64) int {
	l.notes = append(l.notes, storedNote{})
	i := len(l.notes) - 1
	l.changeNote(i, at)
	return i
}

// changeNote moves a note to the end of the change feed.
func (l *Lumen) changeNote(i int, at int64) {
	l.changes = append(l.changes, int32(i))
	l.notes[i].seq = int32(len(l.changes))
	l.notes[i].updated = at
}

// appendThread leaves the order to be restored by sortThreads.
func (l *Lumen) appendThread(at int64, messages int) int {
	l.threads = append(l.threads, storedThread{seeded: at, made: int32(messages), updated: at})
	return len(l.threads) - 1
}
