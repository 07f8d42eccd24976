package imap_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	netmail "net/mail"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/connectorkit/connectortest/realserver"
	"github.com/pdpp-go/pdpp/connectorkit/connectortest/realserver/courier"
	"github.com/pdpp-go/pdpp/connectorkit/connectortest/realserver/cyrus"
	"github.com/pdpp-go/pdpp/connectorkit/connectortest/realserver/dovecot"
	"github.com/pdpp-go/pdpp/providersim"
)

var (
	sharedDovecot = realserver.Shared[*dovecot.Server]{}
	sharedCyrus   = realserver.Shared[*cyrus.Server]{}
	sharedCourier = realserver.Shared[*courier.Server]{}
)

var trusted *authority

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "authority")
	if err == nil {
		trusted, err = newAuthority(dir)
	}
	if err == nil {
		err = os.Setenv("SSL_CERT_FILE", filepath.Join(dir, "authority.pem"))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	err = errors.Join(sharedDovecot.Close(), sharedCyrus.Close(), sharedCourier.Close(), os.RemoveAll(dir))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// house is a mail server, and how it names things.
type house struct {
	mail interface {
		Speak(account string, commands ...string) error
	}
	address, password string
	prefix, delimiter string // of folders beside the inbox, and within them
	truth             func(account string) ([]realserver.MailFolder, error)
}

// folder is the name that commands have for a folder.
func (h house) folder(name string) string {
	if name == "INBOX" {
		return name
	}
	return h.prefix + strings.ReplaceAll(name, "/", h.delimiter)
}

// theDovecot is the one Dovecot of this package.
func theDovecot(t testing.TB) house {
	program := dovecot.Program(t)
	sharedDovecot.Start = func(dir string) (*dovecot.Server, func() error, error) {
		s, err := dovecot.Start(program, dir, dovecot.Limits{})
		if err != nil {
			return nil, nil, err
		}
		return s, s.Stop, nil
	}
	return dovecotHouse(sharedDovecot.Get(t))
}

func dovecotHouse(s *dovecot.Server) house {
	return house{mail: s, address: s.Address, password: dovecot.Password, delimiter: "/", truth: s.Mail}
}

// theCyrus is the one Cyrus of this package.
func theCyrus(t testing.TB) house {
	programs := cyrus.Programs(t)
	sharedCyrus.Start = func(dir string) (*cyrus.Server, func() error, error) {
		s, err := cyrus.Start(programs, dir, cyrus.Limits{})
		if err != nil {
			return nil, nil, err
		}
		return s, s.Stop, nil
	}
	return cyrusHouse(sharedCyrus.Get(t))
}

func cyrusHouse(s *cyrus.Server) house {
	return house{mail: s, address: s.Address, password: cyrus.Password, prefix: "INBOX.", delimiter: ".",
		truth: func(account string) ([]realserver.MailFolder, error) { return s.Mail(account) }}
}

// theCourier is the one Courier of this package.
func theCourier(t testing.TB) house {
	programs := courier.Programs(t)
	sharedCourier.Start = func(dir string) (*courier.Server, func() error, error) {
		s, err := courier.Start(programs, dir)
		if err != nil {
			return nil, nil, err
		}
		return s, s.Stop, nil
	}
	s := sharedCourier.Get(t)
	return house{mail: s, address: s.Address, password: courier.Password, prefix: "INBOX.", delimiter: ".", truth: s.Mail}
}

// mailbox is an account on a real server. The server's files show what exists.
type mailbox struct {
	house
	user   string
	made   int
	closed string // a folder that it lists and does not open
}

var accounts atomic.Int64

// openTestAccount creates an account with messages in several folders, and puts the gate in front of it.
func openTestAccount(t testing.TB, at house, messages int, hidden ...string) (*mailbox, *connectortest.Sim) {
	t.Helper()
	b := &mailbox{house: at, user: fmt.Sprintf("mara%d", accounts.Add(1))}
	half := messages / 2
	err := b.mail.Speak(b.user, "CREATE "+b.folder("Work"), "CREATE "+b.folder("Work/Harbour"),
		"CREATE "+b.folder("Gr&APwA3w-e"),
		b.deliver("INBOX", half), b.deliver("Work/Harbour", messages/4), b.deliver("Gr&APwA3w-e", messages-half-messages/4))
	if err != nil {
		t.Fatal(err)
	}
	gate := providersim.NewGate(providersim.GateOptions{})
	return b, &connectortest.Sim{Provider: b, Gate: gate, Env: map[string]string{
		"IMAP_ADDRESS": b.user, "IMAP_PASSWORD": b.password,
		"IMAP_SERVER":        realserver.StartIMAPFront(t, gate, b.address, hidden...),
		"PDPP_IMAP_SECURITY": "none", "PDPP_IMAP_BODIES_PER_COMMAND": "1",
	}}
}

// deliver is the command that puts n messages into a folder.
func (b *mailbox) deliver(folder string, n int) string {
	folder = b.folder(folder)
	var parts []string
	for range n {
		b.made++
		at := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC).Add(time.Duration(b.made) * 37 * time.Minute)
		flags := []string{"", `\Seen`, `\Seen \Answered`, `\Flagged harbour`}[b.made%4]
		command := realserver.AppendCommand(folder, flags, at, letter(b.user, b.made, at))
		parts = append(parts, strings.TrimPrefix(command, fmt.Sprintf("APPEND %q", folder)))
	}
	return fmt.Sprintf("APPEND %q", folder) + strings.Join(parts, "")
}

