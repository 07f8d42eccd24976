package lumen

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
)

// note is stored by what cannot be recomputed; title and body follow from its
// index and revision.
type note struct {
	updated  int64
	seq      int32 // place of its latest change
	revision int32
	deleted  bool
}

type thread struct {
	seeded  int64 // time of the last message it was made with
	made    int32 // messages it was made with
	added   []int64
	updated int64
	deleted bool
}

// messageGap is the time between two messages that a thread was made with.
const messageGap = int64(97 * time.Second)

type eventJSON struct {
	ID     string    `json:"id"`
	At     time.Time `json:"at"`
	Kind   string    `json:"kind"`
	NoteID string    `json:"note_id"`
	Device string    `json:"device"`
}

type noteJSON struct {
	ID        string    `json:"id"`
	Title     text      `json:"title"`
	Body      text      `json:"body"`
	Tags      []text    `json:"tags"`
	UpdatedAt time.Time `json:"updated_at"`
	Deleted   bool      `json:"deleted"`
}

type tombstoneJSON struct {
	ID        string    `json:"id"`
	Deleted   bool      `json:"deleted"`
	UpdatedAt time.Time `json:"updated_at"`
}

type threadJSON struct {
	ID           string    `json:"id"`
	Title        text      `json:"title"`
	UpdatedAt    time.Time `json:"updated_at"`
	MessageCount int       `json:"message_count"`
}

type messageJSON struct {
	ID       string    `json:"id"`
	ThreadID string    `json:"thread_id,omitempty"` // in Truth only
	Author   text      `json:"author"`
	Text     text      `json:"text"`
	SentAt   time.Time `json:"sent_at"`
}

func eventID(i int) string  { return numbered("evt", i) }
func noteID(i int) string   { return numbered("note", i) }
func threadID(i int) string { return numbered("thr", i) }

func (l *Lumen) event(i int) json.RawMessage {
	h := mix(l.seed, saltEvent, uint64(i))
	return providersim.EncodeJSON(eventJSON{
		ID:     eventID(i),
		At:     instant(l.events[i]),
		Kind:   kinds[h%uint64(len(kinds))],
		NoteID: noteID(int((h >> 8) % uint64(max(1, l.seedNotes)))),
		Device: devices[(h>>40)%uint64(len(devices))],
	})
}

func (l *Lumen) note(i int) json.RawMessage {
	n := l.notes[i]
	if n.deleted {
		return providersim.EncodeJSON(tombstoneJSON{ID: noteID(i), Deleted: true, UpdatedAt: instant(n.updated)})
	}
	r := random(l.seed, saltNote, uint64(i), uint64(n.revision))
	out := noteJSON{ID: noteID(i), Title: text(sentence(r, 2+r.IntN(5))), Body: text(paragraphs(r, 50)), Tags: []text{}, UpdatedAt: instant(n.updated)}
	for range r.IntN(4) {
		if tag := text(pick(r, tags)); !slices.Contains(out.Tags, tag) {
			out.Tags = append(out.Tags, tag)
		}
	}
	return providersim.EncodeJSON(out)
}

func (l *Lumen) threadTitle(i int) text {
	r := random(l.seed, saltThread, uint64(i))
	return text(sentence(r, 3+r.IntN(4)))
}

func (l *Lumen) thread(i int) json.RawMessage {
	t := l.threads[i]
	return providersim.EncodeJSON(threadJSON{
		ID: threadID(i), Title: l.threadTitle(i), UpdatedAt: instant(t.updated), MessageCount: int(t.made) + len(t.added),
	})
}

// messages returns the messages of a thread, oldest first.
func (l *Lumen) messages(i int) []messageJSON {
	t := l.threads[i]
	out := make([]messageJSON, 0, int(t.made)+len(t.added))
	for m := range cap(out) {
		sent := t.seeded - int64(int(t.made)-1-m)*messageGap
		if m >= int(t.made) {
			sent = t.added[m-int(t.made)]
		}
		r := random(l.seed, saltMessage, uint64(i), uint64(m))
		out = append(out, messageJSON{
			ID: numbered("msg_"+threadID(i), m), Author: text(pick(r, people)), Text: text(paragraphs(r, 500)), SentAt: instant(sent),
		})
	}
	return out
}

// sortThreads restores the order of live threads after a change.
func (l *Lumen) sortThreads() {
	l.order = l.order[:0]
	for i, t := range l.threads {
		if !t.deleted {
			l.order = append(l.order, int32(i))
		}
	}
	slices.SortFunc(l.order, func(a, b int32) int {
		return compareThreads(l.threads[a].updated, int(a), l.threads[b].updated, int(b))
	})
}

// compareThreads orders newest first. Ids have a fixed width, so a descending
// index is a descending id.
func compareThreads(updatedA int64, a int, updatedB int64, b int) int {
	return cmp.Or(cmp.Compare(updatedB, updatedA), cmp.Compare(b, a))
}
