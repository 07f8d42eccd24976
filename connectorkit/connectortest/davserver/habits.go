package davserver

import (
	"bytes"
	"crypto/md5"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// ServerHabits are what other servers do differently.
type ServerHabits struct {
	// FullSync has a server that no longer has the changes since a token answer with everything, and with a fresh
	// token, instead of refusing the token (RFC 6578, section 3.2, lets it refuse). StartDAViCal does so: it deletes
	// changes after seven days, and its report then provides a full sync.
	FullSync bool
	// Silent has it answer with no change at all, and with a fresh token.
	Silent bool
	// Digest is the algorithm of RFC 7616 that the server demands in place of Basic, as MD5 or SHA-256; empty demands
	// none. Baikal demands MD5 by default.
	Digest string
}

// habitProxy is a proxy between the front and a server.
type habitProxy struct {
	ServerHabits
	user, realm string
	next        http.Handler

	mu     sync.Mutex
	nonces map[string]int // how often each was used
}

// startHabitProxy returns the address of a server with the habits.
func startHabitProxy(t testing.TB, h ServerHabits, user, address string) string {
	t.Helper()
	if h == (ServerHabits{}) {
		return address
	}
	target, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.ModifyResponse = withoutRemoved
	server := httptest.NewServer(&habitProxy{ServerHabits: h, user: user, realm: `Mara's "things"`, next: proxy,
		nonces: map[string]int{}})
	t.Cleanup(server.Close)
	return server.URL
}

var syncTokenElement = regexp.MustCompile(`<sync-token>[^<]+</sync-token>`)

// fullSyncHeader marks a request from which the token was removed.
const fullSyncHeader = "X-Test-Full-Sync"

var responseElement = regexp.MustCompile(`(?s)<response>.*?</response>`)

// withoutRemoved leaves members that are no more out of an answer with everything, as RFC 6578, section 3.4, has it.
// Radicale reports them there too.
func withoutRemoved(resp *http.Response) error {
	if resp.Request.Header.Get(fullSyncHeader) == "" {
		return nil
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	body = responseElement.ReplaceAllFunc(body, func(m []byte) []byte {
		if resp.Request.Header.Get(fullSyncHeader) == "true" || bytes.Contains(m, []byte("404 Not Found")) &&
			!bytes.Contains(m, []byte("propstat")) {
			return nil
		}
		return m
	})
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	resp.Header.Set("Content-Length", fmt.Sprint(len(body)))
	return nil
}

func (h *habitProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h.Digest != "" {
		if why := h.checkDigest(r); why != "" {
			w.Header().Set("WWW-Authenticate", h.digestChallenge(why == "stale"))
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		r.SetBasicAuth(h.user, accountPassword)
	}
	if (h.FullSync || h.Silent) && r.Method == "REPORT" {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		if forgotten := syncTokenElement.ReplaceAll(body, []byte("<sync-token/>")); len(forgotten) != len(body) {
			body = forgotten
			r.Header.Set(fullSyncHeader, fmt.Sprint(h.Silent))
			r.Header.Del("Accept-Encoding") // the answer is changed
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	h.next.ServeHTTP(w, r)
}

func (h *habitProxy) digestChallenge(stale bool) string {
	nonce := rand.Text()
	h.mu.Lock()
	h.nonces[nonce] = 0
	h.mu.Unlock()
	realm := strings.ReplaceAll(h.realm, `"`, `\"`)
	return fmt.Sprintf(`Digest realm="%s", qop="auth,auth-int", algorithm=%s, nonce="%s", opaque="o,=p", stale=%t`, realm,
		h.Digest, nonce, stale)
}

// digestMembers are the members of an Authorization header of the scheme.
var digestMembers = regexp.MustCompile(`(\w+)=(?:"((?:[^"\\]|\\.)*)"|([^",\s]+))`)

// maxNonceUses is how many requests a nonce is good for.
const maxNonceUses = 5

// checkDigest checks a request as RFC 7616, section 3.4, has it; it returns why the request is refused.
func (h *habitProxy) checkDigest(r *http.Request) string {
	text, ours := strings.CutPrefix(r.Header.Get("Authorization"), "Digest ")
	if !ours {
		return "absent"
	}
	m := map[string]string{}
	for _, found := range digestMembers.FindAllStringSubmatch(text, -1) {
		m[found[1]] = strings.ReplaceAll(found[2], `\"`, `"`) + found[3]
	}
	made := map[string]func() hash.Hash{"MD5": md5.New, "SHA-256": sha256.New}[h.Digest]
	digest := func(parts ...string) string {
		sum := made()
		_, _ = io.WriteString(sum, strings.Join(parts, ":")) // a hash never fails
		return hex.EncodeToString(sum.Sum(nil))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	used, known := h.nonces[m["nonce"]]
	want := digest(digest(h.user, h.realm, accountPassword), m["nonce"], m["nc"], m["cnonce"], m["qop"],
		digest(r.Method, m["uri"]))
	switch {
	case m["username"] != h.user || m["realm"] != h.realm || m["uri"] != r.RequestURI || m["opaque"] != "o,=p" ||
		m["qop"] != "auth" || m["algorithm"] != h.Digest || m["response"] != want:
		return "wrong"
	case !known || used >= maxNonceUses || m["nc"] != fmt.Sprintf("%08x", used+1) || m["cnonce"] == "":
		return "stale"
	}
	h.nonces[m["nonce"]]++
	return ""
}
