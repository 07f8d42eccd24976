package archtest

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestConnectorList(t *testing.T) {
	t.Parallel()
	list := pkg(t, "connectors", "// connectors.go\npackage connectors\nimport (\n\"pdpp/connectorkit\"\n\"pdpp/connectors/github\"\n)\n")
	effect := pkg(t, "connectors", "// connectors.go\npackage connectors\nimport _ \"pdpp/connectors/github\"\n")
	elsewhere := pkg(t, "connectors", "// other.go\npackage connectors\nimport \"pdpp/connectors/github\"\n")
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
	const head = "package p\nimport (\"net/http\"; \"time\")\nvar _, _ = http.MethodGet, time.Second\n"
	for name, c := range map[string]struct{ body, want string }{
		"get":               {"func f() { http.Get(\"\") }", "uses http.Get"},
		"post":              {"func f() { http.Post(\"\", \"\", nil) }", "uses http.Post"},
		"head":              {"func f() { http.Head(\"\") }", "uses http.Head"},
		"post form":         {"func f() { http.PostForm(\"\", nil) }", "uses http.PostForm"},
		"default client":    {"var c = http.DefaultClient", "uses http.DefaultClient"},
		"default transport": {"var c = http.DefaultTransport", "uses http.DefaultTransport"},
		"client literal":    {"var c = &http.Client{Timeout: 1}", "makes its own http.Client"},
		"new client":        {"var c = new(http.Client)", "makes its own http.Client"},
		"zero client":       {"var c http.Client", "makes its own http.Client"},
		"client field":      {"type t struct{ c http.Client }", "makes its own http.Client"},
		"transport literal": {"var c = http.Transport{}", "makes its own http.Transport"},
		"sleep":             {"func f() { time.Sleep(1) }", "waits with time.Sleep"},
		"wait":              {"func f() { <-time.After(1) }", "waits with time.After"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantOffences(t, CheckConnectorRequests([]Package{pkg(t, "connectors/github", head+c.body+"\n")}), c.want)
		})
	}
}

func TestConnectorRequestsAllowed(t *testing.T) {
	t.Parallel()
	const given = "package p\nimport (\"net/http\"; \"time\")\ntype t struct{ client *http.Client; age time.Duration }\nvar r, _ = http.NewRequest(\"\", \"\", nil)\n"
	const bare = "package p\nimport (\"net/http\"; \"time\")\nfunc f() { http.Get(\"\"); time.Sleep(1) }\n"
	wantOffences(t, CheckConnectorRequests([]Package{
		pkg(t, "connectors/github", given),
		pkg(t, "connectors/github", "// github_test.go\n"+bare),
		pkg(t, "connectorkit/governhttp", bare),
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
