package notify

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"mime"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

func TestWebhookIsSigned(t *testing.T) {
	h, key := newHook(t, nil), credential.NewKey()
	tg := h.target("pt_1")
	tg.Sealed = SealSecret(key, tg.ID, credential.NewSecret("swordfish"))
	m := &memory{records: []attention.AttentionRecord{pending("att_1")}, targets: []store.PushTarget{tg}}
	mustDeliver(t, &Sender{Store: m, Key: key, Base: "https://pdpp.lantern.example/"}, noon)
	got := h.got()
	if len(got) != 1 {
		t.Fatalf("received %+v, target %+v", got, m.targets)
	}
	mac := hmac.New(sha256.New, []byte("swordfish"))
	mac.Write([]byte(got[0].body))
	if want := "sha256=" + hex.EncodeToString(mac.Sum(nil)); got[0].header.Get(SignatureHeader) != want {
		t.Errorf("signature = %s, want %s", got[0].header.Get(SignatureHeader), want)
	}
	var message PushMessage
	if err := json.Unmarshal([]byte(got[0].body), &message); err != nil || message.AttentionID != "att_1" ||
		message.Link != "https://pdpp.lantern.example/sources/cin_1" {
		t.Errorf("message = %+v, %v", message, err)
	}
	if got[0].path != "/secret-path" || got[0].header.Get("Content-Type") != "application/json" ||
		got[0].header.Get(IdempotencyHeader) != "att_1" {
		t.Errorf("request = %+v", got[0])
	}
}

// A secret that cannot be opened keeps the push in: unsigned it is not what the
// receiver was promised. It is not the target's fault either.
func TestUnreadableSecretSendsNothing(t *testing.T) {
	h := newHook(t, nil)
	for _, kind := range []store.TargetKind{store.TargetWebhook, store.TargetNtfy} {
		tg := h.target("pt_1")
		tg.Kind, tg.Sealed = kind, SealSecret(credential.NewKey(), "pt_1", credential.NewSecret("swordfish"))
		m := &memory{records: []attention.AttentionRecord{pending("att_1")}, targets: []store.PushTarget{tg}}
		mustDeliver(t, &Sender{Store: m, Key: credential.NewKey()}, noon)
		if tg := m.targets[0]; len(h.got()) > 0 || tg.LastFailure != "secret_unreadable" || tg.Failures != 0 {
			t.Errorf("%s: target = %+v, sent %d", kind, tg, len(h.got()))
		}
	}
	key := credential.NewKey()
	tg := h.target("pt_2")
	tg.Sealed = SealSecret(key, "pt_1", credential.NewSecret("swordfish")) // copied from another target
	if r := (&Sender{Key: key}).send(t.Context(), tg, PushMessage{}, noon); r.word != "secret_unreadable" {
		t.Errorf("another target's secret: %+v", r)
	}
}

func TestNtfy(t *testing.T) {
	h, key := newHook(t, nil), credential.NewKey()
	tg := h.target("pt_1")
	tg.Kind, tg.Sealed = store.TargetNtfy, SealSecret(key, "pt_1", credential.NewSecret("tk_swordfish"))
	rec := pending("att_1")
	rec.ConnectionID = "cin 1/x"
	m := &memory{records: []attention.AttentionRecord{rec}, targets: []store.PushTarget{tg}}
	s := &Sender{Store: m, Key: key, Base: "https://pdpp.lantern.example"}
	mustDeliver(t, s, noon)
	got := h.got()
	if len(got) != 1 {
		t.Fatalf("received %+v, target %+v", got, m.targets)
	}
	title, err := new(mime.WordDecoder).DecodeHeader(got[0].header.Get("Title"))
	if err != nil || title != "Ann's Läntern" || got[0].body != rec.Words { // without the verdict's lines
		t.Errorf("title = %q, %v; body = %q", title, err, got[0].body)
	}
	for name, want := range map[string]string{
		"Priority": "4", "Tags": "reauth", "Click": "https://pdpp.lantern.example/sources/cin%201%2Fx",
		"Authorization":   "Bearer tk_swordfish",
		IdempotencyHeader: "att_1", "X-Sequence-ID": PushMessage{AttentionID: "att_1"}.collapseKey(),
	} {
		if got[0].header.Get(name) != want {
			t.Errorf("%s = %q, want %q", name, got[0].header.Get(name), want)
		}
	}
	stopped := PushMessage{Happened: "It stopped.", Next: "Sign in.", Words: "Reconnect"}
	if stopped.body() != "It stopped. Sign in." {
		t.Errorf("it shows %q", stopped.body())
	}
	for urgency, want := range map[string]string{"now": "4", "overdue": "4", "soon": "3", "verifying": "2", "": "3"} {
		if p := ntfyPriority[PushMessage{Urgency: urgency}.loudness()]; p != want {
			t.Errorf("priority of %q = %s, want %s", urgency, p, want)
		}
	}
}

