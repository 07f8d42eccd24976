package files

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"mime"
	"mime/quotedprintable"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// Mail is a folder with a Maildir and some mbox files that mail programs work on.
type Mail struct {
	*Tree
	letters []*mailMessage // in the Maildir
	boxes   []*mboxFile
	odd     []Item // that keep no rule
}

// mailMessage is one message.
type mailMessage struct {
	rel     string // in the Maildir
	base    string
	flags   string
	id      string
	subject string
	from    string
	text    string
	at      time.Time
	labels  []string
	thread  string
	file    string // what came with it
	form    int
	gone    bool
}

// mboxFile is one mbox.
type mboxFile struct {
	rel     string
	letters []*mailMessage
}

// NewMail makes a Maildir in maildir and mboxes in mbox.
func NewMail(dir string, c Config) (*Mail, error) {
	t := &Mail{Tree: newEmptyTree(dir, c.Seed)}
	for _, sub := range []string{"cur", "new", "tmp", ".Sent/cur", ".Sent/new", ".Sent/tmp"} {
		if err := os.MkdirAll(t.absolutePath("maildir/"+sub), 0o700); err != nil {
			return nil, err
		}
	}
	t.boxes = []*mboxFile{{rel: "mbox/All mail.mbox"}, {rel: "mbox/Lists/Boats.mbox"}}
	n := max(8, c.Sessions*c.Lines/3)
	for i := range n {
		if i%2 == 0 {
			if err := t.deliverMessage(); err != nil {
				return nil, err
			}
			continue
		}
		b := t.boxes[i/2%2]
		b.letters = append(b.letters, t.composeMessage())
	}
	for _, b := range t.boxes {
		if err := t.rewriteMbox(b); err != nil {
			return nil, err
		}
	}
	if err := t.writeFile("maildir/tmp/1.half.host", "Subject: not delivered"); err != nil {
		return nil, err
	}
	if err := t.writeFile("maildir/dovecot.index", "x"); err != nil {
		return nil, err
	}
	if !c.Hostile {
		return t, nil
	}
	return t, t.writeHostileMessages()
}

func (t *Mail) writeFile(rel, content string) error {
	if err := os.MkdirAll(filepath.Dir(t.absolutePath(rel)), 0o700); err != nil {
		return err
	}
	return os.WriteFile(t.absolutePath(rel), []byte(content), 0o600)
}

// writeHostileMessages writes messages that keep no rule.
func (t *Mail) writeHostileMessages() error {
	deep := "Subject: deep\nContent-Type: multipart/mixed; boundary=b0\n\n"
	for i := range 40 {
		deep += fmt.Sprintf("--b%d\nContent-Type: multipart/mixed; boundary=b%d\n\n", i, i+1)
	}
	for i, one := range []struct {
		content string
		fields  map[string]any
	}{
		{"", map[string]any{"text": ""}},
		{"no header at all\n\nbody\n", map[string]any{"text": "body", "malformed": true}},
		{"Subject: =?iso-8859-1?Q?Gr=FC=DFe?= =?utf-8?B?8J+agg==?=\nFrom: =?x?y?z?= <a@example.org\nDate: " +
			"yesterday\n\n\xff\xfe ok", map[string]any{"subject": "Grüße🚂", "from_address": "a@example.org"}},
		{deep, map[string]any{"subject": "deep", "malformed": true}},
		{"Subject: open\nContent-Type: multipart/mixed; boundary=x\n\n--x\n\nfirst\n--x\nContent-Type: image/" +
			"png\nContent-Transfer-Encoding: base64\n\nAAAA!AA", map[string]any{"subject": "open", "text": "first",
			"malformed": true, "attachment_count": float64(1)}},
		{"Subject: long\n\n" + strings.Repeat("x", 9<<20), map[string]any{"subject": "long", "text_cut": true}},
		{"Subject: zero\x00\n\n\x00\x00", map[string]any{"subject": "zero"}},
		{"Subject: page\nContent-Type: text/html; charset=windows-1251\n\n<style>p{}</style><p>" +
			"\xcf\xf0\xe8\xe2\xe5\xf2<script>x</script>, <b>bo</b>at</p><p>two",
			map[string]any{"text": "Привет, boat\ntwo", "text_from_html": true}},
	} {
		base := fmt.Sprintf("9%d.hostile.host", i)
		if err := t.writeFile("maildir/cur/"+base+":2,S", one.content); err != nil {
			return err
		}
		t.odd = append(t.odd, Item{Stream: "messages", Key: "maildir/" + base, File: base, Fields: one.fields})
		if one.content == deep { // too deep to be opened
			t.odd = append(t.odd, Item{Stream: "attachments", Key: "maildir/" + base + "/1", File: base,
				Fields: map[string]any{"content_type": "multipart/mixed"}})
		}
		if one.fields["attachment_count"] != nil {
			t.odd = append(t.odd, Item{Stream: "attachments", Key: "maildir/" + base + "/1", File: base,
				Fields: map[string]any{"content_type": "image/png", "size_bytes": 4.0}})
		}
	}
	t.rememberItems(t.odd...)
	if err := t.writeFile("mbox/empty.mbox", ""); err != nil {
		return err
	}
	if err := t.writeFile("mbox/words.mbox", "this is no mailbox\n"); err != nil {
		return err
	}
	return os.Symlink("/etc/passwd", t.absolutePath("maildir/cur/8.link.host:2,"))
}

