package github

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// pageSize is the largest page that GitHub serves.
const pageSize = "100"

const (
	acceptDefault = "application/vnd.github+json"
	acceptStars   = "application/vnd.github.star+json"
)

// userAgent is required: without one GitHub refuses every request.
const userAgent = "pdpp-github-connector/1.0"

var (
	// errFrame is an answer that decodes but is not the list it should be. To read
	// it as an empty page would be to call data complete that is not there.
	errFrame = errors.New("the answer is not a list")
	errRoot  = errors.New("PDPP_GITHUB_BASE_URL must be an absolute http or https address")
	errAway  = errors.New("the next page is not on the provider's host")
)

func headers(token, version string) http.Header {
	return http.Header{
		"Authorization": {"Bearer " + token}, "Accept": {acceptDefault},
		"X-GitHub-Api-Version": {version}, "User-Agent": {userAgent},
	}
}

// api makes requests. None of its methods waits, retries or remembers.
type api struct {
	client *governhttp.Client
	root   *url.URL // of the API; pages elsewhere are refused
}

// rootOf reads the address of the API, which has a path on GitHub Enterprise.
func rootOf(base string) (*url.URL, error) {
	root, err := url.Parse(base)
	if err != nil || root.Host == "" || root.Scheme != "http" && root.Scheme != "https" {
		return nil, connectorkit.Fail(connectorkit.Malformed, errRoot)
	}
	root.Path = strings.TrimSuffix(root.Path, "/")
	return root, nil
}

// answer is a good answer and what its headers say.
type answer struct {
	*governhttp.Response
	next      string // target of the next page; empty on the last
	unchanged bool   // 304: the condition holds and there is no body
}

// get requests a target: a path below the root, with its query.
func (a *api) get(ctx context.Context, target string, condition string, more http.Header) (answer, error) {
	path, query, _ := strings.Cut(target, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return answer{}, connectorkit.Fail(connectorkit.Malformed, errAway)
	}
	header := http.Header{}
	for name, v := range more {
		header[name] = v
	}
	if condition != "" {
		header.Set("If-None-Match", condition)
	}
	resp, err := a.client.Do(ctx, governhttp.Request{Path: path, Query: values, Header: header})
	if err != nil {
		return answer{}, err
	}
	out := answer{Response: resp, unchanged: resp.Status == http.StatusNotModified}
	out.next, err = a.next(resp.Header)
	return out, err
}

// rows decodes a list. Its things stay raw, so that a malformed one spoils itself
// and not its page.
func (r answer) rows() ([]jsontext.Value, error) {
	var rows []jsontext.Value
	if err := json.Unmarshal(r.Body, &rows); err != nil {
		return nil, connectorkit.Fail(connectorkit.Malformed, err)
	}
	if rows == nil {
		return nil, connectorkit.Fail(connectorkit.Malformed, errFrame)
	}
	return rows, nil
}

// heldBack names the organizations whose things single sign-on left out of a list
// that otherwise looks complete; nil when none is.
func (r answer) heldBack() []string {
	kind, rest, _ := strings.Cut(r.Header.Get("X-GitHub-SSO"), ";")
	if strings.TrimSpace(kind) != "partial-results" {
		return nil
	}
	_, list, _ := strings.Cut(rest, "organizations=")
	var names []string
	for id := range strings.SplitSeq(list, ",") {
		names = append(names, "organization "+strings.TrimSpace(id))
	}
	return names
}

// absent declares what a list leaves out, so that it does not pass as complete.
func (r answer) absent() []connectorkit.Record {
	var records []connectorkit.Record
	for _, name := range r.heldBack() {
		records = append(records, connectorkit.Unreadable(name, nil))
	}
	return records
}

// target makes a target from a path and name-value pairs; empty values are left out.
func target(path string, pairs ...string) string {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}
