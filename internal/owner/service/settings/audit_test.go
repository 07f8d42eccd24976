package settings

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/ownertest"
	"github.com/pdpp-go/pdpp/internal/storage/audit"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// Each entry is a sentence that names the actor, the action, its object and its outcome.
func TestAuditIsToldInSentences(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.Connect()
	one, many := int64(1), int64(1200)
	sentences := []struct {
		entry store.AuditEntry
		want  string
	}{
		{store.AuditEntry{Kind: "sign_in", Outcome: "done", Actor: "session", Object: "recovery_code"},
			"You signed in with a recovery code"},
		{store.AuditEntry{Kind: "sign_in", Outcome: "refused", Actor: "stranger", Reason: "wrong_password", Times: 1},
			"1 wrong password"},
		{store.AuditEntry{Kind: "sign_in", Outcome: "refused", Actor: "stranger", Reason: "invalid_token", Times: 3},
			"3 requests with a token that is not good"},
		{store.AuditEntry{Kind: "sign_in", Outcome: "refused", Actor: "stranger", Reason: "too_many_attempts", Times: 2},
			"2 sign-ins were refused: too many attempts"},
		{store.AuditEntry{Kind: "grant_make", Outcome: "done", Actor: "command", Object: "gr_1", ObjectName: "Florist"},
			"A command on the server's machine let Florist read"},
		{store.AuditEntry{Kind: "token_end", Outcome: "done", Actor: "owner_token", Object: "ot_1"},
			"A token ended the token ot_1"},
		{store.AuditEntry{Kind: "token_end", Outcome: "failed", Actor: "owner_token", ActorName: "Laptop", Object: "ot_1"},
			"Laptop tried to end the token ot_1, which failed"},
		{store.AuditEntry{Kind: "grant_end", Outcome: "refused", Actor: "session", ObjectName: "Florist"},
			"You tried to take back the grant of Florist and were refused: without a reason"},
		{store.AuditEntry{Kind: "read", Outcome: "done", Actor: "grant", ActorName: "Florist", Object: "beds", Records: &many,
			Times: 4}, "Florist read 1,200 records of beds in 4 requests"},
		{store.AuditEntry{Kind: "read", Outcome: "refused", Actor: "grant", Object: "beds", Reason: "not_granted", Times: 2},
			"An app tried to read records of beds in 2 requests and was refused: not granted"},
		{store.AuditEntry{Kind: "export", Outcome: "done", Actor: "session", Object: id, ObjectName: "beds", Records: &one},
			"You exported 1 record of beds from Garden"},
		{store.AuditEntry{Kind: "export", Outcome: "done", Actor: "session", Object: id, Records: &many},
			"You exported 1,200 records from Garden"},
		{store.AuditEntry{Kind: "setting_change", Outcome: "done", Actor: "session", Object: id, ObjectName: "schedule"},
			"You changed the schedule of Garden"},
		{store.AuditEntry{Kind: "setting_change", Outcome: "done", Actor: "server", ObjectName: "quiet hours"},
			"The server changed the quiet hours"},
		{store.AuditEntry{Kind: "run_anyway", Outcome: "done", Actor: "session", Object: id},
			"You had Garden asked although it wants a pause"},
		{store.AuditEntry{Kind: "connection_add", Outcome: "refused", Actor: "session", Object: "pear",
			Reason: "not_installed"}, "You tried to connect pear and were refused: not installed"},
		{store.AuditEntry{Kind: "sessions_end", Outcome: "done", Actor: "session"}, "You ended something"},
		{store.AuditEntry{Kind: "made_later", Outcome: "done", Actor: "robot", Object: "x"}, "Somebody made_later x"},
	}
	for i, s := range sentences {
		s.entry.At = d.At.Add(time.Duration(i) * time.Hour)
		s.entry.LastAt = s.entry.At
		d.Must(d.Store.AppendAudit(d.Ctx(), s.entry))
	}
	all, err := d.Audit(d.Ctx(), api.AuditQuery{})
	d.Must(err)
	if len(all.Entries) != len(sentences) || all.Next != 0 {
		t.Fatalf("%d entries, next %d", len(all.Entries), all.Next)
	}
	for i, s := range sentences {
		if got := all.Entries[len(sentences)-1-i].Sentence; got != s.want {
			t.Errorf("says %q, want %q", got, s.want)
		}
	}

	// In pages it is the same, the newest first, each entry once.
	var texts []string
	q := api.AuditQuery{Limit: 5}
	for {
		page, err := d.Audit(d.Ctx(), q)
		d.Must(err)
		for _, e := range page.Entries {
			texts = append(texts, e.Sentence)
		}
		if q.Before = page.Next; page.Next == 0 {
			break
		}
		if len(page.Entries) != 5 {
			t.Fatalf("a page of %d", len(page.Entries))
		}
	}
	if len(texts) != len(sentences) || texts[0] != sentences[len(sentences)-1].want ||
		texts[len(texts)-1] != sentences[0].want {
		t.Errorf("by pages: %q", texts)
	}
	whole, err := d.Audit(d.Ctx(), api.AuditQuery{Limit: len(sentences)})
	d.Must(err)
	if len(whole.Entries) != len(sentences) || whole.Next != 0 {
		t.Errorf("a page that holds all gives %d and goes on at %d", len(whole.Entries), whole.Next)
	}
	since := d.At.Add(15 * time.Hour)
	late, err := d.Audit(d.Ctx(), api.AuditQuery{Since: &since})
	d.Must(err)
	signs, err := d.Audit(d.Ctx(), api.AuditQuery{Kind: "sign_ins"})
	d.Must(err)
	if len(late.Entries) != 3 || len(signs.Entries) != 5 {
		t.Errorf("%d since then, %d sign-ins", len(late.Entries), len(signs.Entries))
	}
	_, err = d.Audit(d.Ctx(), api.AuditQuery{Kind: "pear"})
	ownertest.WantError(t, err, api.CodeInvalid, "kind")
	if !strings.Contains(err.Error(), "no such kind") {
		t.Error(err)
	}
}