func TestTry(t *testing.T) {
	good, bad := newHook(t, nil), newHook(t, always(403))
	s := &Sender{}
	if err := s.Try(t.Context(), good.target("pt_1"), noon); err != nil || len(good.got()) != 1 ||
		!strings.Contains(good.got()[0].body, `"object":"test"`) {
		t.Errorf("Try = %v, received %+v", err, good.got())
	}
	var e *usererr.Error
	if err := s.Try(t.Context(), bad.target("pt_1"), noon); !errors.As(err, &e) || e.Code != "push_failed" ||
		!strings.Contains(e.Message, "http_403") || strings.Contains(err.Error(), "secret-path") {
		t.Errorf("Try = %v", err)
	}
	if err := s.Try(t.Context(), store.PushTarget{Kind: store.TargetWebhook}, noon); !errors.As(err, &e) ||
		e.Code != "push_target_invalid" {
		t.Errorf("Try = %v", err)
	}
}

func TestCheckTarget(t *testing.T) {
	b := newBrowser(t)
	good := b.target("pt_1", "https://push.example/x")
	for name, c := range map[string]struct {
		target store.PushTarget
		ok     bool
	}{
		"web push": {good, true},
		"padded keys": {store.PushTarget{Kind: good.Kind, Endpoint: good.Endpoint, P256DH: good.P256DH + "=",
			Auth: good.Auth + "=="}, true},
		"not https": {b.target("pt_1", "http://push.example/x"), false},
		"no auth":   {store.PushTarget{Kind: good.Kind, Endpoint: good.Endpoint, P256DH: good.P256DH}, false},
		"not a point": {store.PushTarget{Kind: good.Kind, Endpoint: good.Endpoint, P256DH: "AAAA", Auth: good.Auth},
			false},
		"webhook": {store.PushTarget{Kind: store.TargetWebhook, Endpoint: "http://10.0.0.2:8080/hook"}, true},
		"password": {store.PushTarget{Kind: store.TargetWebhook, Endpoint: "https://ann:swordfish@hook.example/"},
			false},
		"file":           {store.PushTarget{Kind: store.TargetWebhook, Endpoint: "file:///etc/passwd"}, false},
		"relative":       {store.PushTarget{Kind: store.TargetWebhook, Endpoint: "/hook"}, false},
		"ntfy":           {store.PushTarget{Kind: store.TargetNtfy, Endpoint: "https://ntfy.sh/lantern"}, true},
		"ntfy, no topic": {store.PushTarget{Kind: store.TargetNtfy, Endpoint: "https://ntfy.sh/"}, false},
		"pigeon":         {store.PushTarget{Kind: "pigeon", Endpoint: "https://loft.example/"}, false},
	} {
		err := CheckTarget(c.target)
		var e *usererr.Error
		if (err == nil) != c.ok || err != nil &&
			(!errors.As(err, &e) || e.NextStep() == "" || strings.Contains(err.Error(), "swordfish")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
