package archtest

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestConnectorList(t *testing.T) {
	t.Parallel()
	list := pkg(t, "connectors",
		"// connectors.go\npackage connectors\nimport (\n\"own/connectorkit\"\n\"own/connectors/github\"\n)\n")
	effect := pkg(t, "connectors", "// connectors.go\npackage connectors\nimport _ \"own/connectors/github\"\n")
	elsewhere := pkg(t, "connectors", "// other.go\npackage connectors\nimport \"own/connectors/github\"\n")
	for name, c := range map[string]struct {
		list    []Package
		folders []string
		want    []string
	}{
		"complete":          {[]Package{list}, []string{"github"}, nil},
		"folder not listed": {[]Package{list}, []string{"github", "gmail"}, []string{"connectors/gmail: is missing"}},
		"listed, no folder": {[]Package{list}, nil, []string{"lists github, which has no folder"}},
		"imported blindly":  {[]Package{effect}, []string{"github"}, []string{"for its side effect"}},
		"in another file":   {[]Package{elsewhere}, []string{"github"}, []string{"connectors/github: is missing"}},
		"no list at all":    {nil, []string{"github"}, []string{"connectors/github: is missing"}},
		"nothing yet":       {nil, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantOffences(t, CheckConnectorList(c.list, c.folders), c.want...)
		})
	}
}

func TestConnectorRequests(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "RT-23")
	for name, c := range map[string]struct{ imports, body, want string }{
		"get":               {`"net/http"`, "func f() { http.Get(\"\") }", "uses http.Get"},
		"post":              {`"net/http"`, "func f() { http.Post(\"\", \"\", nil) }", "uses http.Post"},
		"head":              {`"net/http"`, "func f() { http.Head(\"\") }", "uses http.Head"},
		"post form":         {`"net/http"`, "func f() { http.PostForm(\"\", nil) }", "uses http.PostForm"},
		"default client":    {`"net/http"`, "var c = http.DefaultClient", "uses http.DefaultClient"},
		"default transport": {`"net/http"`, "var c = http.DefaultTransport", "uses http.DefaultTransport"},
		"client literal":    {`"net/http"`, "var c = &http.Client{Timeout: 1}", "makes its own http.Client"},
		"new client":        {`"net/http"`, "var c = new(http.Client)", "makes its own http.Client"},
		"zero client":       {`"net/http"`, "var c http.Client", "makes its own http.Client"},
		"client field":      {`"net/http"`, "type t struct{ c http.Client }", "makes its own http.Client"},
		"transport literal": {`"net/http"`, "var c = http.Transport{}", "makes its own http.Transport"},
		"renamed":           {`web "net/http"`, "func f() { web.Get(\"\") }", "uses http.Get"},
		"dot import":        {`. "net/http"`, "func f() { Get(\"\") }", "behind a dot import"},
		"dial":              {`"net"`, "func f() { net.Dial(\"\", \"\") }", "connects with net.Dial"},
		"dialer":            {`"net"`, "var d net.Dialer", "makes its own net.Dialer"},
		"tls dial":          {`"crypto/tls"`, "func f() { tls.Dial(\"\", \"\", nil) }", "connects with tls.Dial"},
		"tls over anything": {`"crypto/tls"`, "func f() { tls.Client(nil, nil) }", "connects with tls.Client"},
		"another program":   {`"os/exec"`, "func f() { exec.Command(\"curl\") }", "imports os/exec"},
		"mail":              {`"net/smtp"`, "var _ smtp.Auth", "imports net/smtp"},
		"system calls":      {`"syscall"`, "func f() { syscall.Socket(0, 0, 0) }", "imports syscall"},
		"sleep":             {`"time"`, "func f() { time.Sleep(1) }", "waits with time.Sleep"},
		"wait":              {`"time"`, "func f() { <-time.After(1) }", "waits with time.After"},
		"own client": {`"own/governor/governhttp"`, "func f() { governhttp.New(governhttp.Options{}) }",
			"bypasses Setup with governhttp.New"},
		"own sender": {`"own/governor/governhttp"`,
			"func f() { governhttp.NewSender(nil, governhttp.SenderOptions{}) }", "bypasses Setup with governhttp.NewSender"},
		"own governor": {`"own/governor"`, "var g = governor.New(\"x\")", "bypasses Setup with governor.New"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source := "package p\nimport " + c.imports + "\n" + c.body + "\n"
			wantOffences(t, CheckConnectorRequests([]Package{pkg(t, "connectors/github", source)}), c.want)
		})
	}
}

func TestConnectorRequestsAllowed(t *testing.T) {
	t.Parallel()
	const given = "package p\nimport (\"net/http\"; \"time\"; \"net\"; \"own/governor/governhttp\"; \"own/governor\")\n" +
		"type t struct{ client *http.Client; age time.Duration; ours *governhttp.Client; path *governhttp.Sender; ip " +
		"net.IP }\n" +
		"var r, _ = http.NewRequest(\"\", \"\", nil)\nvar o = governhttp.Options{}\nfunc adjust(c *governor.Config) {}\n"
	const bare = "package p\nimport (\"net/http\"; \"time\")\nfunc f() { http.Get(\"\"); time.Sleep(1) }\n"
	wantOffences(t, CheckConnectorRequests([]Package{
		pkg(t, "connectors/github", given),
		pkg(t, "connectors/github", "// github_test.go\n"+bare),
		pkg(t, "governor/governhttp", bare),
	}))
}

func TestFolders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"github", "testdata", ".hidden", "_off"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "connectors.go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := Folders(dir); err != nil || !slices.Equal(got, []string{"github"}) {
		t.Errorf("Folders = %q, %v, want github alone", got, err)
	}
	if got, err := Folders(filepath.Join(dir, "absent")); err != nil || len(got) != 0 {
		t.Errorf("Folders of an absent directory = %q, %v, want none", got, err)
	}
}
