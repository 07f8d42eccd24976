package rest

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// Source declares a source that is read with requests for JSON. The manifest declares its streams and their schemas.
type Source struct {
	// BaseURL is the root of all paths.
	BaseURL string
	// BaseVariable is a variable that replaces BaseURL, for a simulator or a server of the owner's own. Empty means
	// PDPP_KEY_BASE_URL of the manifest's key, if the manifest declares it.
	BaseVariable string
	// Base returns the root of a run instead, for a root that depends on several settings.
	Base func(s *connectorkit.Setup) (string, error)
	// Hosts are further hosts of the provider, as in governhttp.Options.
	Hosts []string

	// Auth adds the owner's credential to the client. Nil sends none.
	Auth Authenticator
	// Client changes the options of a run's client, for what no other member describes. Its Classify is set.
	Client func(s *connectorkit.Setup, o *governhttp.Options) error
	// Header is sent with every request.
	Header http.Header
	// MaxBody and Timeout bound an answer. Zero means the bounds of governhttp.
	MaxBody int64
	Timeout time.Duration

	// QuotaOf lists the variables with values that identify a shared quota: an app, a token. If PerAccount is set, the
	// account is a part of it, and the quota is joined when the account is known.
	QuotaOf    []string
	PerAccount bool
	// Pace adjusts the governor where the provider documents its limits. Nil leaves it to learn them.
	Pace func(*governor.Config)

	// Quota is a documented quota that the provider does not report. Nil means none.
	Quota *RequestQuota

	// Settings are values of the owner that replace {name} in requests.
	Settings []Setting

	// Pools are groups of requests with a pace of their own, for a provider that limits each of its methods.
	Pools []Pool

	// Account identifies who is signed in. Nil means that no request reveals it.
	Account *Lookup

	// Errors classify refusals, the first rule that applies. The status classifies the others.
	Errors []ErrorRule
	// LimitWindow is the window by the provider's clock that a limit lasts which names no time. Zero means unknown.
	LimitWindow time.Duration
	// Inspect sees every response before it is classified. It may set a quota or a wait that the headers do not name,
	// and may return the error that the response means; nil leaves that to Errors.
	Inspect func(r *governhttp.Response) error

	// Streams are collected in this order: put cheap ones first.
	Streams []Stream
}

// Lookup is one member of one answer.
type Lookup struct {
	Request
	Member string // path of names, such as user.id; a * means the elements of a list, of which the first counts
	// Find returns the value instead, for an answer that describes several accounts. Empty means that none is meant.
	Find func(r *Run, a *Answer) (string, error)
	// Optional means that a refusal leaves the value unknown, unless it has a message for the owner.
	Optional bool
	// Further lists members that identify the account together with Member. Colons join them.
	Further []string
}

// Pool is a group of requests with its own pace and its own part of the quota. Stream.Pool names it.
type Pool struct {
	Name string
	Pace func(*governor.Config)
}

// Setting is a value of the owner, by its name in requests.
type Setting struct {
	Name, Variable, Default string
}

// New returns the connector of a declared source. It returns an error if declaration and manifest do not agree.
func New(manifestJSON []byte, src Source) (connectorkit.Connector, error) {
	var plans map[string]*recordPlan
	c, err := connectorkit.New(manifestJSON, nil)
	if err != nil {
		return c, err
	}
	if plans, err = compileStreams(c.Manifest, src.Streams); err != nil {
		return c, err
	}
	c.Open = func(ctx context.Context, s *connectorkit.Setup) ([]connectorkit.Collector, error) {
		return src.open(ctx, s, c.Manifest, plans)
	}
	return c, nil
}

// ServerURL returns the root of an API at a server of the owner's choice. A variable holds its address, which may lack
// its scheme and may end with the path of the API. An unreadable one ends the run with the code
// name_address_unreadable, for a variable NAME_URL.
func ServerURL(variable, path string) func(s *connectorkit.Setup) (string, error) {
	return func(s *connectorkit.Setup) (string, error) {
		address := strings.TrimSpace(s.Env(variable))
		if !strings.Contains(address, "://") {
			address = "https://" + address
		}
		server, err := url.Parse(address)
		if err != nil || server.Host == "" || server.User != nil || server.Scheme != "https" && server.Scheme != "http" {
			return "", connectorkit.EndRun(strings.ToLower(strings.TrimSuffix(variable, "_URL"))+"_address_unreadable",
				"the address of the server cannot be read: enter it as in https://server.example and connect again",
				protocol.ManualActionRequired, false)
		}
		return server.Scheme + "://" + server.Host + strings.TrimSuffix(strings.TrimRight(server.Path, "/"), path) + path, nil
	}
}

