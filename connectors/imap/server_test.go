package imap_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/connectorkit/connectortest/inprocess"
	"github.com/pdpp-go/pdpp/connectorkit/connectortest/realserver"
	"github.com/pdpp-go/pdpp/connectorkit/connectortest/realserver/cyrus"
	"github.com/pdpp-go/pdpp/connectorkit/connectortest/realserver/dovecot"
	"github.com/pdpp-go/pdpp/connectors/imap"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres/postgrestest"
	"github.com/pdpp-go/pdpp/protocol"
	"github.com/pdpp-go/pdpp/providersim"
)

// changes are what happens to an account between two runs.
var changes = []providersim.Mutation{
	{Op: "deliver", N: 6}, {Op: "flag", N: 4}, {Op: "unsee", N: 3}, {Op: "move", N: 2}, {Op: "remove", N: 3},
	{Op: "file", N: 3}, {Op: "drop"}, {Op: "renumber", N: 4},
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
		_, sim := openTestAccount(t, at(t), 24, hidden...)
		sim.Env["PDPP_IMAP_BODIES_PER_COMMAND"] = "50"
		return sim
	}
	b := connectortest.NewHarness(t, target)
	verify := func() { b.VerifyComplete(t) }
	if slices.Contains(hidden, "SPECIAL-USE") { // then the purpose of a folder is unknown
		verify = func() { differences(t, b, "folders") }
	}
	b.Succeed(t)
	verify()
	before := b.NewestChange(t, "messages")
	b.Succeed(t)
	if now := b.NewestChange(t, "messages"); now != before {
		t.Errorf("messages moved from %d to %d although nothing changed", before, now)
	}
	for _, m := range changes {
		b.Sim.MutateData(t, m)
		b.Succeed(t)
		verify()
	}
}

// differences fails the test on any, but for those of one stream.
func differences(t *testing.T, b *connectortest.Harness, but string) {
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
	st, err := postgres.Open(t.Context(), postgrestest.NewDatabase(t), postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	b := connectortest.NewHarnessOver(t, target(t, theDovecot, 20), st)
	b.Succeed(t)
	b.VerifyComplete(t)
	for _, m := range changes {
		b.Sim.MutateData(t, m)
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
	b := connectortest.NewHarness(t, target(t, theDovecot, 40))
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	killed := 0
	for n := range kills {
		after := int64(random.IntN(60))
		var id string
		var once sync.Once
		b.Run(t, launch.RunRequest{Started: func(run string) { id = run },
			Options: runner.Options{BatchRecords: 5, Observe: func(u runner.Update) {
				if u.Committed >= after {
					once.Do(func() { killed += min(1, connectortest.KillConnector(id)) })
				}
			}}})
		b.Sim.MutateData(t, changes[n%5])
	}
	if killed == 0 {
		t.Error("nothing was killed")
	}
	b.Succeed(t)
	b.VerifyComplete(t)
}

// TestConnectionLimit shows that an account with all connections in use is a rate limit and not a refused credential.
// The mail arrives when a connection is free again.
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
	b := connectortest.NewHarness(t, target)
	for _, name := range names {
		phone, err := realserver.SignInIMAP(at.address, b.Sim.Env["IMAP_ADDRESS"], at.password)
		if err != nil {
			t.Fatal(err)
		}
		before := b.Sim.Gate.Stats().Requests
		result := b.Run(t, launch.RunRequest{})
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
		t.Logf("%s: %d sign-ins refused while all connections were in use, %.0f per 1,000 commands; then %d commands "+
			"served in %v",
			name, refused, 1000*float64(refused)/float64(refused+served), served, time.Since(begin).Round(time.Millisecond))
		if refused > 8 {
			t.Errorf("%s: signed in %d times although all connections are in use", name, refused)
		}
		b.VerifyComplete(t)
		b.Sim.MutateData(t, providersim.Mutation{Op: "deliver", N: 7})
	}
}

// TestHostileMail delivers what keeps no rule, and an attachment of 20 MiB. Every message has its
// records, and the large one passes.
func TestHostileMail(t *testing.T) {
	t.Parallel()
	const ordinary = 4
	m, sim := openTestAccount(t, theDovecot(t), ordinary)
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
		"", "\r\n", "no head at all", "Subject: =?utf-9?q?=C3?= =?x\r\n\r\nbody",
		"Content-Type: text/plain; charset=klingon\r\n\r\n\xff\xfe\x80", "From: <<<>>>,,,@@@\r\nDate: never\r\n\r\nx",
		"Subject: " + strings.Repeat("long ", 60_000) + "\r\n\r\nx", strings.Repeat("X-Many: header\r\n", 3000) + "\r\nx",
		nested.String() + "deep",
		"Content-Type: multipart/mixed; boundary=never\r\n\r\n--never\r\nContent-Type: text/plain\r\n\r\ncut off",
		"Content-Type: text/html\r\n\r\n<p>" + strings.Repeat("<div>", 5000) + "deep",
		"Subject: large\r\nContent-Type: multipart/mixed; boundary=e\r\n\r\n--e\r\n\r\nsee file\r\n--e\r\n" +
			"Content-Type: application/octet-stream; name=big.bin\r\nContent-Transfer-Encoding: base64\r\n\r\n" +
			lines.String() + "--e--\r\n",
	}
	at := time.Date(2026, 4, 5, 6, 7, 8, 0, time.UTC)
	commands := []string{}
	for _, text := range letters {
		commands = append(commands, realserver.AppendCommand("INBOX", "", at, []byte(text+"\r\n")))
	}
	if err := m.mail.Speak(m.user, commands...); err != nil {
		t.Fatal(err)
	}
	k := inprocess.NewMemoryRunner(t, imap.Connector(), sim.Env).Run()
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
