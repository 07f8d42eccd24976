package notify

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// pushService is a push service with TLS, and the sender that trusts it.
func pushService(t *testing.T, m *memory, answer func(int) int) (*hook, *Sender) {
	h := &hook{answer: answer}
	h.Server = httptest.NewTLSServer(h)
	t.Cleanup(h.Close)
	keys, err := LoadVAPID(t.Context(), m, credential.NewKey(), "mailto:ann@lantern.example", noon)
	if err != nil {
		t.Fatal(err)
	}
	return h, &Sender{Store: m, HTTP: h.Client(), Keys: keys}
}

func TestBrowserReadsThePush(t *testing.T) {
	m, b := &memory{}, newBrowser(t)
	h, s := pushService(t, m, always(201))
	expires := noon.Add(90 * time.Minute)
	r := pending("att_1")
	s.Lines = verdictLines
	r.ExpiresAt = &expires
	m.records, m.targets = []attention.AttentionRecord{r}, []store.PushTarget{b.target("pt_1", h.URL+"/push/x")}
	mustDeliver(t, s, noon)
	got := h.got()
	if len(got) != 1 {
		t.Fatalf("received %d pushes, target %+v", len(got), m.targets)
	}
	text, err := b.read([]byte(got[0].body))
	if err != nil {
		t.Fatal(err)
	}
	var message PushMessage
	if err := json.Unmarshal(text, &message); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	want := PushMessage{Object: "attention", AttentionID: "att_1", ConnectionID: "cin_1", DisplayName: "Ann's Läntern",
		Happened: "cin_1 refused its password.", Next: "Sign in, and it goes on.",
		Words: "Sign in again. Läntern refused the password.", Kind: "reauth", Urgency: "now", Link: "/sources/cin_1"}
	if diff := cmp.Diff(want, message, cmpopts.IgnoreUnexported(PushMessage{})); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}
	header := got[0].header
	if header.Get("Urgency") != "high" || header.Get("TTL") != "5400" || len(header.Get("Topic")) != 32 ||
		header.Get("Content-Encoding") != "aes128gcm" {
		t.Errorf("header = %v", header)
	}
	if claims := token(t, header, s.Keys.Public); claims.Sub != "mailto:ann@lantern.example" || claims.Aud != h.URL {
		t.Errorf("claims = %+v", claims)
	}
	if strings.Contains(got[0].body, "Sign in") {
		t.Error("the push service can read it")
	}
}

// verdictLines returns the lines of a connection's verdict.
func verdictLines(_ context.Context, connectionID string) (happened, next string, err error) {
	return connectionID + " refused its password.", "Sign in, and it goes on.", nil
}

// A message has exactly these members: adding one means that it may leave the machine.
func TestMessageMembers(t *testing.T) {
	r := pending("att_1")
	r.Reason, r.NoticeWhy, r.Contract, r.Affects = "reason-secret", "why-secret", "contract-secret",
		[]string{"stream-secret"}
	text := string((&Sender{Store: &memory{}, Lines: verdictLines}).message(t.Context(), &r).json())
	var members map[string]any
	if err := json.Unmarshal([]byte(text), &members); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"object", "attention_id", "connection_id", "display_name", "happened", "next",
		"owner_copy", "kind", "urgency", "link"} {
		delete(members, name)
	}
	if len(members) > 0 || strings.Contains(text, "-secret") {
		t.Errorf("message = %s", text)
	}
}

func TestRepeatHasTheSameTopic(t *testing.T) {
	m, b := &memory{}, newBrowser(t)
	h, s := pushService(t, m, func(n int) int { return map[bool]int{true: 500, false: 201}[n == 1] })
	m.records, m.targets = []attention.AttentionRecord{
		pending("att_1"),
	}, []store.PushTarget{
		b.target("pt_1", h.URL+"/push/x"),
	}
	mustDeliver(t, s, noon)
	mustDeliver(t, s, noon.Add(time.Hour))
	m.records = append(m.records, pending("att_2"))
	mustDeliver(t, s, noon.Add(time.Hour))
	got := h.got()
	if len(got) != 3 || got[0].header.Get("Topic") != got[1].header.Get("Topic") ||
		got[1].header.Get("Topic") == got[2].header.Get("Topic") {
		t.Errorf("received %+v", got)
	}
}

func TestSubscriptionThatIsGone(t *testing.T) {
	for _, status := range []int{404, 410} {
		m, b := &memory{}, newBrowser(t)
		h, s := pushService(t, m, always(status))
		m.records, m.targets = []attention.AttentionRecord{pending("att_1"), pending("att_2")},
			[]store.PushTarget{b.target("pt_1", h.URL+"/push/x")}
		mustDeliver(t, s, noon)
		if tg := m.targets[0]; tg.RetiredAt == nil || tg.LastFailure != "gone" || len(h.got()) != 1 {
			t.Errorf("%d: target = %+v, asked %d times", status, tg, len(h.got()))
		}
		mustDeliver(t, s, noon.Add(time.Hour))
		if r := m.record(t, "att_1"); r.NoticeWhy != "no_targets" {
			t.Errorf("record = %+v", r)
		}
	}
	// A webhook that is missing today may be back tomorrow.
	h := newHook(t, always(404))
	m := &memory{records: []attention.AttentionRecord{pending("att_1")}, targets: []store.PushTarget{h.target("pt_1")}}
	mustDeliver(t, &Sender{Store: m}, noon)
	if m.targets[0].RetiredAt != nil {
		t.Errorf("webhook = %+v", m.targets[0])
	}
}

func TestWebPushThatCannotBeSent(t *testing.T) {
	m, b := &memory{}, newBrowser(t)
	h, s := pushService(t, m, nil)
	broken := b.target("pt_1", h.URL)
	broken.P256DH = "AAAA"
	if r := s.send(t.Context(), broken, PushMessage{}, noon); r.word != "invalid_subscription" || !r.gone {
		t.Errorf("broken keys: %+v", r)
	}
	s.Keys = VAPID{}
	if r := s.send(t.Context(), b.target("pt_1", h.URL), PushMessage{}, noon); r.word != "no_vapid_keys" || !r.ours {
		t.Errorf("no keys of our own: %+v", r)
	}
	if len(h.got()) > 0 {
		t.Error("something was sent")
	}
}

// The longest message, in the letters that take the most room, fits into a push.
func TestLongestMessageFits(t *testing.T) {
	m, b := &memory{}, newBrowser(t)
	h, s := pushService(t, m, always(201))
	for _, letter := range []string{"<", "\u2028", "\x00", "\n", "𝄞", "\xff", `"`} {
		r := pending("att_1")
		r.Words = strings.Repeat(letter, 5000)
		s.Lines = func(context.Context, string) (happened, next string, err error) {
			return strings.Repeat(letter, 5000), strings.Repeat(letter, 5000), nil
		}
		msg := s.message(t.Context(), &r)
		msg.DisplayName = text.Cut(strings.Repeat(letter, 5000), maxName)
		if got := s.send(t.Context(), b.target("pt_1", h.URL), msg, noon); !got.ok {
			t.Errorf("%q: %+v", letter, got)
		}
	}
	for _, got := range h.got() {
		if text, err := b.read([]byte(got.body)); err != nil || !json.Valid(text) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
