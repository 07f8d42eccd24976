package imap_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pdpp/connectorkit/connectortest"
	"pdpp/connectorkit/connectortest/realserver"
	"pdpp/connectorkit/connectortest/realserver/cyrus"
	"pdpp/connectorkit/connectortest/realserver/dovecot"
	"pdpp/connectors/imap"
	"pdpp/internal/collect/launch"
	"pdpp/internal/collect/runner"
	"pdpp/internal/keep/store"
	"pdpp/internal/keep/store/postgres"
	"pdpp/internal/keep/store/postgres/postgrestest"
	"pdpp/protocol"
	"pdpp/providersim"
)

// changes are what happens to an account between two runs.
var changes = []providersim.Mutation{
	{Op: "deliver", N: 6}, {Op: "flag", N: 4}, {Op: "unsee", N: 3}, {Op: "move", N: 2}, {Op: "remove", N: 3}, {Op: "file", N: 3}, {Op: "drop"}, {Op: "renumber", N: 4},
}

// fewer are servers that can do ever less, by what they do not have.
var fewer = map[string][]string{
	"no QRESYNC":   {"QRESYNC"},
	"no CONDSTORE": {"QRESYNC", "CONDSTORE"},
	"nothing":      {"QRESYNC", "CONDSTORE", "ESEARCH", "LIST-STATUS", "SPECIAL-USE", "SASL-IR", "ID"},
}

// TestServersThatCannotTell runs against the real server with ever fewer of its extensions. The
// records are the same, and so is what a second run without changes does: nothing.
func TestServersThatCannotTell(t *testing.T) {
	t.Parallel()
	for name, hidden := range fewer {
		t.Run(name, func(t *testing.T) { t.Parallel(); follows(t, theDovecot, hidden...) })
	}
}

// follows collects an account, and again after every change.
func follows(t *testing.T, at func(testing.TB) house, hidden ...string) {
	target := target(t, at, 24)
	target.Start = func(t *testing.T) *connectortest.Sim {
		_, sim := open(t, at(t), 24, hidden...)
		sim.Env["PDPP_IMAP_BODIES_PER_COMMAND"] = "50"
		return sim
	}
	b := connectortest.NewBed(t, target)
	verify := func() { b.VerifyComplete(t) }
	if slices.Contains(hidden, "SPECIAL-USE") { // then nobody says what a folder is for
		verify = func() { differences(t, b, "folders") }
	}
	b.Succeed(t)
	verify()
	before := b.LastSeq(t, "messages")
	b.Succeed(t)
	if now := b.LastSeq(t, "messages"); now != before {
		t.Errorf("messages moved from %d to %d although nothing changed", before, now)
	}
	for _, m := range changes {
		b.Sim.Mutate(t, m)
		b.Succeed(t)
		verify()
	}
}

// differences fails the test on any, but for those of one stream.
func differences(t *testing.T, b *connectortest.Bed, but string) {
	t.Helper()
	diff, err := b.Compare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range diff {
		if d.Stream != but {
			t.Error(d)
		}
	}
}

