package imap_test

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/connectorkit/connectortest/inprocess"
	"github.com/pdpp-go/pdpp/connectors/imap"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
	"github.com/pdpp-go/pdpp/providersim"
)

// scripted plays a mail server without extensions that has one message, number 5, in each folder.
type scripted struct {
	capabilities string
	folders      []string // as LIST has them
	// reply answers a command in the way of one server; false leaves it to the ordinary answer.
	reply func(d *dialogue, command string) bool

	mu          sync.Mutex
	connections int
}

// dialogue is one connection to it.
type dialogue struct {
	in       *bufio.Reader
	out      io.Writer
	tag      string
	number   int    // of the connection
	selected string // the folder that is open
	validity int    // of the numbers in every folder
}

func (d *dialogue) say(lines ...string) {
	_, _ = io.WriteString(d.out, strings.Join(lines, "\r\n")+"\r\n")
}

// done sends the lines, and the end of a command that succeeded.
func (d *dialogue) done(lines ...string) bool {
	d.say(append(lines, d.tag+" OK done")...)
	return true
}

const (
	letterHead = "Subject: Fog\r\nMessage-ID: <fog@harbour.example>\r\n\r\n"
	letterDate = `INTERNALDATE "01-Mar-2026 08:00:00 +0000"`
)

// head is the line of FETCH about the message, with more items before it.
func head(more string) string {
	return fmt.Sprintf("* 1 FETCH (%sUID 5 RFC822.SIZE 44 %s FLAGS (\\Seen) BODY[HEADER.FIELDS (DATE FROM)] {%d}\r\n%s)",
		more, letterDate, len(letterHead), letterHead)
}

// start returns the address of the server.
func (s *scripted) start(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go s.serve(conn)
		}
	}()
	return l.Addr().String()
}

func (s *scripted) serve(conn net.Conn) {
	defer conn.Close()
	s.mu.Lock()
	s.connections++
	d := &dialogue{in: bufio.NewReader(conn), out: conn, number: s.connections, validity: 11}
	s.mu.Unlock()
	d.say("* OK IMAP4rev1 ready")
	for {
		line, err := d.in.ReadString('\n')
		if err != nil {
			return
		}
		var command string
		d.tag, command, _ = strings.Cut(strings.TrimSpace(line), " ")
		if name, open := strings.CutPrefix(command, "EXAMINE "); open || strings.HasPrefix(command, "SELECT ") {
			d.selected = strings.Split(strings.TrimPrefix(name, "SELECT "), `"`)[1]
		}
		s.mu.Lock()
		answered := s.reply(d, command)
		s.mu.Unlock()
		if !answered {
			s.answer(d, command)
		}
	}
}

// answer is the ordinary answer to a command.
func (s *scripted) answer(d *dialogue, command string) {
	switch word, rest, _ := strings.Cut(command, " "); {
	case word == "CAPABILITY":
		d.done("* CAPABILITY IMAP4rev1 SASL-IR AUTH=PLAIN" + s.capabilities)
	case word == "LIST":
		for _, f := range s.folders {
			d.say("* LIST " + f)
		}
		d.done()
	case word == "STATUS":
		d.done(fmt.Sprintf("* STATUS %q (MESSAGES 1 UIDNEXT 6 UIDVALIDITY %d)", strings.Split(rest, `"`)[1], d.validity))
	case word == "EXAMINE", word == "SELECT":
		d.done("* 1 EXISTS", fmt.Sprintf("* OK [UIDVALIDITY %d]", d.validity), "* OK [UIDNEXT 6]")
	case strings.HasPrefix(command, "UID SEARCH"):
		d.done("* SEARCH 5")
	case strings.Contains(command, "BODY.PEEK[]"):
		d.done(fmt.Sprintf("* 1 FETCH (UID 5 %s BODY[]<0> {%d}\r\n%sfog\r\n)", letterDate, len(letterHead)+5, letterHead))
	case strings.HasPrefix(command, "UID FETCH"):
		d.done(head(""))
	default:
		d.done()
	}
}

// bed returns the connector against an account on the server.
func (s *scripted) bed(t *testing.T) *connectortest.Harness {
	t.Helper()
	target, address := target(t, theDovecot, 0), s.start(t)
	target.Start = func(t *testing.T) *connectortest.Sim {
		return &connectortest.Sim{Gate: providersim.NewGate(providersim.GateOptions{}), Env: map[string]string{
			"IMAP_ADDRESS": "mara@harbour.example", "IMAP_PASSWORD": "x", "IMAP_SERVER": address, "PDPP_IMAP_SECURITY": "none",
		}}
	}
	return connectortest.NewHarness(t, target)
}

