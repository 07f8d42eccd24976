package protocol_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/pdpp-go/pdpp/protocol"
)

func TestBrowserBinding(t *testing.T) {
	whole := protocol.BrowserBinding{
		Program: "/usr/bin/chromium", Profile: "/run/p/profile", Home: "/run/p/home", Display: ":7", SurfaceFD: 3,
		CaptureDir: "/run/p/captures", Restored: true, Account: "ab12", Hosts: []string{"chat.example"},
		Local: []string{"127.0.0.1:8080", "[::1]:80"}, NoSandbox: true, User: &protocol.BrowserUser{UID: 65534, GID: 65534},
	}
	text, err := json.Marshal(whole)
	if err != nil {
		t.Fatal(err)
	}
	got, err := protocol.ParseBrowserBinding(text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(whole, got); diff != "" {
		t.Error(diff)
	}
	if _, err := protocol.ParseBrowserBinding(
		[]byte(`{"program":"/b","profile":"/p","home":"/h","later":1}`),
	); err != nil {
		t.Errorf("a member of a later version: %v", err)
	}
	for text, want := range map[string]string{
		`[]`: "browser binding",
		`{"program":"chromium","profile":"/p","home":"/h"}`:              "program",
		`{"program":"/b","profile":"p","home":"/h"}`:                     "profile",
		`{"program":"/b","profile":"/p"}`:                                "home",
		`{"program":"/b","profile":"/p","home":"/h","capture_dir":"c"}`:  "capture_dir",
		`{"program":"/b","profile":"/p","home":"/h","surface_fd":2}`:     "surface_fd",
		`{"program":"/b","profile":"/p","home":"/h","surface_fd":-1}`:    "surface_fd",
		`{"program":"/b","profile":"/p","home":"/h","hosts":["a:1"]}`:    "hosts",
		`{"program":"/b","profile":"/p","home":"/h","hosts":[""]}`:       "hosts",
		`{"program":"/b","profile":"/p","home":"/h","local":["a"]}`:      "local",
		`{"program":"/b","profile":"/p","home":"/h","local":[":80"]}`:    "local",
		`{"program":"/b","profile":"/p","home":"/h","user":{"uid":-1}}`:  "uid",
		`{"program":"/b","profile":"/p","home":"/h","restored":"truly"}`: "restored",
	} {
		if _, err := protocol.ParseBrowserBinding([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error about %s", text, err, want)
		}
	}
}