// TestBothDatabases collects into PostgreSQL what the suite collects into SQLite, and follows.
func TestBothDatabases(t *testing.T) {
	t.Parallel()
	st, err := postgres.Open(t.Context(), postgrestest.Fresh(t), postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	b := connectortest.NewBedOver(t, target(t, theDovecot, 20), st)
	b.Succeed(t)
	b.VerifyComplete(t)
	for _, m := range changes {
		b.Sim.Mutate(t, m)
	}
	b.Succeed(t)
	b.VerifyComplete(t)
}

// TestKilled ends the connector at random moments, while the account changes, until a run gets
// through: nothing is lost, nothing is there twice.
func TestKilled(t *testing.T) {
	t.Parallel()
	kills := 5
	if os.Getenv("PDPP_CHAOS_MINUTES") != "" {
		kills = 20
	}
	b := connectortest.NewBed(t, target(t, theDovecot, 40))
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	killed := 0
	for n := range kills {
		after := int64(random.IntN(60))
		var id string
		var once sync.Once
		b.Run(t, launch.Request{Started: func(run string) { id = run }, Options: runner.Options{BatchRecords: 5, Observe: func(u runner.Update) {
			if u.Committed >= after {
				once.Do(func() { killed += min(1, connectortest.KillConnector(id)) })
			}
		}}})
		b.Sim.Mutate(t, changes[n%5])
	}
	if killed == 0 {
		t.Error("nothing was killed")
	}
	b.Succeed(t)
	b.VerifyComplete(t)
}

// TestConnectionLimit holds that an account whose connections are all in use is a limit, not a
// refused credential, and that the mail comes when one is free again.
func TestConnectionLimit(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(dir string) (house, func() error, error){
		"Dovecot": func(dir string) (house, func() error, error) {
			s, err := dovecot.Start(dovecot.Program(t), dir, dovecot.Limits{Connections: 1})
			if err != nil {
				return house{}, nil, err
			}
			return dovecotHouse(s), s.Stop, nil
		},
		"Cyrus": func(dir string) (house, func() error, error) {
			s, err := cyrus.Start(cyrus.Programs(t), dir, cyrus.Limits{Connections: 1})
			if err != nil {
				return house{}, nil, err
			}
			return cyrusHouse(s), s.Stop, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := realserver.Shared[house]{Start: start}
			t.Cleanup(func() {
				if err := server.Close(); err != nil {
					t.Error(err)
				}
			})
			connectionLimit(t, server.Get(t))
		})
	}
}

func connectionLimit(t *testing.T, at house) {
	messages, names := 5, []string{"cold"}
	if os.Getenv("PDPP_CHAOS_MINUTES") != "" {
		messages, names = 40, append(names, "warm")
	}
	target := target(t, func(testing.TB) house { return at }, messages)
	b := connectortest.NewBed(t, target)
	for _, name := range names {
		phone, err := realserver.SignInIMAP(at.address, b.Sim.Env["IMAP_ADDRESS"], at.password)
		if err != nil {
			t.Fatal(err)
		}
		before := b.Sim.Gate.Stats().Requests
		result := b.Run(t, launch.Request{})
		if e := result.DoneError; e != nil && e.Code == "auth_failure" {
			t.Fatalf("a limit reads as a refused credential: %+v", e)
		}
		refused := b.Sim.Gate.Stats().Requests - before
		gaps := b.Gaps(t, protocol.GapPending)
		for _, g := range gaps {
			if !g.Reason.SourcePressure() {
				t.Errorf("gap %s has reason %s", g.RecordKey, g.Reason)
			}
		}
		if len(gaps) == 0 {
			t.Errorf("ended as %s: %v, and declares nothing", result.Status, result.Failure)
		}
		_ = phone.Close()
		b.Clock += 24 * time.Hour
		begin := time.Now()
		b.Succeed(t)
		served := b.Sim.Gate.Stats().Requests - before - refused
		t.Logf("%s: %d sign-ins refused while all connections were in use, %.0f per 1,000 commands; then %d commands served in %v",
			name, refused, 1000*float64(refused)/float64(refused+served), served, time.Since(begin).Round(time.Millisecond))
		if refused > 8 {
			t.Errorf("%s: signed in %d times although all connections are in use", name, refused)
		}
		b.VerifyComplete(t)
		b.Sim.Mutate(t, providersim.Mutation{Op: "deliver", N: 7})
	}
}

