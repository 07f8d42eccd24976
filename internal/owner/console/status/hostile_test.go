package status

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const hostile = `"><script>alert(1)</script><img src=x onerror=alert(2)> javascript:alert(3) '`

// Names that others chose are text, on every page and in every event.
func TestHostileNamesAreText(t *testing.T) {
	e := plant(t, "device-drained", devices(aDevice("src_maple", "Maple", blocked)))
	e.Connection.ID, e.Connection.DisplayName, e.Connection.ConnectorID = "con/"+hostile, hostile, hostile
	e.Device.Sources[0].Host = hostile
	e.Streams = append(e.Streams, evidence.Stream{Name: hostile, Required: true})
	k := newKeeper(e, plant(t, "scheduled-healthy", `{"connection": {"connection_id": "con_b"}}`))
	k.form = &api.CredentialForm{Label: hostile, Description: hostile, Submit: hostile,
		Fields: []api.CredentialField{{Name: hostile, Label: hostile, Help: hostile, Placeholder: hostile}}}
	k.active = &api.Run{ID: hostile, ConnectionID: e.Connection.ID, DisplayName: hostile, Status: "running",
		Trigger: hostile, Failure: hostile, FailureCode: hostile, Stderr: hostile,
		Streams: []api.RunStream{{Name: hostile, Label: hostile, Message: hostile}}}
	k.question = &api.Question{RunID: hostile, RequestID: hostile, Message: hostile,
		Fields: []api.QuestionField{{Name: hostile, Label: hostile, Options: []string{hostile}}}}
	k.events = []api.Event{{Seq: 1, At: noon, Text: hostile}}
	k.pace = api.Pace{Runs: []api.RunPace{{RunID: hostile, Points: []api.PacePoint{{At: noon, PerMinute: 3}},
		Backoffs: []api.Backoff{{At: noon, Reason: hostile}}}}}
	k.offered = []api.Connector{{ID: "tide", DisplayName: hostile, OnDevices: true,
		Streams: []api.StreamLabel{{Label: hostile, Description: hostile}}}}
	k.codes = &shared[[]api.DeviceCode]{value: []api.DeviceCode{
		{ID: hostile, DisplayName: hostile, ConnectorID: hostile, DeviceName: hostile, ConnectionID: hostile,
			Status: api.CodeConnected}, {ID: "dcode_1", DisplayName: hostile, Status: api.CodeExpired},
	}}
	h := serve(k)
	for _, path := range []string{"/sources", connectionPath(e.Connection.ID), runPath(hostile), "/sources/con_b",
		"/sources/add/tide/device", codePath(hostile), "/settings/devices/codes/dcode_1"} {
		root := page(t, h, path)
		if !strings.Contains(textOf(root), "<script>alert(1)") {
			t.Errorf("%s does not show the name", path)
		}
		checkTame(t, path, root)
	}
	p := New(Config{Owner: k, Now: func() time.Time { return noon }})
	parts, err := p.lookAtBoard(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range parts {
		checkTame(t, one.id, parse(t, string(one.html)))
	}
}

// checkTame finds whatever the page's policy forbids, or a name became.
func checkTame(t *testing.T, where string, root *html.Node) {
	t.Helper()
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if n.Data == "script" && !strings.HasPrefix(first(n, "src"), "/assets/") || n.Data == "style" || n.Data == "img" ||
			n.Data == "iframe" {
			t.Errorf("%s has an element %s", where, n.Data)
		}
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "style" || strings.HasPrefix(a.Key, "hx-on") {
				t.Errorf("%s has an attribute %s", where, a.Key)
			}
			if (a.Key == "href" || a.Key == "action" || a.Key == "src" || a.Key == "hx-post") &&
				!strings.HasPrefix(a.Val, "/") && !strings.HasPrefix(a.Val, "#") {
				t.Errorf("%s leads to %q", where, a.Val)
			}
		}
	}
}

func first(n *html.Node, name string) string { v, _ := attr(n, name); return v }

// forbidden are the names of states, axes and dispositions, and the members that hold
// them. A page that mentioned one could decide by it.
var forbidden = regexp.MustCompile(`\.Health\b|\.Axes\b|\.State\b|\.Disposition\b|\.Coverage\b|\.Conditions\b|` +
	`"(healthy|degraded|cooling_off|needs_attention|blocked|idle|unknown|stalled|retryable_gap|terminal_gap|stale|` +
	`fresh|resumable|terminal|awaiting_owner)"`)

func TestTemplatesNameNoState(t *testing.T) {
	t.Attr("spec", "CH-21")
	var files []string
	for _, dir := range []string{".", "../ui", "../manage"} {
		found, err := filepath.Glob(filepath.Join(dir, "*.templ"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) < 8 {
		t.Fatalf("only %v", files)
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(source), "\n") {
			if found := forbidden.FindString(line); found != "" {
				t.Errorf("%s:%d names %s: a page renders the verdict", file, i+1, found)
			}
		}
	}
}