func TestAuditRetention(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for _, days := range []int{0, 29, 3651} {
		ownertest.WantError(t, d.SetAuditRetention(d.Ctx(), days), api.CodeInvalid, "days")
	}
	for _, days := range []int{30, 3650} {
		d.Must(d.SetAuditRetention(d.Ctx(), days))
		if page, err := d.Audit(d.Ctx(), api.AuditQuery{}); err != nil || page.KeptDays != days || page.Entries == nil {
			t.Errorf("%+v, %v", page, err)
		}
	}
}

// Every kind of action has a phrase, completed or not.
func TestEveryDeedHasWords(t *testing.T) {
	t.Parallel()
	for _, group := range groupNames() {
		kinds, _ := audit.KindsByName(group)
		for _, kind := range kinds {
			for _, outcome := range []audit.Outcome{audit.Succeeded, audit.Refused, audit.Failed} {
				message := auditSentence(
					store.AuditEntry{Kind: string(kind), Outcome: string(outcome), Actor: string(audit.SessionActor),
						Object: "pear", Reason: "ripe", Times: 1},
					"",
				)
				if strings.Contains(message, "_") || strings.Contains(message, "*") || strings.Contains(message, "  ") ||
					message == "" {
					t.Errorf("%s, %s: %q", kind, outcome, message)
				}
			}
		}
	}
}

// Without a number a page has the usual one, and with any at most the greatest.
func TestAuditComesInPages(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for i := range usualEntries + 1 {
		d.Must(d.Store.AppendAudit(d.Ctx(), store.AuditEntry{Kind: "token_make", Outcome: "done", Actor: "session",
			Object: fmt.Sprint("ot_", i), At: d.At, LastAt: d.At, Times: 1}))
	}
	for limit, want := range map[int]int{0: usualEntries, -1: usualEntries, 2: 2, usualEntries + 1: usualEntries + 1} {
		page, err := d.Audit(d.Ctx(), api.AuditQuery{Limit: limit})
		if err != nil || len(page.Entries) != want || (page.Next != 0) != (want <= usualEntries) {
			t.Errorf("a limit of %d: %d entries, next %d, %v", limit, len(page.Entries), page.Next, err)
		}
	}
}
