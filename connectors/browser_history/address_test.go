package browserhistory

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestAddress(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string][2]string{
		"https://shop.example/a?q=b&c=d#e":             {"https://shop.example/a?q=b&c=d#e", "shop.example"},
		"https://mara:hunter2@Intranet.Example:8443/x": {"https://Intranet.Example:8443/x", "intranet.example"},
		"https://mara@x@intranet.example/":             {"https://intranet.example/", "intranet.example"},
		"https://a.example/?access_token=abc&b=1;sid=2": {"https://a.example/?access_token=redacted&b=1;sid=redacted",
			"a.example"},
		"https://a.example/cb#id_token=eyJ&state=1": {"https://a.example/cb#id_token=redacted&state=1",
			"a.example"},
		"https://a.example/?X-Amz-Signature=9f&Access%5FToken=1": {"https://a.example/?X-Amz-Signature=redacted&" +
			"Access%5FToken=redacted", "a.example"},
		"https://a.example/@mara/token":              {"https://a.example/@mara/token", "a.example"},
		"https://[::1]:80/?token":                    {"https://[::1]:80/?token", "::1"},
		"file:///home/mara/a.html":                   {"file:///home/mara/a.html", ""},
		"about:blank":                                {"about:blank", ""},
		"mailto:mara@a.example?password=x":           {"mailto:mara@a.example?password=redacted", ""},
		"data:text/html," + strings.Repeat("x", 500): {"data:text/html," + strings.Repeat("x", 85), ""},
		"no address":                                 {"no address", ""},
		"https:\\\\mara:x@a.example":                 {"https:\\\\mara:x@a.example", ""},
	} {
		if got, host := cleanAddress(raw); got != want[0] || host != want[1] {
			t.Errorf("%s: %q %q, want %q", raw, got, host, want)
		}
	}
}

// FuzzAddress checks that no address breaks the connector, that user information is removed, and that cleaning twice
// changes nothing.
func FuzzAddress(f *testing.F) {
	for _, seed := range []string{"https://a:b@c/?token=x#y=z", "http://[::1", "data:,x", "x://@@/;pass=\xff", "://",
		"https://a/?=&#&;"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		clean, host := cleanAddress(raw)
		if !utf8.ValidString(clean) {
			t.Fatalf("not valid: %q", clean)
		}
		again, same := cleanAddress(clean)
		if again != clean || same != host {
			t.Fatalf("%q, then %q (%q, %q)", clean, again, host, same)
		}
		if _, rest, ok := strings.Cut(clean, "://"); ok && host != "" {
			if end := strings.IndexAny(rest, "/?#\\"); end >= 0 {
				rest = rest[:end]
			}
			if strings.Contains(rest, "@") {
				t.Fatalf("a name is left: %q", clean)
			}
		}
	})
}

func TestHosts(t *testing.T) {
	t.Parallel()
	set := parseExcludedHosts("bank.example, Clinic.example\n.x.example")
	for host, want := range map[string]bool{"bank.example": true, "www.bank.example": true, "notbank.example": false,
		"clinic.example": true, "x.example": true, "example": false, "": false} {
		if set.excludesHost(host) != want {
			t.Errorf("%q", host)
		}
	}
}
