package rest

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
)

// Answer is the answer of a route.
type Answer struct {
	Status   int
	Body     any // a string is sent as plain text
	Header   http.Header
	Modified time.Time // sent as Last-Modified; a request with If-Modified-Since gets 304 unless it is older
}

// OK returns an answer with the status 200.
func OK(body any) Answer { return Answer{Status: http.StatusOK, Body: body} }

// Problem names a reason to refuse a request. The first four are those that a [providersim.Gate] injects as faults.
type Problem string

const (
	RateLimited  Problem = "rate_limited"
	Unavailable  Problem = "unavailable"
	Internal     Problem = "internal"
	ExpiredToken Problem = "token_expired"
	NoToken      Problem = "no_token" // the request has no credential
	BadToken     Problem = "bad_token"
	NoScope      Problem = "no_scope"
	NoRoute      Problem = "no_route"
	NotFound     Problem = "not_found"
	BadParameter Problem = "bad_parameter"
	CursorEnded  Problem = "cursor_ended" // a sync token is too old
)

var usualStatus = map[Problem]int{RateLimited: 429, Unavailable: 503, Internal: 500, ExpiredToken: 401, NoToken: 401,
	BadToken: 401, NoScope: 403, NoRoute: 404, NotFound: 404, BadParameter: 400, CursorEnded: 410}

// Refusal is a refused request.
type Refusal struct {
	Problem Problem
	Name    string        // the scope or the parameter
	Request *http.Request // nil for a fault of the gate
	Nth     int           // number of this refusal among those by a limit
}

// Status returns the status that most providers use for the problem.
func (f Refusal) Status() int { return usualStatus[f.Problem] }

func defaultErrors(f Refusal) Answer {
	return Answer{Status: f.Status(), Body: Object{"error": f.Problem}}
}

func (a Answer) encode() []byte {
	if text, plain := a.Body.(string); plain {
		return []byte(text)
	}
	return providersim.EncodeJSON(a.Body)
}

// render writes headers and returns the status and the body to send.
func (a Answer) render(r *http.Request, h http.Header, etags bool) (int, []byte) {
	body := a.encode()
	h.Set("Content-Type", "application/json; charset=utf-8")
	if _, plain := a.Body.(string); plain {
		h.Set("Content-Type", "text/plain; charset=utf-8")
	}
	maps.Copy(h, a.Header)
	unchanged := false
	if etags && a.Status == http.StatusOK {
		sum := sha256.Sum256(append([]byte(h.Get("Link")), body...))
		tag := fmt.Sprintf(`"%x"`, sum[:8])
		h.Set("ETag", tag)
		unchanged = slices.Contains(strings.Fields(strings.ReplaceAll(r.Header.Get("If-None-Match"), ",", " ")), tag)
	}
	if !a.Modified.IsZero() {
		h.Set("Last-Modified", a.Modified.UTC().Format(http.TimeFormat))
		since, err := http.ParseTime(r.Header.Get("If-Modified-Since"))
		unchanged = unchanged || err == nil && !a.Modified.Truncate(time.Second).After(since)
	}
	if unchanged {
		h.Del("Link")
		h.Del("Content-Type")
		return http.StatusNotModified, nil
	}
	return a.Status, body
}

// Credential returns the secret of a request, or nothing when it has none.
type Credential func(*http.Request) string

// Bearer reads the header "Authorization: Bearer <token>".
func Bearer(r *http.Request) string { return AuthorizationWord("Bearer")(r) }

// AuthorizationWord reads a header such as "Authorization: token <token>", with any of the words.
func AuthorizationWord(words ...string) Credential {
	return func(r *http.Request) string {
		word, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		if !slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, word) }) {
			return ""
		}
		return secret
	}
}

// HeaderKey reads an API key in a header.
func HeaderKey(name string) Credential {
	return func(r *http.Request) string { return r.Header.Get(name) }
}

// QueryKey reads an API key in the query.
func QueryKey(name string) Credential {
	return func(r *http.Request) string { return r.URL.Query().Get(name) }
}

// Basic reads the password of a user.
func Basic(user string) Credential {
	return func(r *http.Request) string {
		if name, password, _ := r.BasicAuth(); name == user {
			return password
		}
		return ""
	}
}

// Limit bounds the requests in any window of time.
type Limit struct {
	Rate     int // requests in a window; zero means no limit
	Window   time.Duration
	By       func(*http.Request) string // requests with another key are counted apart; nil counts all together
	Announce bool                       // a refusal has a Retry-After with the time until the window has room
	Penalty  time.Duration              // a refusal has this Retry-After

	seen map[string][]time.Time
}

func (l *Limit) spend(now time.Time, r *http.Request, h http.Header) bool {
	key := ""
	if l.By != nil {
		key = l.By(r)
	}
	if l.seen == nil {
		l.seen = map[string][]time.Time{}
	}
	seen := slices.DeleteFunc(l.seen[key], func(t time.Time) bool { return now.Sub(t) >= l.Window })
	if l.Rate == 0 || len(seen) < l.Rate {
		l.seen[key] = append(seen, now)
		return true
	}
	wait := l.Penalty
	if wait == 0 && l.Announce {
		wait = l.Window - now.Sub(seen[0])
	}
	if l.seen[key] = seen; wait > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	}
	return false
}
