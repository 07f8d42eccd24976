package files

import (
	"archive/zip"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Phone is a folder with chats that a person exports repeatedly from a phone, with their expected contents. Its clock
// is in UTC.
type Phone struct {
	dir string

	mu      sync.Mutex
	text    *Tree
	rng     *rand.Rand
	form    phoneFormat
	chats   []*exportedChat
	files   map[string][]Item // what each export holds
	ever    map[string][]Item
	largest map[string]int // how often an equal message was in one export, at most
}

type exportedChat struct {
	title         string
	people        []string
	phoneMessages []phoneMessage
	clock         time.Time
	n             int // exports of it
}

type phoneMessage struct {
	at           time.Time
	author, text string
	file         bool
	event        bool
}

// phoneFormat is how the phone of one country writes.
type phoneFormat struct {
	stamp  string
	apple  bool
	prefix string // of the file's name
	half   [2]string
	media  string // the marker of an omitted file
	file   string // how a file is named
}

var phoneForms = []phoneFormat{
	{"[1/2/06, 3:04:05 PM] ", true, "WhatsApp Chat - ", [2]string{"\u202fAM", "\u202fPM"}, "\u200eimage omitted",
		"\u200e<attached: %s>"},
	{"[02.01.06, 15:04:05] ", true, "WhatsApp Chat - ", [2]string{}, "\u200eBild weggelassen", "\u200e<Anhang: %s>"},
	{"[2006-01-02, 15:04:05] ", true, "WhatsApp Chat - ", [2]string{}, "\u200eimage omitted", "\u200e<attached: %s>"},
	{"1/2/06, 3:04 PM - ", false, "WhatsApp Chat with ", [2]string{"\u202fAM", "\u202fPM"}, "<Media omitted>",
		"%s (file attached)"},
	{"02/01/2006, 15:04 - ", false, "WhatsApp Chat with ", [2]string{}, "<Media omitted>", "%s (file attached)"},
	{"02.01.06, 15:04 - ", false, "WhatsApp-Chat mit ", [2]string{}, "<Medien ausgeschlossen>", "%s (Datei angehängt)"},
	{"2/1/2006, 3:04 PM - ", false, "Chat de WhatsApp con ", [2]string{" a.\u00a0m.", " p.\u00a0m."},
		"<Multimedia omitido>", "%s (archivo adjunto)"},
	{"2006-01-02, 3:04 PM - ", false, "WhatsApp Chat with ", [2]string{" a.m.", " p.m."}, "<Media omitted>",
		"%s (file attached)"},
}

// Exports makes a folder with exported chats.
func Exports(dir string, c Config) (World, error) { return NewPhone(dir, c) }

// NewPhone makes a phone and its first exports.
func NewPhone(dir string, c Config) (*Phone, error) {
	rng := rand.New(rand.NewPCG(c.Seed, 13))
	p := &Phone{
		dir: dir, rng: rng, text: &Tree{rng: rng}, form: phoneForms[c.Seed%uint64(len(phoneForms))],
		files: map[string][]Item{}, ever: map[string][]Item{}, largest: map[string]int{},
	}
	for i := range max(2, min(c.Sessions/3, 5)) {
		chat := &exportedChat{title: "The " + sampleWords[i], people: []string{"Mara", sampleWords[i] + " (work)"},
			clock: time.Date(2026, 1, 3, 9, 0, 0, 0, time.UTC)}
		if i%2 == 1 {
			chat.people = append(chat.people, "+1 555 010"+fmt.Sprint(i), "~ Ben")
		}
		p.chats = append(p.chats, chat)
		p.addMessages(chat, 25+p.rng.IntN(10))
		if err := p.exportChat(chat); err != nil {
			return nil, err
		}
	}
	if !c.Hostile {
		return p, nil
	}
	for name, content := range map[string]string{
		"WhatsApp Chat with nobody.txt": "", "notes.txt": "buy milk\nand bread\n",
		"page.txt": "<html><body>13:30</body></html>", "WhatsApp Chat with half.zip": "PK\x03\x04broken",
	} {
		if err := p.writeDownloaded(name, []byte(content)); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// addMessages adds messages: some repeated within a minute, some of many lines, some with a file.
func (p *Phone) addMessages(c *exportedChat, n int) {
	for range n {
		c.clock = c.clock.Add(time.Duration(30+
			p.rng.IntN(2600)) * time.Minute).Truncate(time.Minute).Add(time.Duration(p.rng.IntN(60)) * time.Second)
		m := phoneMessage{at: c.clock, author: c.people[p.rng.IntN(len(c.people))],
			text: strings.Join(strings.Fields(p.text.randomSentence())[:3], " ")}
		switch p.rng.IntN(9) {
		case 0:
			m.text += "\n\nsecond: line\n12:30 - no message"
		case 1:
			m.file = true
		case 2:
			m.file, m.text = true, ""
		case 3:
			m.event, m.text = true, "Messages and calls are end-to-end encrypted."
		case 4:
			m.text = "ok"
			c.phoneMessages = append(c.phoneMessages, m)
		}
		c.phoneMessages = append(c.phoneMessages, m)
	}
}

func (p *Phone) formatTimestamp(at time.Time) string {
	text := at.Format(p.form.stamp)
	if p.form.half[0] != "" {
		text = strings.NewReplacer(" AM", p.form.half[0], " PM", p.form.half[1]).Replace(text)
	}
	return text
}

// exportChat writes the last messages of a chat, as many as the phone pleases.
func (p *Phone) exportChat(c *exportedChat) error {
	messages := c.phoneMessages[p.rng.IntN(max(1, len(c.phoneMessages)-24)):]
	withFiles := p.rng.IntN(2) == 0
	var b strings.Builder
	var items []Item
	times := map[string]int{}
	for i, m := range messages {
		author := strings.TrimPrefix(m.author, "~ ")
		at := m.at
		if !p.form.apple {
			at = at.Truncate(time.Minute)
		}
		fields := map[string]any{"author": author, "content": m.text, "kind": "message", "sent_at": formatTimestamp(at),
			"source": "export"}
		line := m.author + ": " + m.text
		switch {
		case m.event && p.form.apple:
			line = c.title + ": \u200e" + m.text
		case m.event:
			line = m.text
		case m.file:
			mark := p.form.media
			if withFiles {
				mark = fmt.Sprintf(p.form.file, fmt.Sprintf("IMG-%s-WA%04d.jpg", at.Format("20060102"), i))
			}
			line = strings.TrimSuffix(m.author+": "+mark+"\n"+m.text, "\n")
			fields["kind"], fields["has_attachment"] = "file", true
		}
		if m.event {
			delete(fields, "author")
			fields["kind"] = "event"
		}
		if m.text == "" {
			delete(fields, "content")
		}
		b.WriteString(p.formatTimestamp(m.at) + line + "\n")
		items = append(items, Item{Stream: "messages", Fields: fields})
		key := fmt.Sprintf("%s|%s|%s|%s|%v", c.title, fields["author"], formatTimestamp(at), m.text, m.file)
		times[key]++
		p.largest[key] = max(p.largest[key], times[key])
	}
	name := p.form.prefix + c.title
	if c.n++; c.n > 1 {
		name += fmt.Sprintf(" (%d)", c.n-1)
	}
	content := []byte(b.String())
	if p.rng.IntN(3) == 0 {
		content = append([]byte("\xef\xbb\xbf"), content...)
	}
	name += ".txt"
	if p.form.apple {
		name = strings.TrimSuffix(name, ".txt") + ".zip"
		content = zipMembers(map[string][]byte{"_chat.txt": content,
			"00000001-PHOTO-2026-01-02-10-11-12.jpg": []byte("picture")})
	}
	p.files[name] = items
	p.ever["messages"] = append(p.ever["messages"], items...)
	return p.writeDownloaded(name, content)
}

func zipMembers(members map[string][]byte) []byte {
	var b strings.Builder
	w := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if m, err := w.Create(name); err == nil {
			_, _ = m.Write(members[name]) // into memory
		}
	}
	_ = w.Close()
	return []byte(b.String())
}

// writeDownloaded puts a file there that was downloaded a while ago.
func (p *Phone) writeDownloaded(name string, content []byte) error {
	to := filepath.Join(p.dir, name)
	if err := os.WriteFile(to+".part", content, 0o600); err != nil {
		return err
	}
	old := time.Now().Add(-time.Minute)
	if err := os.Chtimes(to+".part", old, old); err != nil {
		return err
	}
	return os.Rename(to+".part", to)
}

// Root is where the exports are.
func (p *Phone) Root() string { return p.dir }

// Step lets people talk, exports a chat, or clears up.
func (p *Phone) Step() (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.chats[p.rng.IntN(len(p.chats))]
	switch p.rng.IntN(10) {
	case 0:
		if names := slices.Sorted(maps.Keys(p.files)); len(names) > 3 {
			name := names[p.rng.IntN(len(names))]
			delete(p.files, name)
			return "remove", os.Remove(filepath.Join(p.dir, name))
		}
	case 1:
		if c.n < 6 {
			return "export", p.exportChat(c)
		}
	case 2, 3, 4:
		if len(c.phoneMessages) < 80 {
			p.addMessages(c, 1+p.rng.IntN(3))
		}
	}
	return "talk", nil
}

// Now is everything that is in the exports.
func (p *Phone) Now() map[string][]Item {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := map[string][]Item{}
	for name, items := range p.files {
		for i, item := range items {
			now[fmt.Sprintf("%s %d", name, i)] = []Item{item}
		}
	}
	return now
}

// Ever is everything that was in an export.
func (p *Phone) Ever(stream, key string) []Item {
	p.mu.Lock()
	defer p.mu.Unlock()
	if key != "" {
		return nil // the exports have no keys
	}
	return p.ever[stream]
}

// Distinct is how many messages the exports had, one that is in several counted once.
func (p *Phone) Distinct() int {
	n := 0
	for _, times := range p.largest {
		n += times
	}
	return n
}
