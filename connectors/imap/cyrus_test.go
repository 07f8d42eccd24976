package imap_test

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/connectorkit/connectortest/realserver"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
	"github.com/pdpp-go/pdpp/providersim"
)

// TestCyrus follows an account on a server that others wrote with other manners: dots between the
// parts of folders, all of them below INBOX, and removed messages that stay in its files. Long, it
// holds the whole suite against it.
func TestCyrus(t *testing.T) {
	t.Parallel()
	t.Run("follows", func(t *testing.T) { t.Parallel(); follows(t, theCyrus) })
	t.Run("killed", func(t *testing.T) {
		t.Parallel()
		connectortest.RunKilled(t, target(t, theCyrus, 16), connectortest.KillCount(20))
	})
	if os.Getenv("PDPP_CHAOS_MINUTES") == "" {
		return
	}
	for name, hidden := range fewer {
		t.Run(name, func(t *testing.T) { t.Parallel(); follows(t, theCyrus, hidden...) })
	}
	connectortest.Run(t, target(t, theCyrus, 32))
}

// TestCyrusForgets follows an account on a server that forgets the history of a folder. Folders are renamed, and old
// names return with other messages.
func TestCyrusForgets(t *testing.T) {
	t.Parallel()
	b := connectortest.NewHarness(t, target(t, theCyrus, 24))
	m := b.Sim.Provider.(*mailbox)
	step := func(name string, act func() error) {
		t.Helper()
		if err := act(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		b.Succeed(t)
		b.VerifyComplete(t)
		if t.Failed() {
			t.Fatalf("after %s", name)
		}
	}
	speak := func(commands ...string) func() error {
		return func() error { return m.mail.Speak(m.user, commands...) }
	}
	step("nothing", speak())
	step("expunge and expire", func() error {
		_, err := m.Mutate(providersim.Mutation{Op: "remove", N: 3})
		if err == nil {
			_, err = m.Mutate(providersim.Mutation{Op: "flag", N: 2})
		}
		if err != nil {
			return err
		}
		return sharedCyrus.Get(t).Expire()
	})
	step("rename", speak("RENAME "+m.folder("Work/Harbour")+" "+m.folder("Old")))
	step("rename the parent", speak("RENAME "+m.folder("Work")+" "+m.folder("Play"), "CREATE "+m.folder("Play/Deep"),
		m.deliver("Play/Deep", 2)))
	step("swap", speak(m.deliver("Old", 1), m.deliver("Gr&APwA3w-e", 2), "RENAME "+m.folder("Old")+" "+m.folder("Third"),
		"RENAME "+m.folder("Gr&APwA3w-e")+" "+m.folder("Old"), "RENAME "+m.folder("Third")+" "+m.folder("Gr&APwA3w-e")))
}

// TestCyrusShares collects shared folders. A listed folder that may not be opened does not block the others, and one
// that may no longer be opened loses nothing.
func TestCyrusShares(t *testing.T) {
	t.Parallel()
	var jorn, mara *mailbox
	target := target(t, theCyrus, 4)
	target.Start = func(t *testing.T) (sim *connectortest.Sim) {
		at := theCyrus(t)
		jorn = &mailbox{house: at, user: fmt.Sprintf("jorn%d", accounts.Add(1))}
		mara, sim = openTestAccount(t, at, 4)
		boats, secret := "user."+jorn.user+".Boats", "user."+jorn.user+".Secret"
		err := jorn.mail.Speak(jorn.user, "CREATE INBOX.Boats", "CREATE INBOX.Secret", jorn.deliver("Boats", 3),
			jorn.deliver("Secret", 2),
			// each user has their own read state
			"SELECT INBOX.Boats", `STORE 1:* -FLAGS.SILENT (\Seen)`, "SELECT INBOX.Secret", `STORE 1:* -FLAGS.SILENT (\Seen)`,
			"SETACL INBOX.Boats "+mara.user+" lr", "SETACL INBOX.Secret "+mara.user+" l")
		if err != nil {
			t.Fatal(err)
		}
		mara.closed = secret
		mara.truth = func(account string) ([]realserver.MailFolder, error) {
			return sharedCyrus.Get(t).Mail(account, boats, secret)
		}
		return sim
	}
	b := connectortest.NewHarness(t, target)
	b.Succeed(t)
	b.VerifyComplete(t)
	if err := jorn.mail.Speak(jorn.user, "SETACL INBOX.Secret "+mara.user+" lr",
		"SETACL INBOX.Boats "+mara.user+" l"); err != nil {
		t.Fatal(err)
	}
	mara.closed = ""
	b.Succeed(t)
	b.VerifyComplete(t)
}

// TestCyrusBroken damages a folder's index. What was collected of it stays and what is new in it is
// declared as missing, until it is whole again.
func TestCyrusBroken(t *testing.T) {
	t.Parallel()
	b := connectortest.NewHarness(t, target(t, theCyrus, 24))
	m := b.Sim.Provider.(*mailbox)
	b.Succeed(t)
	b.VerifyComplete(t)
	if err := m.mail.Speak(m.user, m.deliver("Gr&APwA3w-e", 2), m.deliver("INBOX", 2)); err != nil {
		t.Fatal(err)
	}
	want := m.Truth()
	fix, err := sharedCyrus.Get(t).Damage(m.user, "Gr&APwA3w-e")
	if err != nil {
		t.Fatal(err)
	}
	before := b.NewestChange(t, "messages")
	b.Succeed(t)
	if n := b.NewestChange(t, "messages") - before; n != 2 {
		t.Errorf("%d changes of messages: 2 arrived in the inbox, and nothing was removed", n)
	}
	for _, stream := range []string{"messages", "bodies"} {
		if !slices.ContainsFunc(b.Gaps(t, protocol.GapPending),
			func(g store.Gap) bool { return g.Stream == stream && g.RecordKey == "INBOX.Grüße" }) {
			t.Errorf("%s: the folder is not declared as missing: %+v", stream, b.Gaps(t, protocol.GapPending))
		}
	}
	if err := fix(); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(m.Truth(), want) {
		t.Fatal("the folder is not as it was")
	}
	b.Clock += 24 * time.Hour
	b.Succeed(t)
	b.VerifyComplete(t)
	if gaps := b.Gaps(t, protocol.GapPending); len(gaps) > 0 {
		t.Errorf("still declared as missing: %+v", gaps)
	}
}
