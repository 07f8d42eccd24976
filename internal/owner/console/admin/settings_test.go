package admin

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

func TestTheOneOwnerNumber(t *testing.T) {
	t.Parallel()
	o := mara()
	h := world(t, o)
	p := get(t, h, "/settings")
	if attr(p.by(t, "name", "ceiling.cin_kelp_1"), "value") != "120" {
		t.Error("the ceiling in force is not in its field")
	}
	p.says(t, "75 a minute")
	both := []string{"cin_kelp_1", "cin_tide_1"}
	form := url.Values{"connection": both, "ceiling.cin_kelp_1": {"60"}, "minutes.cin_kelp_1": {"1.5"},
		"ceiling.cin_tide_1": {"9"}}
	to(t, post(t, h, "/settings/speed", form), "/settings?page=1#speed")
	want(t, o, "SetLimits cin_kelp_1")
	if l := o.limits["cin_kelp_1"]; l.CeilingPerMinute != 60 || l.MaxSeconds != 90 || l.MaxDetails != 0 {
		t.Errorf("the limits are %+v", l)
	}
	for _, typed := range []string{"0", "-1", "fast", "NaN", "1e99"} {
		p := post(t, h, "/settings/speed", url.Values{"connection": both, "ceiling.cin_kelp_1": {typed}})
		field := p.by(t, "name", "ceiling.cin_kelp_1")
		if p.Code != http.StatusBadRequest || attr(field, "aria-invalid") != "true" || attr(field, "value") != typed {
			t.Errorf("%q answered %d with %v", typed, p.Code, field.Attr)
		}
	}
	want(t, o, "SetLimits cin_kelp_1")
}

// open reports whether what an element is folded into is open.
func open(n *html.Node) bool {
	for n != nil && n.Data != "details" {
		n = n.Parent
	}
	return n == nil || has(n, "open")
}

// The folded section of caps shows whether any cap is set, and opens if one of them is invalid.
func TestRunCapsAreCounted(t *testing.T) {
	t.Parallel()
	o := mara()
	h := world(t, o)
	get(t, h, "/settings").says(t, "Run caps off")
	d := o.details["cin_kelp_1"]
	d.Limits.MaxDetails = 40
	o.details["cin_kelp_1"] = d
	p := get(t, h, "/settings")
	p.says(t, "Run caps on for 1 connection")
	if attr(p.by(t, "name", "details.cin_kelp_1"), "value") != "40" {
		t.Error("the cap in force is not in its field")
	}
	for _, name := range []string{"minutes", "details"} {
		p := post(t, h, "/settings/speed", url.Values{"connection": {"cin_kelp_1"}, name + ".cin_kelp_1": {"none"}})
		field := p.by(t, "name", name+".cin_kelp_1")
		if p.Code != http.StatusBadRequest || attr(field, "aria-invalid") != "true" || !open(field) {
			t.Errorf("%s answered %d with %v", name, p.Code, field.Attr)
		}
	}
	to(t, post(t, h, "/settings/speed", url.Values{"connection": {"cin_kelp_1"}, "ceiling.cin_kelp_1": {"120"},
		"details.cin_kelp_1": {"12.2"}}), "/settings?page=1#speed")
	if l := o.limits["cin_kelp_1"]; l.MaxDetails != 13 || l.MaxSeconds != 0 {
		t.Errorf("the limits are %+v", l)
	}
}

func TestPushes(t *testing.T) {
	t.Parallel()
	o := full("A phone")
	h := world(t, o)
	to(t, post(t, h, "/settings/push", url.Values{"kind": {"web_push"}, "endpoint": {"https://push.example/1"},
		"p256dh": {"k"}, "auth": {"a"}}), "/settings#push")
	if o.target != (api.NewPushTarget{Kind: "web_push", Endpoint: "https://push.example/1", P256DH: "k", Auth: "a"}) {
		t.Errorf("added %+v", o.target)
	}
	post(t, h, "/settings/push/test", nil)
	post(t, h, "/settings/push/psh_1/remove", nil)
	post(t, h, "/settings/quiet", url.Values{"from": {"22:00"}, "to": {"07:00"}, "zone": {"Europe/Oslo"}})
	post(t, h, "/settings/quiet", url.Values{"zone": {"Europe/Oslo"}})
	want(t, o, "AddPushTarget web_push; TestPush; DeletePushTarget psh_1; SetQuietHours 22:00-07:00 Europe/Oslo; "+
		"SetQuietHours ")

	failed := &api.PushFailure{Code: "push_gone", Message: "The place is gone.", Next: "Remove it."}
	o.tests = []api.PushTest{{Target: "psh_1", Label: "A phone", Error: failed}, {Target: "psh_2", Label: "A hook"}}
	post(t, h, "/settings/push/test", nil).says(t, "A phone: The place is gone.")
	o.tests[1].Error = failed
	post(t, h, "/settings/push/test", nil).says(t, "These did not take the test: A phone, A hook.")

	o.fails["AddPushTarget"] = api.Invalid("endpoint", "This address is not one of the web.", "")
	p := post(t, h, "/settings/push", url.Values{"kind": {"webhook"}, "endpoint": {"ftp://x"}, "secret": {"hook-secret"}})
	if p.Code != http.StatusBadRequest || strings.Contains(p.Body.String(), "hook-secret") ||
		attr(p.by(t, "id", "push-endpoint"), "value") != "ftp://x" {
		t.Errorf("answered %d: %s", p.Code, p.text())
	}
	p.says(t, "This address is not one of the web.")
	o.fails["SetQuietHours"] = api.Invalid("quiet_hours", "That is not a time zone.", "")
	p = post(t, h, "/settings/quiet", url.Values{"from": {"22:00"}, "to": {"07:00"}, "zone": {"Atlantis"}})
	if attr(p.by(t, "id", "q-zone"), "value") != "Atlantis" {
		t.Error("what was typed is gone")
	}
	p.says(t, "That is not a time zone.")
}

func TestAFormIsBounded(t *testing.T) {
	t.Parallel()
	o := mara()
	p := post(t, world(t, o), "/settings/tokens", url.Values{"label": {strings.Repeat("x", 256<<10)}})
	if p.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("answered %d", p.Code)
	}
	want(t, o, "")
}
