package manage

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"pdpp/internal/ownerapi"
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
	form := url.Values{"connection": both, "ceiling.cin_kelp_1": {"60"}, "minutes.cin_kelp_1": {"1.5"}, "ceiling.cin_tide_1": {"9"}}
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

func TestPushes(t *testing.T) {
	t.Parallel()
	o := full("A phone")
	h := world(t, o)
	to(t, post(t, h, "/settings/push", url.Values{"kind": {"web_push"}, "endpoint": {"https://push.example/1"}, "p256dh": {"k"}, "auth": {"a"}}), "/settings#push")
	if o.target != (ownerapi.NewPushTarget{Kind: "web_push", Endpoint: "https://push.example/1", P256DH: "k", Auth: "a"}) {
		t.Errorf("added %+v", o.target)
	}
	post(t, h, "/settings/push/test", nil)
	post(t, h, "/settings/push/psh_1/remove", nil)
	post(t, h, "/settings/quiet", url.Values{"from": {"22:00"}, "to": {"07:00"}, "zone": {"Europe/Oslo"}})
	post(t, h, "/settings/quiet", url.Values{"zone": {"Europe/Oslo"}})
	want(t, o, "AddPushTarget web_push; TestPush; DeletePushTarget psh_1; SetQuietHours 22:00-07:00 Europe/Oslo; SetQuietHours ")

	o.fails["AddPushTarget"] = ownerapi.Invalid("endpoint", "This address is not one of the web.", "")
	p := post(t, h, "/settings/push", url.Values{"kind": {"webhook"}, "endpoint": {"ftp://x"}, "secret": {"hook-secret"}})
	if p.Code != http.StatusBadRequest || strings.Contains(p.Body.String(), "hook-secret") || attr(p.by(t, "id", "push-endpoint"), "value") != "ftp://x" {
		t.Errorf("answered %d: %s", p.Code, p.text())
	}
	p.says(t, "This address is not one of the web.")
	o.fails["SetQuietHours"] = ownerapi.Invalid("quiet_hours", "That is not a time zone.", "")
	p = post(t, h, "/settings/quiet", url.Values{"from": {"22:00"}, "to": {"07:00"}, "zone": {"Atlantis"}})
	if attr(p.by(t, "id", "q-zone"), "value") != "Atlantis" {
		t.Error("what was typed is gone")
	}
	p.says(t, "That is not a time zone.")
}

func TestAFormIsBounded(t *testing.T) {
	t.Parallel()
	o := mara()
	p := post(t, world(t, o), "/settings/tokens", url.Values{"label": {strings.Repeat("x", largestForm)}})
	if p.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("answered %d", p.Code)
	}
	want(t, o, "")
}
