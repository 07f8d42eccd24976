package imap_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/connectorkit/connectortest/realserver"
	"github.com/pdpp-go/pdpp/connectorkit/connectortest/realserver/courier"
	"github.com/pdpp-go/pdpp/connectorkit/connectortest/realserver/imap4d"
	"github.com/pdpp-go/pdpp/protocol"
	"github.com/pdpp-go/pdpp/providersim"
)

// delivered is an account on a server that numbers nothing before it is read: its mail comes without IMAP.
type delivered struct {
	address, account, password string
	deliver                    func(n int) error
	subjects                   func() (map[string][]string, error) // by folder, from the files
}

// bed returns the connector against the account.
func (d delivered) bed(t *testing.T) *connectortest.Harness {
	t.Helper()
	target := target(t, theDovecot, 0)
	target.Start = func(t *testing.T) *connectortest.Sim {
		gate := providersim.NewGate(providersim.GateOptions{})
		return &connectortest.Sim{Gate: gate, Env: map[string]string{
			"IMAP_ADDRESS": d.account, "IMAP_PASSWORD": d.password,
			"IMAP_SERVER": realserver.StartIMAPFront(t, gate, d.address), "PDPP_IMAP_SECURITY": "none",
		}}
	}
	return connectortest.NewHarness(t, target)
}

// compare holds that each message of the files is stored once, with its text, and nothing else.
func (d delivered) compare(t *testing.T, b *connectortest.Harness, what string) {
	t.Helper()
	there, err := d.subjects()
	if err != nil {
		t.Fatal(err)
	}
	want, got, texts := []string{}, []string{}, 0
	for folder, subjects := range there {
		for _, s := range subjects {
			want = append(want, strings.ReplaceAll(folder, "Gr&APwA3w-e", "Grüße")+": "+s)
		}
	}
	for _, stream := range []string{"messages", "bodies"} {
		stored, err := connectortest.StoredRecords(t.Context(), b.Store, stream)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range stored {
			var m struct{ Folder, Subject string }
			if err := json.Unmarshal(r.Data, &m); r.Deleted {
				continue
			} else if err != nil {
				t.Fatal(err)
			}
			if stream == "messages" {
				got = append(got, m.Folder+": "+m.Subject)
			} else {
				texts++
			}
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) || texts != len(want) {
		t.Errorf("%s: stored %q with %d texts, there are %q", what, got, texts, want)
	}
	gaps := b.Gaps(t, protocol.GapPending)
	if len(gaps) > 0 {
		t.Errorf("%s: declared as missing: %+v", what, gaps)
	}
	t.Logf("%s: %d there, %d stored, %d declared missing", what, len(want), len(got), len(gaps))
}

// follow collects the account until its numbers last, and holds that a run then reads nothing again. After mail came,
// no more than so many changes are written.
func (d delivered) follow(t *testing.T, most int64) *connectortest.Harness {
	t.Helper()
	b := d.bed(t)
	for n, what := range []string{"first run", "second run", "third run", "more mail", "a run after it"} {
		if n == 0 || n == 3 {
			if err := d.deliver(5); err != nil {
				t.Fatal(err)
			}
		}
		before, requests := b.NewestChange(t, "messages"), b.Sim.Gate.Stats().Requests
		b.Succeed(t)
		d.compare(t, b, what)
		written := b.NewestChange(t, "messages") - before
		t.Logf("%s: %d changes of messages, %d commands", what, written, b.Sim.Gate.Stats().Requests-requests)
		if n == 2 && written > 0 || n == 3 && written > most || n == 4 && written > 0 {
			t.Errorf("%s: %d changes of messages", what, written)
		}
	}
	return b
}

// courierDelivers is an account at the Courier of this package.
func courierDelivers(t *testing.T) delivered {
	theCourier(t)
	s, account, made := sharedCourier.Get(t), fmt.Sprintf("mara%d", accounts.Add(1)), 0
	return delivered{
		address: s.Address, account: account, password: courier.Password,
		deliver: func(n int) error {
			for range n {
				made++
				at := time.Date(2026, 3, 1, 8, made, 0, 0, time.UTC)
				name := fmt.Sprintf("%d.M%dP1.harbour", at.Unix(), made)
				text := fmt.Sprintf("Subject: Tide %d\n\nHigh.\n", made)
				if err := s.Deliver(account, name, []byte(text)); err != nil {
					return err
				}
			}
			return nil
		},
		subjects: func() (map[string][]string, error) {
			folders, err := s.Mail(account)
			out := map[string][]string{}
			for _, f := range folders {
				for _, m := range f.Messages {
					line, _, _ := strings.Cut(string(m.Content), "\r\n")
					out[f.Name] = append(out[f.Name], strings.TrimPrefix(line, "Subject: "))
				}
			}
			return out, err
		},
	}
}

// gnuDelivers is the account at an imap4d.
func gnuDelivers(t *testing.T) (delivered, *imap4d.Server) {
	server := realserver.Shared[*imap4d.Server]{Start: func(dir string) (*imap4d.Server, func() error, error) {
		s, err := imap4d.Start(imap4d.Programs(t), dir)
		if err != nil {
			return nil, nil, err
		}
		return s, s.Stop, nil
	}}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	s, made := server.Get(t), 0
	return delivered{
		address: s.Address, account: imap4d.Account, password: imap4d.Password, subjects: s.Subjects,
		deliver: func(n int) error {
			for range n {
				made++
				text := fmt.Sprintf("From: jorn@harbour.example\nSubject: Tide %d\n\nHigh.\n", made)
				if err := s.Deliver(time.Date(2026, 3, 1, 8, made, 0, 0, time.UTC), []byte(text)); err != nil {
					return err
				}
			}
			return nil
		},
	}, s
}

// onIMAP4d follows the account at an imap4d with folders of all kinds of names. That server renumbers a folder
// whenever mail comes without it, so that the inbox is read again after that, and only then.
func onIMAP4d(t *testing.T) {
	d, s := gnuDelivers(t)
	at := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	for i, name := range []string{"Work", "Two words", "Gr&APwA3w-e", "Tide (old)", "Tide [x]", "a{3}", "per%cent"} {
		text := fmt.Sprintf("From: jorn@harbour.example\r\nSubject: Filed %d\r\n\r\nLow.\r\n", i)
		if err := s.Speak(fmt.Sprintf("CREATE %q", name),
			realserver.AppendCommand(name, `\Seen`, at, []byte(text))); err != nil {
			t.Fatal(err)
		}
	}
	b := d.follow(t, 15)
	if err := s.Speak("SELECT Work", `STORE 1 +FLAGS (\Deleted)`, "EXPUNGE",
		`SELECT "Two words"`, `STORE 1 +FLAGS (\Flagged)`, "DELETE per%cent"); err != nil {
		t.Fatal(err)
	}
	b.Succeed(t)
	d.compare(t, b, "messages and a folder deleted")
}