// gmail plays what Gmail does differently, on lines as its documentation and recorded sessions have
// them. It knows one message in All Mail with labels, and no QRESYNC.
func gmail(folders []string, signIn string) *scripted {
	return &scripted{capabilities: " X-GM-EXT-1 XYZZY AUTH=XOAUTH2 AUTH=OAUTHBEARER",
		reply: func(d *dialogue, command string) bool {
			switch {
			case strings.HasPrefix(command, "AUTHENTICATE ") && strings.HasSuffix(command, " "+signIn):
				return d.done("* CAPABILITY IMAP4rev1 UNSELECT IDLE NAMESPACE QUOTA ID XLIST CHILDREN X-GM-EXT-1 UIDPLUS ENABLE " +
					"MOVE CONDSTORE ESEARCH LIST-EXTENDED LIST-STATUS SPECIAL-USE")
			case strings.HasPrefix(command, "AUTHENTICATE XOAUTH2"):
				d.say("+ eyJzdGF0dXMiOiI0MDAiLCJzY2hlbWVzIjoiQmVhcmVyIn0=")
				if answer, err := d.in.ReadString('\n'); err == nil && strings.TrimSpace(answer) == "" {
					d.say(d.tag + " NO [AUTHENTICATIONFAILED] Invalid credentials (Failure)")
				}
				return true
			case strings.HasPrefix(command, "LIST"):
				for _, f := range folders {
					d.say("* LIST " + f)
					if !strings.Contains(f, `\Noselect`) {
						d.say("* STATUS " + f[strings.Index(f, `"/" `)+4:] +
							" (MESSAGES 1 UIDNEXT 6 UIDVALIDITY 11 HIGHESTMODSEQ 998877)")
					}
				}
				return d.done()
			case strings.HasPrefix(command, "EXAMINE"):
				d.say("* OK [HIGHESTMODSEQ 998877]") // the rest is as elsewhere
			case strings.HasPrefix(command, "UID SEARCH"):
				return d.done(`* ESEARCH (TAG "x") UID ALL 5`)
			case strings.HasPrefix(command, "UID FETCH") && !strings.Contains(command, "BODY.PEEK[]"):
				items := ""
				for item, value := range map[string]string{"X-GM-THRID": "1278455344230334864",
					"X-GM-MSGID": "1278455344230334865", "X-GM-LABELS": `("\\Inbox" \Sent Fjord "Muy Importante")`} {
					if strings.Contains(command, " "+item) { // it sends what it is asked for
						items += item + " " + value + " "
					}
				}
				return d.done(head(items))
			}
			return false
		}}
}

var gmailFolders = []string{`(\HasNoChildren) "/" "INBOX"`, `(\HasChildren \Noselect) "/" "[Gmail]"`,
	`(\All \HasNoChildren) "/" "[Gmail]/Alle Nachrichten"`, `(\HasNoChildren) "/" "Fjord"`}

// TestGmail holds that All Mail is walked once, with labels and ids as they are, by an access token.
func TestGmail(t *testing.T) {
	t.Parallel()
	token := base64.StdEncoding.EncodeToString([]byte("user=mara@gmail.com\x01auth=Bearer ya29.token\x01\x01"))
	env := map[string]string{"IMAP_ADDRESS": "mara@gmail.com", "IMAP_ACCESS_TOKEN": "ya29.token",
		"IMAP_SERVER": gmail(gmailFolders, token).start(t), "PDPP_IMAP_SECURITY": "none"}
	k := inprocess.NewMemoryRunner(t, imap.Connector(), env).Run()
	got := k.Records["messages"]["[Gmail]/Alle Nachrichten/11/5"]
	for _, want := range []string{`"gmail_message_id":"1278455344230334865"`, `"thread_id":"1278455344230334864"`,
		`"labels":["Fjord","Inbox","Muy Importante","Sent"]`, `"subject":"Fog"`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s lacks %s", got, want)
		}
	}
	if len(k.Records["messages"]) != 1 || len(k.Records["folders"]) != 4 || len(k.Records["bodies"]) != 1 {
		t.Errorf("%v", k.Records)
	}
}

// TestGmailRefuses holds what an owner reads when a token is refused, and when All Mail is hidden.
func TestGmailRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		folders []string
		env     map[string]string
		code    string
	}{
		"token":  {gmailFolders, map[string]string{"IMAP_ACCESS_TOKEN": "expired"}, "auth_failure"},
		"hidden": {gmailFolders[:2], map[string]string{"IMAP_PASSWORD": "abcd efgh"}, "imap_all_mail_hidden"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target := target(t, theDovecot, 0)
			password := base64.StdEncoding.EncodeToString([]byte("\x00mara@gmail.com\x00abcd efgh"))
			target.Start = func(t *testing.T) *connectortest.Sim {
				sim := &connectortest.Sim{Gate: providersim.NewGate(providersim.GateOptions{}), Env: map[string]string{
					"IMAP_ADDRESS": "mara@gmail.com", "IMAP_SERVER": gmail(c.folders, password).start(t), "PDPP_IMAP_SECURITY": "none",
				}}
				for name, value := range c.env {
					sim.Env[name] = value
				}
				return sim
			}
			result := connectortest.NewHarness(t, target).Run(t, launch.RunRequest{})
			if e := result.DoneError; e == nil || e.Code != c.code {
				t.Errorf("ended as %s: %+v", result.Status, e)
			}
		})
	}
}