// composeMessage makes up a message, in one of several forms.
func (t *Mail) composeMessage() *mailMessage {
	t.serial++
	l := &mailMessage{
		id:      fmt.Sprintf("%d.%08x@boats.example", t.serial, t.rng.Uint32()),
		subject: fmt.Sprintf("Über %s %d", sampleWords[t.rng.IntN(len(sampleWords))], t.serial),
		from:    sampleWords[t.rng.IntN(len(sampleWords))] + "@example.org",
		at:      time.Date(2026, 1, 1, 0, 0, t.serial*77, 0, time.UTC),
		form:    t.rng.IntN(5),
	}
	l.text = strings.ReplaceAll(strings.Join(strings.Fields(t.randomSentence()), " "), "\x01", "") +
		"\nFrom here on\n>From there, " + sampleWords[t.rng.IntN(len(sampleWords))]
	if t.rng.IntN(3) == 0 {
		l.labels = []string{"Inbox", "Ärzte"}
	}
	if t.rng.IntN(3) == 0 {
		l.thread = fmt.Sprintf("root%d@boats.example", t.rng.IntN(5))
	}
	if t.rng.IntN(4) == 0 {
		l.file = strings.Repeat(sampleWords[t.rng.IntN(len(sampleWords))], 1+t.rng.IntN(2000))
	}
	return l
}

// messageSource is the message as it is written.
func (l *mailMessage) messageSource() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("Message-ID: <%s>", l.id)
	line("Date: %s", l.at.Format(time.RFC1123Z))
	line("From: %s <%s>", mime.QEncoding.Encode("iso-8859-1", "M\xe4ra"), l.from)
	line("To: \"Ito, Ren\" <ren@example.org>,\n\tplain@example.org")
	line("Subject: %s", mime.BEncoding.Encode("utf-8", l.subject))
	if l.thread != "" {
		line("References: <%s>\n <other@boats.example>", l.thread)
	}
	if l.labels != nil {
		line("X-Gmail-Labels: %s", mime.QEncoding.Encode("utf-8", strings.Join(l.labels, ",")))
	}
	line("MIME-Version: 1.0")
	if l.file == "" {
		b.WriteString(l.bodyWithHeader())
		return b.String()
	}
	line("Content-Type: multipart/mixed; boundary=\"=_x\"\n\nThis is a message with parts.\n--=_x")
	b.WriteString(l.bodyWithHeader())
	line("\n--=_x\nContent-Type: application/pdf; name=map.pdf\nContent-Disposition: attachment;\n " +
		"filename*=utf-8''K%%C3%%A4rte.pdf\nContent-Transfer-Encoding: base64\n")
	encoded := base64.StdEncoding.EncodeToString([]byte(l.file))
	for len(encoded) > 76 {
		line("%s", encoded[:76])
		encoded = encoded[76:]
	}
	line("%s\n--=_x--", encoded)
	return b.String()
}