// TestHostileMail delivers what keeps no rule, and an attachment of 20 MiB. Every message has its
// records, and the large one passes.
func TestHostileMail(t *testing.T) {
	t.Parallel()
	const ordinary = 4
	m, sim := open(t, theDovecot(t), ordinary)
	nested := strings.Builder{}
	for i := range 60 {
		fmt.Fprintf(&nested, "Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n", i, i)
	}
	file := bytes.Repeat([]byte("0123456789abcdef"), 20<<20/16)
	coded := base64.StdEncoding.EncodeToString(file)
	lines := strings.Builder{}
	for len(coded) > 0 {
		n := min(76, len(coded))
		lines.WriteString(coded[:n] + "\r\n")
		coded = coded[n:]
	}
	letters := []string{
		"", "\r\n", "no head at all", "Subject: =?utf-9?q?=C3?= =?x\r\n\r\nbody", "Content-Type: text/plain; charset=klingon\r\n\r\n\xff\xfe\x80", "From: <<<>>>,,,@@@\r\nDate: never\r\n\r\nx",
		"Subject: " + strings.Repeat("long ", 60_000) + "\r\n\r\nx", strings.Repeat("X-Many: header\r\n", 3000) + "\r\nx", nested.String() + "deep",
		"Content-Type: multipart/mixed; boundary=never\r\n\r\n--never\r\nContent-Type: text/plain\r\n\r\ncut off", "Content-Type: text/html\r\n\r\n<p>" + strings.Repeat("<div>", 5000) + "deep",
		"Subject: large\r\nContent-Type: multipart/mixed; boundary=e\r\n\r\n--e\r\n\r\nsee file\r\n--e\r\nContent-Type: application/octet-stream; name=big.bin\r\nContent-Transfer-Encoding: base64\r\n\r\n" + lines.String() + "--e--\r\n",
	}
	at := time.Date(2026, 4, 5, 6, 7, 8, 0, time.UTC)
	commands := []string{}
	for _, text := range letters {
		commands = append(commands, realserver.AppendIMAP("INBOX", "", at, []byte(text+"\r\n")))
	}
	if err := m.mail.Speak(m.user, commands...); err != nil {
		t.Fatal(err)
	}
	var k connectortest.Kept
	k.Once(t, imap.Connector(), sim.Env)
	if a, b := len(k.Records["messages"]), len(k.Records["bodies"]); a != len(letters)+ordinary || b != a {
		t.Errorf("%d letters, %d messages, %d bodies", len(letters), a, b)
	}
	found := false
	for _, data := range k.Records["attachments"] {
		found = found || strings.Contains(data, `"size_bytes":20971520`)
	}
	if !found {
		t.Error("the large attachment is not there")
	}
}

// gmail plays what Gmail does differently, on lines as its documentation and recorded sessions have
// them. It knows one message in All Mail with labels, and no QRESYNC.
func gmail(t *testing.T, folders []string, signIn string) string {
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
			go serveGmail(conn, folders, signIn)
		}
	}()
	return l.Addr().String()
}

