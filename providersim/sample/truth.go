package sample

import "github.com/pdpp-go/pdpp/providersim"

// Streams of [Lumen.Truth].
const (
	StreamEvents         = "events"
	StreamNotes          = "notes"
	StreamThreads        = "threads"
	StreamThreadMessages = "thread_messages"
)

// Truth returns everything that exists now. Items of events, notes and threads
// are byte for byte what the API serves; thread_messages adds thread_id to each
// message. A note deleted by a mutation stays as a tombstone, whether or not a
// reader ever saw it alive; a deleted thread is gone together with its messages.
func (l *Lumen) Truth() providersim.Truth {
	l.mu.Lock()
	defer l.mu.Unlock()
	events := make(map[string]providersim.Item, len(l.events))
	for i := range l.events {
		events[eventIDAt(i)] = providersim.Item{Data: l.renderEvent(i)}
	}
	notes := make(map[string]providersim.Item, len(l.notes))
	for i, n := range l.notes {
		notes[noteIDAt(i)] = providersim.Item{Data: l.renderNote(i), Deleted: n.deleted}
	}
	threads, messages := make(map[string]providersim.Item, len(l.order)), map[string]providersim.Item{}
	for _, i := range l.order {
		id := threadIDAt(int(i))
		threads[id] = providersim.Item{Data: l.renderThread(int(i))}
		for _, m := range l.threadMessages(int(i)) {
			m.ThreadID = id
			messages[m.ID] = providersim.Item{Data: providersim.EncodeJSON(m)}
		}
	}
	return providersim.Truth{
		StreamEvents: events, StreamNotes: notes, StreamThreads: threads, StreamThreadMessages: messages,
	}
}