// bodyWithHeader is the text with its own head, in the message's form.
func (l *mailMessage) bodyWithHeader() string {
	var b bytes.Buffer
	switch l.form {
	case 0:
		b.WriteString("Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\n")
		w := quotedprintable.NewWriter(&b)
		_, _ = w.Write([]byte(l.text)) // into memory
		_ = w.Close()
		return strings.ReplaceAll(b.String(), "\r\n", "\n") + "\n"
	case 1:
		return "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\n" +
			base64.StdEncoding.EncodeToString([]byte(l.text)) + "\n"
	case 2:
		return "Content-Type: multipart/alternative; boundary=alt\n\n--alt\nContent-Type: text/plain; charset=utf-8\n\n" +
			l.text + "\n--alt\nContent-Type: text/html\n\n<p>other</p>\n--alt--\n"
	}
	return "Content-Type: text/plain; charset=\"UTF-8\"\n\n" + l.text + "\n"
}

// expectedItems are what a reader should have of a message.
func (l *mailMessage) expectedItems(key, file, folder string) []Item {
	fields := map[string]any{
		"message_id": l.id, "subject": l.subject, "from_name": "Mära", "from_address": l.from, "text": l.text,
		"folder": folder, "date": l.at.Format(time.RFC3339),
		"to": []any{"Ito, Ren <ren@example.org>", "plain@example.org"}, "thread_id": l.id,
	}
	if l.thread != "" {
		fields["thread_id"] = l.thread
		fields["references"] = []any{l.thread, "other@boats.example"}
	}
	if l.labels != nil {
		fields["labels"] = []any{l.labels[0], l.labels[1]}
	}
	if strings.Contains(l.flags, "S") {
		fields["flags"] = []any{"seen"}
	}
	list := []Item{{Stream: "messages", Key: key, File: file, Fields: fields}}
	if l.file != "" {
		sum := sha256.Sum256([]byte(l.file))
		list = append(list, Item{Stream: "attachments", Key: key + "/1", File: file, Fields: map[string]any{
			"file_name": "Kärte.pdf", "content_type": "application/pdf", "size_bytes": float64(len(l.file)),
			"sha256": hex.EncodeToString(sum[:]),
		}})
	}
	return list
}

// maildirItems are the items of a message in the Maildir.
func (l *mailMessage) maildirItems() []Item {
	folder := "INBOX"
	if strings.HasPrefix(l.rel, ".Sent/") {
		folder = "Sent"
	}
	return l.expectedItems("maildir/"+l.base, l.base, folder)
}

// mboxItems are the items of a message in a mbox.
func (l *mailMessage) mboxItems(b *mboxFile) []Item {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", []string{l.id, l.at.Format(time.RFC3339), l.from, l.subject}))
	return l.expectedItems("mbox/"+hex.EncodeToString(sum[:12]), b.rel,
		strings.TrimSuffix(strings.TrimPrefix(b.rel, "mbox/"), ".mbox"))
}

// deliverMessage puts a new message into the Maildir, as programs do: written aside, then moved.
func (t *Mail) deliverMessage() error {
	l := t.composeMessage()
	l.base = fmt.Sprintf("%d.M%dP7.host,S=%d", 1700000000+t.serial, t.serial, t.serial)
	l.rel = "new/" + l.base
	t.letters = append(t.letters, l)
	t.rememberItems(l.maildirItems()...)
	if err := t.writeFile("maildir/tmp/"+l.base, l.messageSource()); err != nil {
		return err
	}
	return os.Rename(t.absolutePath("maildir/tmp/"+l.base), t.absolutePath("maildir/"+l.rel))
}