func serveGmail(conn net.Conn, folders []string, signIn string) {
	defer conn.Close()
	say := func(lines ...string) { _, _ = io.WriteString(conn, strings.Join(lines, "\r\n")+"\r\n") }
	say("* OK Gimap ready for requests from 127.0.0.1")
	in := bufio.NewReader(conn)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		tag, command, _ := strings.Cut(strings.TrimSpace(line), " ")
		head := "Subject: Fog\r\nMessage-ID: <fog@harbour.example>\r\n\r\n"
		switch {
		case command == "CAPABILITY":
			say("* CAPABILITY IMAP4rev1 UNSELECT IDLE NAMESPACE QUOTA ID XLIST CHILDREN X-GM-EXT-1 XYZZY SASL-IR AUTH=XOAUTH2 AUTH=PLAIN AUTH=OAUTHBEARER", tag+" OK Thats all she wrote!")
		case strings.HasPrefix(command, "AUTHENTICATE ") && strings.HasSuffix(command, " "+signIn):
			say("* CAPABILITY IMAP4rev1 UNSELECT IDLE NAMESPACE QUOTA ID XLIST CHILDREN X-GM-EXT-1 UIDPLUS ENABLE MOVE CONDSTORE ESEARCH LIST-EXTENDED LIST-STATUS SPECIAL-USE", tag+" OK mara authenticated (Success)")
		case strings.HasPrefix(command, "AUTHENTICATE XOAUTH2"):
			say("+ eyJzdGF0dXMiOiI0MDAiLCJzY2hlbWVzIjoiQmVhcmVyIn0=")
			if answer, err := in.ReadString('\n'); err != nil || strings.TrimSpace(answer) != "" {
				return
			}
			say(tag + " NO [AUTHENTICATIONFAILED] Invalid credentials (Failure)")
		case strings.HasPrefix(command, "LIST"):
			for _, f := range folders {
				say("* LIST " + f)
				if !strings.Contains(f, `\Noselect`) {
					say("* STATUS " + f[strings.Index(f, `"/" `)+4:] + " (MESSAGES 1 UIDNEXT 6 UIDVALIDITY 11 HIGHESTMODSEQ 998877)")
				}
			}
			say(tag + " OK Success")
		case strings.HasPrefix(command, "EXAMINE"):
			say("* 1 EXISTS", "* OK [UIDVALIDITY 11] UIDs valid.", "* OK [UIDNEXT 6] Predicted next UID.", "* OK [HIGHESTMODSEQ 998877]", tag+" OK [READ-ONLY] selected. (Success)")
		case strings.HasPrefix(command, "UID SEARCH"):
			say(`* ESEARCH (TAG "x") UID ALL 5`, tag+" OK SEARCH completed (Success)")
		case strings.Contains(command, "BODY.PEEK[]"):
			say(fmt.Sprintf("* 1 FETCH (UID 5 INTERNALDATE \"01-Mar-2026 08:00:00 +0000\" BODY[]<0> {%d}", len(head)+5), head+"fog\r\n)", tag+" OK Success")
		case strings.HasPrefix(command, "UID FETCH"):
			say(fmt.Sprintf("* 1 FETCH (X-GM-THRID 1278455344230334864 X-GM-MSGID 1278455344230334865 X-GM-LABELS (\"\\\\Inbox\" \\Sent Fjord \"Muy Importante\") UID 5 RFC822.SIZE 44 INTERNALDATE \"01-Mar-2026 08:00:00 +0000\" FLAGS (\\Seen) BODY[HEADER.FIELDS (DATE FROM)] {%d}", len(head)), head+")", tag+" OK Success")
		default:
			say(tag + " OK Success")
		}
	}
}

var gmailFolders = []string{`(\HasNoChildren) "/" "INBOX"`, `(\HasChildren \Noselect) "/" "[Gmail]"`, `(\All \HasNoChildren) "/" "[Gmail]/Alle Nachrichten"`, `(\HasNoChildren) "/" "Fjord"`}

// TestGmail holds that All Mail is walked once, with labels and ids as they are, by an access token.
func TestGmail(t *testing.T) {
	t.Parallel()
	token := base64.StdEncoding.EncodeToString([]byte("user=mara@gmail.com\x01auth=Bearer ya29.token\x01\x01"))
	env := map[string]string{"IMAP_ADDRESS": "mara@gmail.com", "IMAP_ACCESS_TOKEN": "ya29.token", "IMAP_SERVER": gmail(t, gmailFolders, token), "PDPP_IMAP_SECURITY": "none"}
	var k connectortest.Kept
	k.Once(t, imap.Connector(), env)
	got := k.Records["messages"]["[Gmail]/Alle Nachrichten/11/5"]
	for _, want := range []string{`"gmail_message_id":"1278455344230334865"`, `"thread_id":"1278455344230334864"`, `"labels":["Fjord","Inbox","Muy Importante","Sent"]`, `"subject":"Fog"`} {
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
					"IMAP_ADDRESS": "mara@gmail.com", "IMAP_SERVER": gmail(t, c.folders, password), "PDPP_IMAP_SECURITY": "none",
				}}
				for name, value := range c.env {
					sim.Env[name] = value
				}
				return sim
			}
			result := connectortest.NewBed(t, target).Run(t, launch.Request{})
			if e := result.DoneError; e == nil || e.Code != c.code {
				t.Errorf("ended as %s: %+v", result.Status, e)
			}
		})
	}
}

