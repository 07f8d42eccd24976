package export

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"mime"
	"mime/quotedprintable"
	"net/mail"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// mailbox writes messages as an mbox file. The headers are those that were collected; attachments are not in it.
type mailbox struct{ to io.Writer }

func newMailbox(to io.Writer, _ []api.Stream) (Writer, error) { return &mailbox{to}, nil }

func (m *mailbox) Write(s *api.Stream, r *Record) error {
	at, dated := r.at(s)
	if sent, ok := parseTime(r.fields()["date"]); ok {
		at, dated = sent, true
	}
	if !dated {
		at = r.EmittedAt
	}
	var out bytes.Buffer
	sender := strings.Join(strings.Fields(cmp.Or(r.text("from_address"), "MAILER-DAEMON")), "")
	fmt.Fprintf(&out, "From %s %s\n", headerText(sender), at.UTC().Format(time.ANSIC))
	header := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&out, "%s: %s\n", name, value)
		}
	}
	from := mail.Address{Name: singleLine(r.text("from_name")), Address: headerText(r.text("from_address"))}
	header("From", from.String())
	header("To", addressList(r.list("to")))
	header("Cc", addressList(r.list("cc")))
	header("Bcc", addressList(r.list("bcc")))
	header("Reply-To", addressList(r.list("reply_to")))
	if dated {
		header("Date", at.UTC().Format(time.RFC1123Z))
	}
	header("Subject", mime.QEncoding.Encode("utf-8", singleLine(r.text("subject"))))
	header("Message-ID", messageID(r.text("message_id")))
	header("In-Reply-To", messageID(r.text("in_reply_to")))
	var references []string
	for _, id := range r.list("references") {
		references = append(references, messageID(id))
	}
	header("References", strings.Join(references, "\n "))
	header("X-PDPP-Record", mime.QEncoding.Encode("utf-8", singleLine(r.ConnectionID+"/"+r.Stream+"/"+r.Key)))
	header("MIME-Version", "1.0")
	header("Content-Type", "text/plain; charset=utf-8")
	header("Content-Transfer-Encoding", "quoted-printable")
	out.WriteString("\n")
	var text bytes.Buffer
	body := quotedprintable.NewWriter(&text)
	if _, err := body.Write([]byte(r.body(s))); err != nil {
		return err
	}
	if err := body.Close(); err != nil {
		return err
	}
	for line := range strings.Lines(strings.ReplaceAll(text.String(), "\r\n", "\n")) {
		if strings.HasPrefix(line, "From ") { // it would begin the next message
			line = "=46" + line[1:]
		}
		out.WriteString(line)
	}
	out.WriteString("\n\n")
	_, err := m.to.Write(out.Bytes())
	return err
}

func (*mailbox) Close() error { return nil }

// headerText removes what would end a header.
func headerText(text string) string { return oneValue(strings.TrimSpace(text)) }

func addressList(all []string) string {
	var out []string
	for _, text := range all {
		if a, err := mail.ParseAddress(text); err == nil {
			out = append(out, a.String())
		} else if text = headerText(text); text != "" {
			out = append(out, mime.QEncoding.Encode("utf-8", text))
		}
	}
	return strings.Join(out, ",\n ")
}

// messageID returns the id in angle brackets, without what would end the header.
func messageID(id string) string {
	id = strings.Trim(strings.Join(strings.Fields(headerText(id)), ""), "<>")
	if id == "" {
		return ""
	}
	return "<" + id + ">"
}