// letter is a message of an invented person.
func letter(user string, n int, at time.Time) []byte {
	head := fmt.Sprintf("From: =?utf-8?q?J=C3=B6rn_Vale?= <jorn@harbour.example>\r\n"+
		"To: Mara Lind <mara@harbour.example>,\r\n other@harbour.example\r\nSubject: =?utf-8?q?Tide_table_n=C2=B0?= %d\r\n"+
		"Message-ID: <%s.%d@harbour.example>\r\nReferences: <a%d@harbour.example>\r\n <b@harbour.example>\r\nDate: %s\r\n"+
		"MIME-Version: 1.0\r\n",
		n, user, n, n%7, at.Format(time.RFC1123Z))
	text := fmt.Sprintf("The tide of day %d is high.\r\nJörn\r\n", n)
	file := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{byte(n), 0, 255}, 50+n%40))
	switch n % 3 {
	case 0:
		return []byte(head + "Content-Type: multipart/mixed; boundary=edge\r\n\r\nnobody sees this\r\n--edge\r\n" +
			"Content-Type: text/plain; charset=utf-8\r\n\r\n" + text +
			"\r\n--edge\r\nContent-Type: application/pdf; name=tide.pdf\r\n" +
			"Content-Disposition: attachment; filename=tide.pdf\r\nContent-Transfer-Encoding: base64\r\n\r\n" + file +
			"\r\n--edge--\r\n")
	case 1:
		return []byte(head + "Content-Type: multipart/alternative; boundary=edge\r\n\r\n--edge\r\n" +
			"Content-Type: text/plain; charset=utf-8\r\n\r\n" + text +
			"\r\n--edge\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<p>another</p>\r\n--edge--\r\n")
	}
	return []byte(head + "Content-Type: text/plain; charset=utf-8\r\n\r\n" + text)
}

var letterFlags = map[string]string{`\Seen`: "seen", `\Answered`: "replied", `\Flagged`: "flagged",
	`\Deleted`: "trashed", `\Draft`: "draft"}

// Truth is what the server's files hold, read without any code of ours that reads mail.
func (b *mailbox) Truth() providersim.Truth {
	truth, err := b.tellAll()
	if err != nil {
		panic(err)
	}
	return truth
}

func (b *mailbox) tellAll() (providersim.Truth, error) {
	truth := providersim.Truth{"folders": {}, "messages": {}, "bodies": {}, "attachments": {}}
	folders, err := b.truth(b.user)
	if err != nil {
		return nil, err
	}
	for _, f := range folders {
		name := strings.ReplaceAll(f.Name, "Gr&APwA3w-e", "Grüße")
		folder := map[string]any{"id": name, "name": name, "selectable": true, "message_count": len(f.Messages)}
		if i := strings.LastIndex(name, b.delimiter); i >= 0 {
			folder["parent"], folder["name"] = name[:i], name[i+1:]
		}
		if use := map[string]string{"INBOX": "inbox", b.folder("Sent"): "sent", b.folder("Trash"): "trash"}[name]; use != "" {
			folder["special_use"] = use
		}
		put(truth["folders"], name, folder)
		if f.Name == b.closed {
			continue
		}
		for _, m := range f.Messages {
			if err := tell(truth, name, m); err != nil {
				return nil, fmt.Errorf("%s %d: %w", name, m.UID, err)
			}
		}
	}
	return truth, nil
}

func put(to map[string]providersim.Item, key string, record map[string]any) {
	data, err := json.Marshal(record)
	if err != nil {
		panic(err)
	}
	to[key] = providersim.Item{Data: data}
}