// serveGNU plays a server with one message in each folder: it does not quote the name of a folder in STATUS, as GNU
// imap4d does not, and answers outside the grammar for two folders, when asked for their state and for a message.
func serveGNU(conn net.Conn) {
	defer conn.Close()
	say := func(lines ...string) { _, _ = io.WriteString(conn, strings.Join(lines, "\r\n")+"\r\n") }
	say("* OK IMAP4rev1 ready")
	in, selected := bufio.NewReader(conn), ""
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		tag, command, _ := strings.Cut(strings.TrimSpace(line), " ")
		head := "Subject: Fog\r\n\r\n"
		switch {
		case command == "CAPABILITY":
			say("* CAPABILITY IMAP4rev1 SASL-IR AUTH=PLAIN", tag+" OK done")
		case strings.HasPrefix(command, "LIST"):
			say(`* LIST () "/" INBOX`, `* LIST () "/" "Two  odd words"`, `* LIST () "/" Stateless`, `* LIST () "/" Torn`, tag+" OK done")
		case strings.HasPrefix(command, `STATUS "Stateless"`):
			say("* STATUS Stateless (MESSAGES one", tag+" OK done")
		case strings.HasPrefix(command, "STATUS"):
			name := strings.Split(command, `"`)[1]
			say("* STATUS "+name+" (MESSAGES 1 UIDNEXT 6 UIDVALIDITY 11)", tag+" OK done")
		case strings.HasPrefix(command, "EXAMINE"):
			selected = strings.Split(command, `"`)[1]
			say("* 1 EXISTS", "* OK [UIDVALIDITY 11]", "* OK [UIDNEXT 6]", tag+" OK [READ-ONLY] done")
		case strings.HasPrefix(command, "UID SEARCH"):
			say("* SEARCH 5", tag+" OK done")
		case strings.HasPrefix(command, "UID FETCH") && selected == "Torn":
			say("* 1 FETCH (UID five BODY[", tag+" OK done")
		case strings.Contains(command, "BODY.PEEK[]"):
			say(fmt.Sprintf("* 1 FETCH (UID 5 INTERNALDATE \"01-Mar-2026 08:00:00 +0000\" BODY[]<0> {%d}", len(head)+5), head+"fog\r\n)", tag+" OK done")
		case strings.HasPrefix(command, "UID FETCH"):
			say(fmt.Sprintf("* 1 FETCH (UID 5 RFC822.SIZE 44 INTERNALDATE \"01-Mar-2026 08:00:00 +0000\" FLAGS (\\Seen) BODY[HEADER.FIELDS (DATE FROM)] {%d}", len(head)), head+")", tag+" OK done")
		default:
			say(tag + " OK done")
		}
	}
}

// servedBy returns a bed with an account on the server that serve plays.
func servedBy(t *testing.T, serve func(net.Conn)) *connectortest.Bed {
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
			go serve(conn)
		}
	}()
	target := target(t, theDovecot, 0)
	target.Start = func(t *testing.T) *connectortest.Sim {
		return &connectortest.Sim{Gate: providersim.NewGate(providersim.GateOptions{}), Env: map[string]string{
			"IMAP_ADDRESS": "mara@harbour.example", "IMAP_PASSWORD": "x", "IMAP_SERVER": l.Addr().String(), "PDPP_IMAP_SECURITY": "none",
		}}
	}
	return connectortest.NewBed(t, target)
}

// TestFolderFailsAlone holds that a folder with an answer outside the grammar is declared, and that
// the others are read.
func TestFolderFailsAlone(t *testing.T) {
	t.Parallel()
	b := servedBy(t, serveGNU)
	for range 2 {
		b.Succeed(t)
		for _, stream := range []string{"messages", "bodies"} {
			stored, err := connectortest.Stored(t.Context(), b.Store, stream)
			if err != nil {
				t.Fatal(err)
			}
			if keys := slices.Sorted(maps.Keys(stored)); !slices.Equal(keys, []string{"INBOX/11/5", "Two  odd words/11/5"}) {
				t.Errorf("%s: %q", stream, keys)
			}
		}
		var missing []string
		for _, g := range b.Gaps(t, protocol.GapPending) {
			missing = append(missing, g.Stream+" "+g.RecordKey)
		}
		slices.Sort(missing)
		if want := []string{"bodies Stateless", "bodies Torn", "messages Stateless", "messages Torn"}; !slices.Equal(missing, want) {
			t.Errorf("declared as missing: %q, want %q", missing, want)
		}
	}
}

