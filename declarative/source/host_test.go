package source

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pdpp-go/pdpp/declarative/describe"
	"github.com/pdpp-go/pdpp/declarative/document"
	"github.com/pdpp-go/pdpp/declarative/expression"
)

// The hosts of a run are known before a partition is. Plain http is only for an address of the owner.
func TestHostsOfRun(t *testing.T) {
	for _, c := range []struct{ address, want string }{
		{"https://api.example.com/things/{{ stream_partition.id }}", "api.example.com"},
		{"https://{{ config['server'] }}/things/", "own.example.com"},
		{"http://{{ config['server'] }}/things/", "own.example.com"},
		{"http://api.example.com/things/{{ stream_partition.id }}", ""},
		{"http://api.example.com", ""},
		{"https://user@api.example.com/things", ""},
	} {
		doc, err := document.Parse([]byte(strings.Replace(ruled, "https://api.example.com", c.address, 1)))
		if err != nil {
			t.Fatal(err)
		}
		config := expression.NewObject(1).Set("server", expression.StringValue("own.example.com")).Value()
		state := &runState{config: config}
		err = state.allowHosts(doc.Streams[0])
		if got := strings.Join(state.hosts, " "); got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: hosts %q, want %q: %v", c.address, got, c.want, err)
		}
	}
}

// A setting does not become the address of a simulator because of its name.
func TestVariablesOfSettings(t *testing.T) {
	doc, err := document.Parse([]byte(strings.Replace(ruled, "region: {type: string}", "base_url: {type: string}", 1)))
	if err != nil {
		t.Fatal(err)
	}
	d, err := describe.Describe(doc, describe.Options{Key: "ruled"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range d.Settings {
		got = append(got, s.Env)
	}
	want := []string{"PDPP_RULED_API_KEY", "PDPP_RULED_LISTS", "PDPP_RULED_SETTING_BASE_URL"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
