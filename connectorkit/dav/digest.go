package dav

import (
	"crypto/md5"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"net/http"
	"regexp"
	"strings"
)

// digestChallenge is what a server asks for that wants Digest authentication (RFC 7616) with the protection auth.
type digestChallenge struct {
	realm, nonce, opaque string
	algorithm            string // as the server spells it; empty means MD5
	plain                bool   // without a quality of protection, as RFC 2069 had it
	uses                 int
}

var (
	digestScheme    = regexp.MustCompile(`(?i)(?:^|[\s,])Digest\s`)
	digestParameter = regexp.MustCompile(`([A-Za-z*-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s",]+))`)
	quotedPair      = regexp.MustCompile(`\\(.)`)
)

// bestChallenge returns the best challenge of a refusal that can be answered; nil when there is none.
func bestChallenge(h http.Header) (best *digestChallenge) {
	for _, line := range h.Values("WWW-Authenticate") {
		starts := digestScheme.FindAllStringIndex(line, -1)
		for i, at := range starts {
			end := len(line)
			if i+1 < len(starts) {
				end = starts[i+1][0]
			}
			c := readChallenge(line[at[1]:end])
			if c != nil && (best == nil || c.usesSHA256() && !best.usesSHA256()) {
				best = c
			}
		}
	}
	return best
}

// readChallenge reads the parameters of one challenge; nil when they ask for something else.
func readChallenge(text string) *digestChallenge {
	m := map[string]string{}
	for _, found := range digestParameter.FindAllStringSubmatch(text, -1) {
		if name := strings.ToLower(found[1]); m[name] == "" {
			m[name] = quotedPair.ReplaceAllString(found[2], "$1") + found[3]
		}
	}
	c := &digestChallenge{realm: m["realm"], nonce: m["nonce"], opaque: m["opaque"], algorithm: m["algorithm"],
		plain: m["qop"] == ""}
	auth := c.plain
	for _, qop := range strings.Split(m["qop"], ",") {
		auth = auth || strings.EqualFold(strings.TrimSpace(qop), "auth")
	}
	if c.nonce == "" || !auth || c.newHash() == nil {
		return nil
	}
	return c
}

func (c *digestChallenge) usesSHA256() bool {
	return strings.HasPrefix(strings.ToUpper(c.algorithm), "SHA-256")
}

// newHash is the hash of the algorithm; nil when it is not known.
func (c *digestChallenge) newHash() func() hash.Hash {
	switch strings.ToUpper(strings.TrimSuffix(strings.ToLower(c.algorithm), "-sess")) {
	case "", "MD5":
		return md5.New
	case "SHA-256":
		return sha256.New
	}
	return nil
}

// authorizationHeader is the Authorization header of one request. No two requests get the same.
func (c *digestChallenge) authorizationHeader(user, password, method, uri string) string {
	c.uses++
	return c.headerWithNonce(user, password, method, uri, rand.Text())
}

func (c *digestChallenge) headerWithNonce(user, password, method, uri, cnonce string) string {
	sum := func(parts ...string) string {
		h := c.newHash()()
		_, _ = h.Write([]byte(strings.Join(parts, ":"))) // a hash never fails
		return hex.EncodeToString(h.Sum(nil))
	}
	quote := func(s string) string { return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"` }
	a1, nc := sum(user, c.realm, password), fmt.Sprintf("%08x", c.uses)
	if strings.HasSuffix(strings.ToLower(c.algorithm), "-sess") {
		a1 = sum(a1, c.nonce, cnonce)
	}
	a2 := sum(method, uri)
	response := sum(a1, c.nonce, nc, cnonce, "auth", a2)
	if c.plain {
		response = sum(a1, c.nonce, a2)
	}
	out := "Digest username=" + quote(user) + ", realm=" + quote(c.realm) + ", nonce=" + quote(c.nonce) + ", uri=" +
		quote(uri) + ", response=" + quote(response)
	if c.algorithm != "" {
		out += ", algorithm=" + c.algorithm
	}
	if c.opaque != "" {
		out += ", opaque=" + quote(c.opaque)
	}
	if !c.plain {
		out += ", qop=auth, nc=" + nc + ", cnonce=" + quote(cnonce)
	}
	return out
}
