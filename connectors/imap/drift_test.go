package imap_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/internal/judge/health"
	"github.com/pdpp-go/pdpp/internal/view"
)

// drifted plays a server that answers otherwise than the connector expects: a response and an item of a message that
// it does not know, no FLAGS of a folder, a STATUS with more messages than the folder has, and mail of the last thirty
// days.
func drifted() *scripted {
	return &scripted{capabilities: " CONDSTORE", folders: []string{`() "/" INBOX`},
		reply: func(d *dialogue, command string) bool {
			switch {
			case strings.HasPrefix(command, "STATUS"):
				return d.done("* STATUS INBOX (MESSAGES 19 UIDNEXT 13 UIDVALIDITY 11 HIGHESTMODSEQ 7)")
			case strings.HasPrefix(command, "EXAMINE"), strings.HasPrefix(command, "SELECT"):
				return d.done("* 12 EXISTS", "* 3 SHINY", "* OK [UIDVALIDITY 11]", "* OK [UIDNEXT 13]", "* OK [HIGHESTMODSEQ 7]")
			case strings.HasPrefix(command, "UID SEARCH"):
				return d.done("* SEARCH 1 2 3 4 5 6 7 8 9 10 11 12")
			case strings.HasPrefix(command, "UID FETCH"):
				for uid := 1; uid <= 12; uid++ {
					at := time.Now().AddDate(0, 0, -30).Add(time.Duration(uid) * time.Hour).UTC()
					part, content := "BODY[HEADER.FIELDS (DATE FROM)]", letterHead
					if strings.Contains(command, "BODY.PEEK[]") {
						part, content = "BODY[]<0>", letterHead+"fog\r\n"
					}
					d.say(fmt.Sprintf("* %d FETCH (UID %d COLOUR red RFC822.SIZE 44 INTERNALDATE %q FLAGS (\\Seen) %s {%d}",
						uid, uid, at.Format("02-Jan-2006 15:04:05 -0700"), part, len(content)), content+")")
				}
				return d.done()
			}
			return false
		}}
}

// TestDrift shows that a server which answers otherwise than expected is noticed, that fewer messages than announced
// lower the coverage.
func TestDrift(t *testing.T) {
	t.Parallel()
	b := drifted().bed(t)
	result := b.Succeed(t)
	var got []string
	for _, d := range connectortest.Differences(result) {
		got = append(got, fmt.Sprintf("%s %s %s", d.Kind, d.Route, d.Member))
	}
	for _, want := range []string{"new_member IMAP EXAMINE SHINY", "absent_member IMAP EXAMINE FLAGS",
		"new_member IMAP FETCH FETCH/COLOUR"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q was not noticed: %q", want, got)
		}
	}
	seen, err := (&view.View{Reader: b.Store, Now: time.Now}).One(t.Context(), connectortest.Connection)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(seen.Drift, func(d view.StreamDrift) bool { return d.Stream == "messages" })
	if at < 0 || seen.Drift[at].Total == nil || seen.Drift[at].Total.Announced != 19 ||
		seen.Drift[at].Total.Counted != 12 ||
		seen.Drift[at].Beginning == nil || seen.Drift[at].Beginning.Days != 30 {
		t.Fatalf("what is known of the messages: %+v", seen.Drift)
	}
	for _, s := range seen.Verdict.Streams {
		if s.StreamID == "messages" && s.Coverage != health.Partial {
			t.Errorf("12 of 19 messages are called %s", s.Coverage)
		}
	}
}

// TestNoDrift shows that nothing that real servers answer is called different.
func TestNoDrift(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]func(testing.TB) house{"dovecot": theDovecot, "cyrus": theCyrus} {
		t.Run(name, func(t *testing.T) {
			b := connectortest.NewHarness(t, target(t, at, 20))
			for range 2 {
				if got := connectortest.Differences(b.Succeed(t)); len(got) > 0 {
					t.Errorf("%+v", got)
				}
			}
		})
	}
}