// gnu plays a server that does not quote the name of a folder in STATUS, as GNU imap4d does not: with parentheses in it
// the answer is outside the grammar. For two folders others are, too: when one is opened, and about a message.
func gnu() *scripted {
	folders := []string{`() "/" INBOX`, `() "/" "Two  odd words"`, `() "/" "Tide (old)"`,
		`() "/" Stateless`, `() "/" Torn`}
	return &scripted{folders: folders, reply: func(d *dialogue, command string) bool {
		switch {
		case strings.Contains(command, "Stateless"):
			return d.done("* STATUS Stateless (MESSAGES one", "* 1 EXISTS")
		case strings.HasPrefix(command, "STATUS"):
			return d.done("* STATUS " + strings.Split(command, `"`)[1] + " (MESSAGES 1 UIDNEXT 6 UIDVALIDITY 11)")
		case strings.HasPrefix(command, "UID FETCH") && d.selected == "Torn":
			return d.done("* 1 FETCH (UID five BODY[")
		}
		return false
	}}
}

// TestFolderFailsAlone holds that a folder with an answer outside the grammar is declared, and that
// the others are read; so is a folder of which only its state is answered that way.
// Long, an imap4d is followed as well.
func TestFolderFailsAlone(t *testing.T) {
	t.Parallel()
	if os.Getenv("PDPP_CHAOS_MINUTES") != "" {
		t.Run("imap4d", func(t *testing.T) { t.Parallel(); onIMAP4d(t) })
	}
	b := gnu().bed(t)
	for range 2 {
		b.Succeed(t)
		for _, stream := range []string{"messages", "bodies"} {
			stored, err := connectortest.StoredRecords(t.Context(), b.Store, stream)
			if err != nil {
				t.Fatal(err)
			}
			if keys := slices.Sorted(maps.Keys(stored)); !slices.Equal(keys,
				[]string{"INBOX/11/5", "Tide (old)/11/5", "Two  odd words/11/5"}) {
				t.Errorf("%s: %q", stream, keys)
			}
		}
		var missing []string
		for _, g := range b.Gaps(t, protocol.GapPending) {
			missing = append(missing, g.Stream+" "+g.RecordKey)
		}
		slices.Sort(missing)
		if want := []string{"bodies Stateless", "bodies Torn", "messages Stateless", "messages Torn"}; !slices.Equal(missing,
			want) {
			t.Errorf("declared as missing: %q, want %q", missing, want)
		}
	}
}

// TestNumbersThatDoNotLast holds that a folder with new numbers for each connection is read again once, and not
// in every run. Long, a Courier is followed as well.
func TestNumbersThatDoNotLast(t *testing.T) {
	t.Parallel()
	if os.Getenv("PDPP_CHAOS_MINUTES") != "" {
		t.Run("Courier", func(t *testing.T) { t.Parallel(); courierDelivers(t).follow(t, 5) })
		t.Run("Courier changes", func(t *testing.T) { t.Parallel(); follows(t, theCourier, "SPECIAL-USE") })
	}
	// The server assigns new numbers for every connection until a client opens it for writing, as Courier does.
	kept, fetched := 0, 0
	c := &scripted{folders: []string{`() "/" INBOX`}, reply: func(d *dialogue, command string) bool {
		if d.validity = 100 + d.number; kept > 0 {
			d.validity = kept
		}
		if strings.HasPrefix(command, "SELECT") {
			kept = d.validity
		}
		if strings.Contains(command, "BODY.PEEK[") {
			fetched++
		}
		return false
	}}
	b := c.bed(t)
	b.Succeed(t)
	b.Succeed(t) // its numbers are others: it is read again, and the server is made to keep them
	b.Succeed(t)
	c.mu.Lock()
	before := fetched
	c.mu.Unlock()
	b.Succeed(t)
	c.mu.Lock()
	defer c.mu.Unlock()
	if fetched != before || before == 0 {
		t.Errorf("%d messages were read before the last run, and %d in it", before, fetched-before)
	}
	stored, err := connectortest.StoredRecords(t.Context(), b.Store, "messages")
	if err != nil {
		t.Fatal(err)
	}
	maps.DeleteFunc(stored, func(_ string, r store.StoredRecord) bool { return r.Deleted })
	if keys := slices.Collect(maps.Keys(stored)); !slices.Equal(keys, []string{fmt.Sprintf("INBOX/%d/5", kept)}) {
		t.Errorf("stored: %q, and the folder's numbers are of %d", keys, kept)
	}
}
