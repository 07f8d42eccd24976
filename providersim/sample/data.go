package sample

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
)

// storedNote is stored by what cannot be recomputed; title and body follow from its
// index and revision.
type storedNote struct {
	updated  int64
	seq      int32 // place of its latest change
	revision int32
	deleted  bool
}

type storedThread struct {
	seeded  int64 // time of the last message it was made with
	made    int32 // messages it was made with
	added   []int64
	updated int64
	deleted bool
}

// messageGap is the time between two messages that a thread was made with.
const messageGap = int64(97 * time.Second)

type eventBody struct {
	ID     string    `json:"id"`
	At     time.Time `json:"at"`
	Kind   string    `json:"kind"`
	NoteID string    `json:"note_id"`
	Device string    `json:"device"`
}

type noteBody struct {
	ID        string          `json:"id"`
	Title     unescapedText   `json:"title"`
	Body      unescapedText   `json:"body"`
	Tags      []unescapedText `json:"tags"`
	UpdatedAt time.Time       `json:"updated_at"`
	Deleted   bool            `json:"deleted"`
}

type tombstoneJSON struct {
	ID        string    `json:"id"`
	Deleted   bool      `json:"deleted"`
	UpdatedAt time.Time `json:"updated_at"`
}

type threadJSON struct {
	ID           string        `json:"id"`
	Title        unescapedText `json:"title"`
	UpdatedAt    time.Time     `json:"updated_at"`
	MessageCount int           `json:"message_count"`
}

type messageJSON struct {
	ID       string        `json:"id"`
	ThreadID string        `json:"thread_id,omitempty"` // in Truth only
	Author   unescapedText `json:"author"`
	Text     unescapedText `json:"text"`
	SentAt   time.Time     `json:"sent_at"`
}

func eventIDAt(i int) string  { return numberedID("evt", i) }
func noteIDAt(i int) string   { return numberedID("note", i) }
func threadIDAt(i int) string { return numberedID("thr", i) }

func (l *Lumen) renderEvent(i int) json.RawMessage {
	h := mixSeeds(l.seed, saltForEvent, uint64(i))
	return providersim.EncodeJSON(eventBody{
		ID:     eventIDAt(i),
		At:     timeFromNanos(l.events[i]),
		Kind:   eventKinds[h%uint64(len(eventKinds))],
		NoteID: noteIDAt(int((h >> 8) % uint64(max(1, l.seedNotes)))),
		Device: sampleDevices[(h>>40)%uint64(len(sampleDevices))],
	})
}

func (l *Lumen) renderNote(i int) json.RawMessage {
	n := l.notes[i]
	if n.deleted {
		return providersim.EncodeJSON(tombstoneJSON{ID: noteIDAt(i), Deleted: true, UpdatedAt: timeFromNanos(n.updated)})
	}
	r := seededRandom(l.seed, saltForNote, uint64(i), uint64(n.revision))
	out := noteBody{ID: noteIDAt(i), Title: unescapedText(randomSentence(r, 2+r.IntN(5))),
		Body: unescapedText(paragraphs(r, 50)), Tags: []unescapedText{},
		UpdatedAt: timeFromNanos(n.updated)}
	for range r.IntN(4) {
		if tag := unescapedText(pickString(r, sampleTags)); !slices.Contains(out.Tags, tag) {
			out.Tags = append(out.Tags, tag)
		}
	}
	return providersim.EncodeJSON(out)
}

func (l *Lumen) threadTitle(i int) unescapedText {
	r := seededRandom(l.seed, saltThread, uint64(i))
	return unescapedText(randomSentence(r, 3+r.IntN(4)))
}

func (l *Lumen) renderThread(i int) json.RawMessage {
	t := l.threads[i]
	return providersim.EncodeJSON(threadJSON{
		ID: threadIDAt(i), Title: l.threadTitle(i), UpdatedAt: timeFromNanos(t.updated), MessageCount: int(t.made) +
			len(t.added),
	})
}

// threadMessages returns the messages of a thread, oldest first.
func (l *Lumen) threadMessages(i int) []messageJSON {
	t := l.threads[i]
	out := make([]messageJSON, 0, int(t.made)+len(t.added))
	for m := range cap(out) {
		sent := t.seeded - int64(int(t.made)-1-m)*messageGap
		if m >= int(t.made) {
			sent = t.added[m-int(t.made)]
		}
		r := seededRandom(l.seed, saltMessage, uint64(i), uint64(m))
		out = append(out, messageJSON{
			ID: numberedID("msg_"+threadIDAt(i), m), Author: unescapedText(pickString(r, samplePeople)),
			Text:   unescapedText(paragraphs(r, 500)),
			SentAt: timeFromNanos(sent),
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
