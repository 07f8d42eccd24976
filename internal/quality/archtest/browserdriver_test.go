package archtest

import "testing"

func TestBrowserDriver(t *testing.T) {
	t.Parallel()
	const drives = "package p\nimport _ \"github.com/chromedp/cdproto/page\"\n"
	const opens = "package p\nvar flag = \"--remote-debugging-" + "port=0\"\n"
	for name, c := range map[string]struct {
		at, src string
		want    []string
	}{
		"the launcher": {"connectorkit/browser", drives, nil},
		"its port":     {"connectorkit/browser", opens, []string{"opens a debugging port"}},
		"a connector":  {"connectors/github", drives, []string{"imports github.com/chromedp/cdproto/page"}},
		"the kit": {"connectorkit", "package p\nimport _ \"github.com/chromedp/chromedp\"\n",
			[]string{"imports github.com/chromedp/chromedp"}},
		"a port of somebody": {"cmd/pdpp", opens, []string{"opens a debugging port"}},
		"a tool that compares": {"internal/quality/tools/bench", drives + "var flag = \"--remote-debugging-" + "port=0\"\n",
			nil},
		"a test":                {"connectors/github", "// github_test.go\n" + drives, nil},
		"another of their name": {"connectors/github", "package p\nimport _ \"github.com/go-json-experiment/json\"\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantOffences(t, CheckBrowserDriver([]Package{pkg(t, c.at, c.src)}), c.want...)
		})
	}
}
