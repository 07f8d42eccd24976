package spotify

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// pageSize is the largest page that Spotify serves; more answers 400.
const pageSize = "50"

var (
	// errFrame is an answer that decodes but is not the list it should be. To read it as an empty
	// page would be to call data complete that is not there.
	errFrame = errors.New("the answer is not a list")
	errRoot  = errors.New("PDPP_SPOTIFY_BASE_URL must be an absolute http or https address")
	errAway  = errors.New("the next page is not on the provider's host")
)

// api makes requests. None of its methods waits or retries.
type api struct {
	client *governhttp.Client
	root   *url.URL // of the API; pages elsewhere are refused
	me     string   // who is signed in; empty until asked
}

func rootOf(base string) (*url.URL, error) {
	root, err := url.Parse(base)
	if err != nil || root.Host == "" || root.Scheme != "http" && root.Scheme != "https" {
		return nil, connectorkit.Fail(connectorkit.Malformed, errRoot)
	}
	root.Path = strings.TrimSuffix(root.Path, "/")
	return root, nil
}

// page is one page of a list.
type page struct {
	rows  []jsontext.Value
	next  string // target of the next page; empty on the last
	total int
}

// get requests a target: a path below the root, with its query.
func (a *api) get(ctx context.Context, target string, into any) error {
	path, query, _ := strings.Cut(target, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return connectorkit.Fail(connectorkit.Malformed, errAway)
	}
	resp, err := a.client.Do(ctx, governhttp.Request{Path: path, Query: values})
	if err != nil {
		return err
	}
	if err := json.Unmarshal(resp.Body, into); err != nil {
		return connectorkit.Fail(connectorkit.Malformed, err)
	}
	return nil
}

// list requests one page. Its things stay raw, so that a malformed one spoils itself and not its page.
func (a *api) list(ctx context.Context, target string) (page, error) {
	var wire struct {
		Items *[]jsontext.Value `json:"items"`
		Next  *string           `json:"next"`
		Total int               `json:"total"`
	}
	if err := a.get(ctx, target, &wire); err != nil {
		return page{}, err
	}
	if wire.Items == nil {
		return page{}, connectorkit.Fail(connectorkit.Malformed, errFrame)
	}
	out := page{rows: *wire.Items, total: wire.Total}
	if wire.Next == nil || *wire.Next == "" {
		return out, nil
	}
	var err error
	out.next, err = a.target(*wire.Next)
	return out, err
}

// target is what an absolute address of the next page asks for. Its path is Spotify's to choose,
// but its host is not: the token goes nowhere else.
func (a *api) target(reference string) (string, error) {
	to, err := url.Parse(reference)
	if err != nil || to.Scheme != a.root.Scheme || to.Host != a.root.Host || to.User != nil {
		return "", connectorkit.Fail(connectorkit.Malformed, errAway)
	}
	path, below := strings.CutPrefix(to.EscapedPath(), a.root.EscapedPath()+"/")
	if !below || path == "" || strings.Contains(path, "..") {
		return "", connectorkit.Fail(connectorkit.Malformed, errAway)
	}
	if to.RawQuery != "" {
		path += "?" + to.RawQuery
	}
	return path, nil
}

// account is who is signed in, asked for once in a run. What another account does not have says
// nothing about this one.
func (a *api) account(ctx context.Context) (string, error) {
	if a.me != "" {
		return a.me, nil
	}
	var wire struct {
		ID string `json:"id"`
	}
	if err := a.get(ctx, "v1/me", &wire); err != nil {
		return "", err
	}
	if wire.ID == "" {
		return "", connectorkit.Fail(connectorkit.Malformed, errFrame)
	}
	a.me = wire.ID
	return a.me, nil
}