// mboxSource is a message as a mbox has it.
func (l *mailMessage) mboxSource() string {
	var b strings.Builder
	fmt.Fprintf(&b, "From %s %s\n", l.from, l.at.Format("Mon Jan 02 15:04:05 2006"))
	for line := range strings.Lines(l.messageSource()) {
		if strings.HasPrefix(strings.TrimLeft(line, ">"), "From ") {
			b.WriteByte('>')
		}
		b.WriteString(line)
	}
	return b.String() + "\n"
}

func (b *mboxFile) fileContent() string {
	var all strings.Builder
	for _, l := range b.letters {
		all.WriteString(l.mboxSource())
	}
	return all.String()
}

// rewriteMbox rewrites an mbox in place.
func (t *Mail) rewriteMbox(b *mboxFile) error {
	for _, l := range b.letters {
		t.rememberItems(l.mboxItems(b)...)
	}
	return t.writeFile(b.rel, b.fileContent())
}

// Now is every message.
func (t *Mail) Now() map[string][]Item {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := map[string][]Item{}
	add := func(list ...Item) {
		for _, i := range list {
			now[i.Stream+"\x00"+i.Key] = append(now[i.Stream+"\x00"+i.Key], i)
		}
	}
	add(t.odd...)
	for _, l := range t.letters {
		if !l.gone {
			add(l.maildirItems()...)
		}
	}
	for _, b := range t.boxes {
		for _, l := range b.letters {
			add(l.mboxItems(b)...)
		}
	}
	return now
}

var mailStepNames = []string{"deliver", "deliver", "see", "see", "flag", "move", "expunge", "append", "append",
	"append",
	"compact", "replace", "touch"}

// Step lets a mail program do one thing.
func (t *Mail) Step() (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	step := mailStepNames[t.rng.IntN(len(mailStepNames))]
	return step, t.applyStep(step)
}

func (t *Mail) applyStep(step string) error {
	l, b := t.letters[t.rng.IntN(len(t.letters))], t.boxes[t.rng.IntN(len(t.boxes))]
	switch step {
	case "deliver":
		return t.deliverMessage()
	case "append":
		l := t.composeMessage()
		b.letters = append(b.letters, l)
		t.rememberItems(l.mboxItems(b)...)
		h, err := os.OpenFile(t.absolutePath(b.rel), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		if _, err := h.WriteString(l.mboxSource()); err != nil {
			_ = h.Close()
			return err
		}
		return h.Close()
	case "compact": // the program drops a message and rewrites the file
		if len(b.letters) > 3 {
			i := t.rng.IntN(len(b.letters))
			b.letters = append(append([]*mailMessage{}, b.letters[:i]...), b.letters[i+1:]...)
			return t.rewriteMbox(b)
		}
		return nil
	case "replace":
		if err := os.WriteFile(t.absolutePath(b.rel+".new"), []byte(b.fileContent()), 0o600); err != nil {
			return err
		}
		return os.Rename(t.absolutePath(b.rel+".new"), t.absolutePath(b.rel))
	case "touch":
		now := time.Now()
		return os.Chtimes(t.absolutePath(b.rel), now, now)
	}
	if l.gone {
		return nil
	}
	switch step {
	case "see":
		return t.renameMessage(l, path.Join(path.Dir(path.Dir(l.rel)), "cur"), "S")
	case "flag":
		return t.renameMessage(l, path.Join(path.Dir(path.Dir(l.rel)), "cur"), "FS")
	case "move":
		return t.renameMessage(l, ".Sent/cur", "S")
	case "expunge":
		l.gone = true
		return os.Remove(t.absolutePath("maildir/" + l.rel))
	}
	return nil
}

// renameMessage changes the flags or the folder of a message.
func (t *Mail) renameMessage(l *mailMessage, dir, flags string) error {
	from := t.absolutePath("maildir/" + l.rel)
	l.flags, l.rel = strings.Trim(flags, "F"), path.Join(dir, l.base+":2,"+flags)
	if flags == "FS" {
		l.flags = ""
	}
	t.rememberItems(l.maildirItems()...)
	return os.Rename(from, t.absolutePath("maildir/"+l.rel))
}
