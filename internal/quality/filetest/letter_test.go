package filetest

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"mime"
	"mime/multipart"
	netmail "net/mail"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest/realserver"
)

// attached is something that comes with a letter.
type attached struct {
	name, kind string
	content    []byte
}

// noise is content that nothing makes smaller.
func noise(seed uint64, n int) []byte {
	b := make([]byte, n)
	random := rand.New(rand.NewPCG(seed, 0))
	for i := 0; i+8 <= n; i += 8 {
		v := random.Uint64()
		for j := range 8 {
			b[i+j] = byte(v >> (8 * j))
		}
	}
	return b
}

// letter is a message of an invented person with files.
func letter(subject string, files ...attached) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "From: Jorn Vale <jorn@harbour.example>\r\nTo: mara@harbour.example\r\nSubject: %s\r\n"+
		"Message-ID: <%s@harbour.example>\r\nDate: Tue, 3 Mar 2026 10:00:00 +0000\r\nMIME-Version: 1.0\r\n", subject, subject)
	b.WriteString("Content-Type: multipart/mixed; boundary=edge\r\n\r\n--edge\r\nContent-Type: text/plain\r\n\r\n" +
		"see the files\r\n")
	for _, f := range files {
		fmt.Fprintf(&b, "--edge\r\nContent-Type: %s\r\nContent-Disposition: %s\r\nContent-Transfer-Encoding: base64\r\n\r\n",
			f.kind, mime.FormatMediaType("attachment", map[string]string{"filename": f.name}))
		for coded := base64.StdEncoding.EncodeToString(f.content); coded != ""; {
			n := min(76, len(coded))
			b.WriteString(coded[:n] + "\r\n")
			coded = coded[n:]
		}
	}
	b.WriteString("--edge--\r\n")
	return b.Bytes()
}

// deliver puts letters into an inbox.
func deliver(t *testing.T, user string, letters ...[]byte) {
	t.Helper()
	var commands []string
	for i, l := range letters {
		commands = append(commands, realserver.AppendCommand("INBOX", "", time.Date(2026, 3, 3, 10, i, 0, 0, time.UTC), l))
	}
	if err := theServer(t).Speak(user, commands...); err != nil {
		t.Fatal(err)
	}
}

// inMaildir reads what came with the letters of an inbox from the mail server's own files, by the key
// that the record has, without any code of ours that reads mail.
func inMaildir(t *testing.T, user string) map[string]attached {
	t.Helper()
	messages, err := theServer(t).Messages(user, "INBOX")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]attached{}
	for _, m := range messages {
		msg, err := netmail.ReadMessage(bytes.NewReader(m.Content))
		if err != nil {
			t.Fatal(err)
		}
		_, params, err := mime.ParseMediaType(msg.Header.Get("Content-Type"))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for parts := multipart.NewReader(msg.Body, params["boundary"]); ; {
			part, err := parts.NextPart()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(part.Header.Get("Content-Disposition"), "attachment") {
				continue
			}
			n++
			_, reports, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
			if err != nil {
				t.Fatal(err)
			}
			content, err := io.ReadAll(base64.NewDecoder(base64.StdEncoding, part))
			if err != nil {
				t.Fatal(err)
			}
			out[fmt.Sprintf("INBOX/%d/%d/%d", m.Validity, m.UID, n)] = attached{reports["filename"],
				part.Header.Get("Content-Type"), content}
		}
	}
	return out
}