// MustNew is New for a built-in source. It panics if declaration and manifest do not agree.
func MustNew(manifestJSON []byte, src Source) connectorkit.Connector {
	c, err := New(manifestJSON, src)
	if err != nil {
		panic(err)
	}
	return c
}

// open prepares a run.
func (src Source) open(ctx context.Context, s *connectorkit.Setup, m *manifest.Manifest,
	plans map[string]*recordPlan) ([]connectorkit.Collector, error) {
	base, err := src.baseURL(s, m)
	if err != nil {
		return nil, err
	}
	root, err := parseRoot(base)
	if err != nil {
		return nil, err
	}
	if len(src.QuotaOf) > 0 && !src.PerAccount {
		if err := s.SharedQuota(ctx, connectorkit.SharedQuota{Account: quotaName(s, src.QuotaOf)}); err != nil {
			return nil, err
		}
	}
	classify := src.Classify
	if src.Quota != nil {
		counter := &requestCounter{RequestQuota: *src.Quota, now: time.Now}
		classify = func(r *governhttp.Response) error {
			counter.inspect(r)
			return src.Classify(r)
		}
	}
	o := governhttp.Options{BaseURL: base, Hosts: src.Hosts, Header: src.Header.Clone(), Classify: classify,
		MaxBody: src.MaxBody, Timeout: src.Timeout}
	if src.Auth != nil {
		if err := src.Auth.Authorize(s, &o); err != nil {
			return nil, err
		}
	}
	if src.Client != nil {
		if err := src.Client(s, &o); err != nil {
			return nil, err
		}
	}
	var adjust []func(*governor.Config)
	if src.Pace != nil {
		adjust = append(adjust, src.Pace)
	}
	client, err := s.HTTP(o, adjust...)
	if err != nil {
		return nil, err
	}
	pools := map[string]*governhttp.Client{"": client}
	for _, p := range src.Pools {
		if err := s.SharedQuota(ctx, connectorkit.SharedQuota{Sender: p.Name, Provider: m.Key() + " " + p.Name,
			Account: quotaName(s, src.QuotaOf)}); err != nil {
			return nil, err
		}
		o.Sender = s.Sender(p.Name, p.Pace)
		if pools[p.Name], err = s.HTTP(o); err != nil {
			return nil, err
		}
	}
	r := &Run{Setup: s, Client: client, pools: pools, source: &src, root: root, plans: plans,
		settings: map[string]string{},
		parents:  map[string]*itemList{}, answers: map[string]*Answer{}}
	s.AtEnd(func(context.Context) {
		for _, list := range r.lists {
			list.Remove()
		}
	})
	for _, v := range src.Settings {
		r.settings[v.Name] = cmp.Or(s.Env(v.Variable), v.Default)
	}
	collectors := make([]connectorkit.Collector, 0, len(src.Streams))
	for i := range src.Streams {
		c, err := r.collector(&src.Streams[i])
		if err != nil {
			return nil, err
		}
		collectors = append(collectors, c)
	}
	return collectors, nil
}

func (src Source) baseURL(s *connectorkit.Setup, m *manifest.Manifest) (string, error) {
	if src.Base != nil {
		return src.Base(s)
	}
	variable := src.BaseVariable
	usual := "PDPP_" + strings.ToUpper(m.Key()) + "_BASE_URL"
	if variable == "" && slices.Contains(m.EnvNames(), usual) {
		variable = usual
	}
	if variable != "" {
		if own := s.Env(variable); own != "" {
			return own, nil
		}
	}
	return src.BaseURL, nil
}

func quotaName(s *connectorkit.Setup, variables []string) string {
	var values []string
	for _, name := range variables {
		values = append(values, s.Env(name))
	}
	return strings.Join(values, " ")
}
