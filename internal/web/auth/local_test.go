package auth

import (
	"net/url"
	"strings"
	"testing"
)

// Whatever a link holds, the browser stays on this server.
func FuzzLocalPath(f *testing.F) {
	for _, seed := range []string{"/", "//a", `/\a`, "/a?b#c", "https://a", "/\ta", "/a:b@c", "/..//a", "/%2f/a"} {
		f.Add(seed)
	}
	base, _ := url.Parse("https://pdpp.example/login")
	f.Fuzz(func(t *testing.T, s string) {
		got := localPath(s)
		if got != "/" && got != s {
			t.Fatalf("%q becomes %q", s, got)
		}
		if !strings.HasPrefix(got, "/") || strings.HasPrefix(got, "//") || strings.ContainsAny(got, "\\\r\n\t") {
			t.Fatalf("%q gives %q", s, got)
		}
		to, err := base.Parse(got)
		if err != nil || to.Host != base.Host || to.Scheme != base.Scheme {
			t.Fatalf("%q leads to %v, %v", s, to, err)
		}
		if localPath(got) != got {
			t.Fatalf("%q is not stable", got)
		}
	})
}