// courier plays a server that numbers a folder anew for every connection until a client opens it for writing, as
// Courier does.
type courier struct {
	mu      sync.Mutex
	last    int
	kept    int // the validity of the numbers once they are written down
	fetched int // messages that were read
}

func (c *courier) serve(conn net.Conn) {
	defer conn.Close()
	say := func(lines ...string) { _, _ = io.WriteString(conn, strings.Join(lines, "\r\n")+"\r\n") }
	say("* OK IMAP4rev1 ready")
	c.mu.Lock()
	c.last++
	fresh := 100 + c.last
	c.mu.Unlock()
	in := bufio.NewReader(conn)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		tag, command, _ := strings.Cut(strings.TrimSpace(line), " ")
		c.mu.Lock()
		validity := c.kept
		if validity == 0 {
			validity = fresh
		}
		if strings.HasPrefix(command, "SELECT") {
			c.kept = validity
		}
		if strings.Contains(command, "BODY.PEEK[") {
			c.fetched++
		}
		c.mu.Unlock()
		head := "Subject: Fog\r\n\r\n"
		switch {
		case command == "CAPABILITY":
			say("* CAPABILITY IMAP4rev1 SASL-IR AUTH=PLAIN", tag+" OK done")
		case strings.HasPrefix(command, "LIST"):
			say(`* LIST () "/" INBOX`, tag+" OK done")
		case strings.HasPrefix(command, "STATUS"):
			say(fmt.Sprintf("* STATUS INBOX (MESSAGES 1 UIDNEXT 6 UIDVALIDITY %d)", validity), tag+" OK done")
		case strings.HasPrefix(command, "EXAMINE"), strings.HasPrefix(command, "SELECT"):
			say("* 1 EXISTS", fmt.Sprintf("* OK [UIDVALIDITY %d]", validity), "* OK [UIDNEXT 6]", tag+" OK done")
		case strings.HasPrefix(command, "UID SEARCH"):
			say("* SEARCH 5", tag+" OK done")
		case strings.Contains(command, "BODY.PEEK[]"):
			say(fmt.Sprintf("* 1 FETCH (UID 5 INTERNALDATE \"01-Mar-2026 08:00:00 +0000\" BODY[]<0> {%d}", len(head)+5), head+"fog\r\n)", tag+" OK done")
		case strings.HasPrefix(command, "UID FETCH"):
			say(fmt.Sprintf("* 1 FETCH (UID 5 RFC822.SIZE 44 INTERNALDATE \"01-Mar-2026 08:00:00 +0000\" FLAGS (\\Seen) BODY[HEADER.FIELDS (DATE FROM)] {%d}", len(head)), head+")", tag+" OK done")
		default:
			say(tag + " OK done")
		}
	}
}

// TestNumbersThatDoNotLast holds that a folder which is numbered anew for each connection is read again once, and not in
// every run.
func TestNumbersThatDoNotLast(t *testing.T) {
	t.Parallel()
	c := &courier{}
	b := servedBy(t, c.serve)
	b.Succeed(t)
	b.Succeed(t) // its numbers are others: it is read again, and the server is made to keep them
	b.Succeed(t)
	c.mu.Lock()
	before := c.fetched
	c.mu.Unlock()
	b.Succeed(t)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fetched != before || before == 0 {
		t.Errorf("%d messages were read before the last run, and %d in it", before, c.fetched-before)
	}
	stored, err := connectortest.Stored(t.Context(), b.Store, "messages")
	if err != nil {
		t.Fatal(err)
	}
	maps.DeleteFunc(stored, func(_ string, r store.StoredRecord) bool { return r.Deleted })
	if keys := slices.Collect(maps.Keys(stored)); !slices.Equal(keys, []string{fmt.Sprintf("INBOX/%d/5", c.kept)}) {
		t.Errorf("stored: %q, and the folder's numbers are of %d", keys, c.kept)
	}
}
