package rest

import (
	"context"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest/internal/rawjson"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// Run is a source during one run. Hooks use it to make requests. Its methods are for one goroutine, but for Fetch and
// Memory.
type Run struct {
	Setup  *connectorkit.Setup
	Client *governhttp.Client

	pools    map[string]*governhttp.Client
	source   *Source
	root     *url.URL
	plans    map[string]*recordPlan
	known    bool // the account was asked for
	account  string
	person   jsontext.Value // answer with the account
	clock    time.Time
	settings map[string]string
	answers  map[string]*Answer   // of streams that reuse them, by request
	parents  map[string]*itemList // complete lists of this run, by stream
	lists    []*itemList
	mu       sync.Mutex // of memory
	memory   map[string]any
}

// Answer is a good response: a whole JSON value, or nothing if Unchanged.
type Answer struct {
	*governhttp.Response
	// Unchanged means that a conditional request found the known version.
	Unchanged bool
	// NoList is set by Select if the answer lacks the list. Absence in such an answer proves no deletion.
	NoList bool

	run *Run
}

// Run returns the run that made the request.
func (a *Answer) Run() *Run { return a.run }

// Member returns the value at a path of names, such as paging.next. It returns nil if there is none.
func (a *Answer) Member(path string) jsontext.Value {
	return rawjson.MemberAt(a.Body, rawjson.SplitPath(path))
}

// Text returns the text of a string or number at a path. It is empty for anything else.
func (a *Answer) Text(path string) string {
	text, _ := rawjson.TextOf(a.Member(path))
	return text
}

// Target returns what the absolute address of a next page asks for, below the provider's root. The provider chooses the
// path, but not the host: the credential is sent nowhere else.
func (a *Answer) Target(address string) (string, error) {
	root := a.run.root
	to, err := url.Parse(address)
	if err != nil || to.Scheme != root.Scheme || to.Host != root.Host || to.User != nil {
		return "", malformed(errForeignPage)
	}
	path, below := strings.CutPrefix(to.EscapedPath(), root.EscapedPath()+"/")
	if !below || path == "" || strings.Contains(path, "..") {
		return "", malformed(errForeignPage)
	}
	if to.RawQuery != "" {
		path += "?" + to.RawQuery
	}
	return path, nil
}

// parseRoot parses the address that all paths are below.
func parseRoot(base string) (*url.URL, error) {
	root, err := url.Parse(base)
	if err != nil || root.Host == "" || root.Scheme != "http" && root.Scheme != "https" {
		return nil, malformed(errBaseURL)
	}
	root.Path = strings.TrimSuffix(root.Path, "/")
	root.RawPath = strings.TrimSuffix(root.RawPath, "/")
	return root, nil
}

// Fetch makes one request. The client waits and retries.
func (r *Run) Fetch(ctx context.Context, q governhttp.Request) (*Answer, error) {
	return r.FetchFrom(ctx, "", q)
}

// FetchFrom is Fetch with the pace of a pool of the source.
func (r *Run) FetchFrom(ctx context.Context, pool string, q governhttp.Request) (*Answer, error) {
	client := r.pools[pool]
	if client == nil {
		client = r.Client
	}
	resp, err := client.Do(ctx, q)
	if err != nil {
		return nil, err
	}
	return &Answer{Response: resp, Unchanged: resp.Status == 304, run: r}, nil
}

// fetchInOrder is Fetch for the one goroutine that walks a list. It follows the provider's clock.
func (r *Run) fetchInOrder(ctx context.Context, pool string, q governhttp.Request) (*Answer, error) {
	a, err := r.FetchFrom(ctx, pool, q)
	if err == nil {
		r.clock = clockOf(a.Response)
	}
	return a, err
}

// Memory returns what hooks keep under a name during the run. The first call makes it.
func (r *Run) Memory(name string, initial func() any) any {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.memory[name]; !known {
		if r.memory == nil {
			r.memory = map[string]any{}
		}
		r.memory[name] = initial()
	}
	return r.memory[name]
}

// Now returns the provider's time of the last answer, or our own before the first one.
func (r *Run) Now() time.Time {
	if r.clock.IsZero() {
		return r.Setup.Now()
	}
	return r.clock
}

// AccountText returns a text of the answer that identified the account, requested once per run.
func (r *Run) AccountText(ctx context.Context, path string) (string, error) {
	if _, err := r.Account(ctx); err != nil {
		return "", err
	}
	text, _ := rawjson.TextOf(rawjson.MemberAt(r.person, rawjson.SplitPath(path)))
	return text, nil
}

// AccountNumber returns a number of the answer that identified the account. It returns false if there is none, or if
// this run has not requested it.
func (r *Run) AccountNumber(path string) (int64, bool) {
	if path == "" || !r.known {
		return 0, false
	}
	n, err := strconv.ParseInt(string(rawjson.MemberAt(r.person, rawjson.SplitPath(path))), 10, 64)
	return n, err == nil
}

// Account returns the id of the signed-in account, requested once per run. It is empty if the source does not know it.
func (r *Run) Account(ctx context.Context) (string, error) {
	look := r.source.Account
	if look == nil || r.known {
		return r.account, nil
	}
	q, err := look.build(Partition{}, r.settings)
	if err != nil {
		return "", err
	}
	a, err := r.fetchInOrder(ctx, "", q)
	switch {
	case err != nil && look.Optional && IfUnserved(err):
		r.known = true
		return "", nil
	case err != nil:
		return "", err
	}
	id := ""
	for _, v := range rawjson.ValuesAt(a.Body, rawjson.SplitPath(look.Member)) {
		if id, _ = rawjson.TextOf(v); id != "" {
			break
		}
	}
	if look.Find != nil {
		if id, err = look.Find(r, a); err != nil {
			return "", err
		}
	}
	if id == "" || id == "0" {
		if !look.Optional {
			return "", malformed(errNoAccount)
		}
		id = ""
	}
	for _, path := range look.Further {
		more := a.Text(path)
		if more == "" {
			return "", malformed(errNoAccount)
		}
		id += ":" + more
	}
	if r.source.PerAccount && id != "" {
		if err := r.Setup.SharedQuota(ctx, connectorkit.SharedQuota{
			Account: quotaName(r.Setup, r.source.QuotaOf) + " " + id}); err != nil {
			return "", err
		}
	}
	r.account, r.person, r.known = id, a.Body, true
	r.answers[q.Path+"?"+q.Query.Encode()] = a
	return id, nil
}

// List makes one request for a partition and returns the list at a path of its answer, for hooks.
func (r *Run) List(ctx context.Context, d Request, part Partition, items string) ([]jsontext.Value, error) {
	q, err := d.build(part, r.settings)
	if err != nil {
		return nil, malformed(err)
	}
	a, err := r.fetchInOrder(ctx, "", q)
	if err != nil {
		return nil, err
	}
	rows, ok := rawjson.ListAt(a.Body, rawjson.SplitPath(items))
	if !ok {
		return nil, malformed(errNoList)
	}
	return rows, nil
}