// tell adds the message in a file to the truth.
func tell(truth providersim.Truth, folder string, m realserver.MailMessage) error {
	id := fmt.Sprintf("%s/%d/%d", folder, m.Validity, m.UID)
	at := m.Received.UTC().Format(time.RFC3339)
	msg, err := netmail.ReadMessage(bytes.NewReader(m.Content))
	if err != nil {
		return err
	}
	subject, err := new(mime.WordDecoder).DecodeHeader(msg.Header.Get("Subject"))
	if err != nil {
		return err
	}
	from, err := msg.Header.AddressList("From")
	if err != nil {
		return err
	}
	date, err := msg.Header.Date()
	if err != nil {
		return err
	}
	refs := strings.Fields(strings.NewReplacer("<", "", ">", "").Replace(msg.Header.Get("References")))
	var flags []string
	for _, f := range m.Flags {
		if name := letterFlags[f]; name != "" {
			f = name
		}
		flags = append(flags, f)
	}
	slices.Sort(flags)
	rec := map[string]any{
		"id": id, "folder": folder, "uid": m.UID, "received_at": at,
		"message_id": strings.Trim(msg.Header.Get("Message-ID"), "<>"),
		"thread_id":  refs[0], "references": refs, "date": date.UTC().Format(time.RFC3339), "subject": subject,
		"from_name": from[0].Name, "from_address": from[0].Address,
		"to": []string{"Mara Lind <mara@harbour.example>", "other@harbour.example"}, "size_bytes": len(m.Content),
	}
	if len(flags) > 0 {
		rec["flags"] = flags
	}
	put(truth["messages"], id, rec)

	_, raw, _ := bytes.Cut(m.Content, []byte("\r\n\r\n"))
	sum := sha256.Sum256(raw)
	body := map[string]any{"id": id, "received_at": at, "body_sha256": hex.EncodeToString(sum[:]),
		"read_bytes": len(m.Content), "attachment_count": 0}
	kind, params, err := mime.ParseMediaType(msg.Header.Get("Content-Type"))
	if err != nil {
		return err
	}
	plain := func(r io.Reader) error {
		text, err := io.ReadAll(r)
		body["text"] = strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n"))
		return err
	}
	if !strings.HasPrefix(kind, "multipart/") {
		err = plain(msg.Body)
	}
	for parts := multipart.NewReader(msg.Body, params["boundary"]); strings.HasPrefix(kind, "multipart/") && err == nil; {
		var part *multipart.Part
		if part, err = parts.NextPart(); err == io.EOF {
			err = nil
			break
		} else if err != nil {
			return err
		}
		switch {
		case part.FileName() != "":
			var content []byte
			if content, err = io.ReadAll(base64.NewDecoder(base64.StdEncoding, part)); err != nil {
				return err
			}
			sum := sha256.Sum256(content)
			body["attachment_count"] = 1
			put(truth["attachments"], id+"/1", map[string]any{
				"id": id + "/1", "message_id": id, "received_at": at, "file_name": part.FileName(),
				"content_type": "application/pdf",
				"size_bytes":   len(content), "sha256": hex.EncodeToString(sum[:]), "date": date.UTC().Format(time.RFC3339),
				"hydration_status": "hydrated",
				"blob_ref": map[string]any{"blob_id": hex.EncodeToString(sum[:]), "mime_type": "application/pdf",
					"size_bytes": len(content), "sha256": hex.EncodeToString(sum[:])},
			})
		case strings.HasPrefix(part.Header.Get("Content-Type"), "text/plain"):
			err = plain(part)
		}
	}
	put(truth["bodies"], id, body)
	return err
}

// Mutate changes the account as another mail program would.
func (b *mailbox) Mutate(m providersim.Mutation) (providersim.Mutated, error) {
	harbour, greetings := b.folder("Work/Harbour"), b.folder("Gr&APwA3w-e")
	commands := map[string][]string{
		"deliver":  {b.deliver("INBOX", m.N)},
		"flag":     {"SELECT INBOX", fmt.Sprintf(`STORE 1:%d +FLAGS (\Flagged read-later)`, m.N)},
		"unsee":    {"SELECT " + harbour, fmt.Sprintf(`STORE 1:%d -FLAGS (\Seen)`, m.N)},
		"move":     {"SELECT INBOX", fmt.Sprintf("MOVE 1:%d %s", m.N, b.folder("Trash"))},
		"remove":   {"SELECT INBOX", fmt.Sprintf(`STORE 2:%d +FLAGS.SILENT (\Deleted)`, m.N+1), "EXPUNGE"},
		"file":     {"CREATE " + b.folder("New"), b.deliver("New", m.N)},
		"drop":     {"DELETE " + harbour},
		"renumber": {"DELETE " + greetings, "CREATE " + greetings, b.deliver("Gr&APwA3w-e", m.N)},
	}
	return providersim.Mutated{Op: m.Op}, b.mail.Speak(b.user, commands[m.Op]...)
}

// ChangeToken is not what a password does.
func (b *mailbox) ChangeToken(providersim.TokenChange) (providersim.TokenStatus, error) {
	return providersim.TokenStatus{}, nil
}
