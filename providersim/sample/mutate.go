package sample

import (
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
)

// mutationTick is how far the logical clock moves per mutation. The odd nanosecond
// makes a reader keep full precision.
const mutationTick = int64(time.Second + time.Millisecond + 1)

// AppendEvents adds n events, a tick apart, and returns their ids.
func (l *Lumen) AppendEvents(n int) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	ids := make([]string, 0, max(0, n))
	for range n {
		l.clock += mutationTick
		l.events = append(l.events, l.clock)
		ids = append(ids, eventIDAt(len(l.events)-1))
	}
	return ids
}

// AddNotes adds n notes and returns their ids.
func (l *Lumen) AddNotes(n int) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clock += mutationTick
	ids := make([]string, 0, max(0, n))
	for range n {
		ids = append(ids, noteIDAt(l.appendNote(l.clock)))
	}
	return ids
}

// EditNotes rewrites n live notes, or all when there are fewer, and returns
// their ids.
func (l *Lumen) EditNotes(n int) []string {
	return l.changeNotes(n, func(x *storedNote) { x.revision++ })
}

// DeleteNotes deletes n live notes, or all when there are fewer, and returns
// their ids.
func (l *Lumen) DeleteNotes(n int) []string {
	return l.changeNotes(n, func(x *storedNote) { x.deleted = true })
}

func (l *Lumen) changeNotes(n int, change func(*storedNote)) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clock += mutationTick
	ids := make([]string, 0, max(0, n))
	for _, i := range l.chooseIndexes(n, len(l.notes), func(i int) bool { return !l.notes[i].deleted }) {
		change(&l.notes[i])
		l.changeNote(i, l.clock)
		ids = append(ids, noteIDAt(i))
	}
	return ids
}

// AddThreads adds n threads that share one updated_at and returns their ids.
func (l *Lumen) AddThreads(n int) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clock += mutationTick
	ids := make([]string, 0, max(0, n))
	for range n {
		ids = append(ids, threadIDAt(l.appendThread(l.clock, 1+l.choice.IntN(8))))
	}
	l.sortThreads()
	return ids
}

// TouchThreads adds a message to n live threads, or to all when there are
// fewer. They share one updated_at. It returns their ids.
func (l *Lumen) TouchThreads(n int) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clock += mutationTick
	ids := make([]string, 0, max(0, n))
	for _, i := range l.chooseIndexes(n, len(l.threads), func(i int) bool { return !l.threads[i].deleted }) {
		t := &l.threads[i]
		t.added, t.updated = append(t.added, l.clock), l.clock
		ids = append(ids, threadIDAt(i))
	}
	l.sortThreads()
	return ids
}

// DeleteThread removes a live thread.
func (l *Lumen) DeleteThread(id string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	i, ok := indexOfID("thr", id, len(l.threads))
	if !ok || l.threads[i].deleted {
		return fmt.Errorf("delete thread %q: no such live thread", id)
	}
	l.clock += mutationTick
	l.threads[i].deleted = true
	l.sortThreads()
	return nil
}

// chooseIndexes returns up to n distinct indexes below length that are eligible.
func (l *Lumen) chooseIndexes(n, length int, eligible func(int) bool) []int {
	var pool []int
	for i := range length {
		if eligible(i) {
			pool = append(pool, i)
		}
	}
	n = max(0, min(n, len(pool)))
	for i := range n {
		j := i + l.choice.IntN(len(pool)-i)
		pool[i], pool[j] = pool[j], pool[i]
	}
	return pool[:n]
}

// maxMutation bounds one mutation through the control port.
const maxMutation = 1_000_000

// Mutate runs the operation named by m: append_events, add_notes, edit_notes,
// delete_notes, add_threads, touch_threads (each with N), or delete_thread
// (with ID).
func (l *Lumen) Mutate(m providersim.Mutation) (providersim.Mutated, error) {
	out := providersim.Mutated{Op: m.Op, IDs: []string{m.ID}}
	byCount := map[string]func(int) []string{
		"append_events": l.AppendEvents,
		"add_notes":     l.AddNotes,
		"edit_notes":    l.EditNotes,
		"delete_notes":  l.DeleteNotes,
		"add_threads":   l.AddThreads,
		"touch_threads": l.TouchThreads,
	}
	mutate, ok := byCount[m.Op]
	switch {
	case m.Op == "delete_thread":
		if err := l.DeleteThread(m.ID); err != nil {
			return providersim.Mutated{}, err
		}
	case !ok:
		return providersim.Mutated{}, fmt.Errorf("unknown mutation %q", m.Op)
	case m.N < 1 || m.N > maxMutation:
		return providersim.Mutated{}, fmt.Errorf("mutation %s: n must be 1 to %d", m.Op, maxMutation)
	default:
		out.IDs = mutate(m.N)
	}
	out.Now = l.Now()
	return out, nil
}
