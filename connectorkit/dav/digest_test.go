package dav

import (
	"net/http"
	"strings"
	"testing"
)

// TestDigestAnswer holds the answers against the examples of RFC 7616, section 3.9.1.
func TestDigestAnswer(t *testing.T) {
	h := http.Header{"Www-Authenticate": {
		`Basic realm="x"`,
		`Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=MD5, nonce="7ypf/xlj9XXwfDPEoM4URrv/` +
			`xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"`,
	}}
	const (
		sha = `Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=SHA-256, nonce="7ypf/` +
			`xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"`
		cnonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
	)
	for want, add := range map[string]string{
		"8ca523f5e9506fed4657c9700eebdbec":                                 `Negotiate`,
		"753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1": sha,
	} {
		c := bestChallenge(http.Header{"Www-Authenticate": append(h.Values("WWW-Authenticate"), add)})
		if c == nil {
			t.Fatal("there is no challenge")
		}
		c.uses = 1
		got := c.headerWithNonce("Mufasa", "Circle of Life", "GET", "/dir/index.html", cnonce)
		for _, part := range []string{`response="` + want + `"`, `username="Mufasa"`, "nc=00000001", "qop=auth",
			`opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"`} {
			if !strings.Contains(got, part) {
				t.Errorf("%s is not in %s", part, got)
			}
		}
	}
}

// TestDigestChallenges reads what servers ask for.
func TestDigestChallenges(t *testing.T) {
	for line, want := range map[string]string{
		`Basic realm="Digest nonce=1"`:                                       "",
		`Digest realm="a", nonce="n"`:                                        "a n  true",
		`digest realm="a \"b\", c", nonce="n", qop=auth, algorithm=md5-sess`: `a "b", c n md5-sess false`,
		`Digest realm="a", nonce="n", qop="auth-int"`:                        "",
		`Digest realm="a", nonce="n", qop="auth", algorithm=SHA-512-256`:     "",
		`Digest realm="a", qop="auth"`:                                       "",
		`Basic realm="x", Digest realm="a", nonce="n", qop="auth", Digest realm="b", nonce="m", qop="auth", ` +
			`algorithm=SHA-256`: "b m SHA-256 false",
	} {
		got := ""
		if c := bestChallenge(http.Header{"Www-Authenticate": {line}}); c != nil {
			got = c.realm + " " + c.nonce + " " + c.algorithm + map[bool]string{true: " true", false: " false"}[c.plain]
		}
		if got != want {
			t.Errorf("%s is %q, want %q", line, got, want)
		}
	}
}
