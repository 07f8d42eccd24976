package source

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
	"github.com/pdpp-go/pdpp/declarative/describe"
	"github.com/pdpp-go/pdpp/declarative/document"
	"github.com/pdpp-go/pdpp/declarative/expression"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// ErrUnsupported means that a document needs something that this package does not do.
var ErrUnsupported = errors.New("is not supported")

// New returns the connector of a described document. All streams of the description must be able to run: see
// CheckStream.
func New(d *describe.Description) (connectorkit.Connector, error) {
	text, err := d.Manifest.JSON()
	if err != nil {
		return connectorkit.Connector{}, fmt.Errorf("write the manifest: %w", err)
	}
	p := &program{Description: d}
	src := rest.Source{Base: p.base, Auth: rest.AuthenticatorFunc(p.allowOtherHosts),
		Client: p.setPace, MaxBody: maxAnswer}
	shared := p.sharedLists()
	for _, own := range p.inOrder() {
		s, err := p.compile(own.Document, own.ID)
		if err != nil {
			return connectorkit.Connector{}, fmt.Errorf("stream %s: %w", own.Name, err)
		}
		s.key, s.keyless, s.guessed = own.Key, own.Keyless, own.GuessedKey
		s.typed = d.Document.Metadata.Member("pdpp").Member("typed").IsTrue()
		declared := s.declaration()
		declared.Shared = shared[own.ID] && s.window == nil
		src.Streams = append(src.Streams, declared)
	}
	if len(src.Streams) == 0 {
		return connectorkit.Connector{}, errors.New("the document has no stream that can run")
	}
	return rest.New(text, src)
}

// maxAnswer bounds an answer that is read as a whole, unpacked.
const maxAnswer = 64 << 20

// CheckStream returns why a stream cannot run, or nil.
func CheckStream(s *document.Stream) error {
	_, err := (&program{}).compile(s, s.Name)
	return err
}

// program is a document during all runs of a process.
type program struct {
	*describe.Description
	parents []*document.Stream // that are no streams of the description
}

// sharedLists returns the ids of the streams that are parents of others.
func (p *program) sharedLists() map[string]bool {
	out := map[string]bool{}
	for i := range p.Streams {
		for _, parent := range parentsOf(p.Streams[i].Document) {
			if own := p.sameStream(parent); own != nil {
				out[own.ID] = true
			}
		}
	}
	return out
}

// inOrder returns the streams with every parent before its children, so that a run reads the parent once.
func (p *program) inOrder() []*describe.Stream {
	var out []*describe.Stream
	var add func(s *describe.Stream)
	add = func(s *describe.Stream) {
		for _, parent := range parentsOf(s.Document) {
			if own := p.sameStream(parent); own != nil && own != s {
				add(own)
			}
		}
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	for i := range p.Streams {
		add(&p.Streams[i])
	}
	return out
}

// parentsOf returns the parents of a stream, and theirs.
func parentsOf(s *document.Stream) (out []*document.Stream) {
	for _, router := range s.Retriever.PartitionRouters {
		if sub, ok := router.(*document.SubstreamRouter); ok {
			for _, parent := range sub.Parents {
				out = append(append(out, parentsOf(parent.Stream)...), parent.Stream)
			}
		}
	}
	return out
}

// stream is a stream of the document with what its functions need.
type stream struct {
	*document.Stream
	program *program
	name    string // in the manifest
	key     []string
	keyless bool
	guessed bool // the key is the member id, which the document does not name as the key
	typed   bool // records must have the declared types, so that a key cannot be made up
	pages   *pager
	routers []router
	single  bool    // the provider has one record for each parent
	window  *window // nil for a stream that is not read by time
}

// compile prepares a stream.
func (p *program) compile(s *document.Stream, name string) (*stream, error) {
	c := &stream{Stream: s, program: p, name: name}
	var err error
	if c.pages, err = newPager(c, s.Retriever.Paginator); err != nil {
		return nil, err
	}
	if err := cmp.Or(checkCredential(s.Retriever.Requester.Authenticator),
		checkTransformations(s.Transformations)); err != nil {
		return nil, err
	}
	for _, component := range s.Retriever.PartitionRouters {
		r, err := p.router(component)
		if err != nil {
			return nil, err
		}
		c.routers = append(c.routers, r)
	}
	if s.IncrementalSync != nil && c.sendsWindow() {
		c.window = &window{Cursor: s.IncrementalSync, stream: c}
	}
	c.single = c.hasSingleRecords()
	return c, nil
}

// declaration returns the stream for the engine.
func (s *stream) declaration() rest.Stream {
	out := rest.Stream{
		Name: s.name, Prepare: s.prepare, Select: s.selectItems, Admit: s.admit, Read: s.read, Inspect: s.inspect,
	}
	if s.pages != nil {
		out.Pages = s.pages
	}
	keepMissing := s.keyless || s.IncrementalSync != nil && (s.IncrementalSync.ClientSide || s.IncrementalSync.DataFeed)
	if len(s.routers) > 0 {
		each := rest.EachPartition{Parts: s.partitions, Single: s.single, KeepMissing: keepMissing,
			Most: maxPartitions}
		if s.window != nil {
			windows := s.window.sync()
			each.Windows = &windows
		}
		out.Sync = each
		return out
	}
	out.Optional = isIgnored
	switch {
	case s.window != nil:
		out.Sync = s.window.sync()
	case keepMissing:
		out.Sync = readAll
	default:
		out.Sync = rest.FullList{}
	}
	return out
}

// readAll reads everything in every run and deletes nothing.
var readAll = rest.DateWindows{Layout: bookmarkTime, KeepMissing: true,
	Start: func(*rest.Run) (time.Time, error) { return time.Unix(0, 0).UTC(), nil }}

// runState is what a run keeps.
type runState struct {
	config  expression.Value
	now     time.Time
	address string                       // scheme and host of a simulator
	root    string                       // scheme and host of the first stream
	hosts   []string                     // that the owner's settings and the file name
	slices  map[*stream]expression.Value // stream slices of the last requests, with the bounds of the window
	tokens  tokenKeepers
	keys    map[*pager]*newKeys           // of the partition that is read
	ids     map[*stream]map[string]uint64 // contents of the last page of streams with a guessed key, by id
	problem error
}

// stateOf returns the state of a run.
func (p *program) stateOf(r *rest.Run) *runState {
	state, _ := r.Memory("declarative", func() any { return p.newState(r.Setup) }).(*runState)
	return state
}

func (p *program) newState(s *connectorkit.Setup) *runState {
	state := &runState{now: s.Now().UTC(), ids: map[*stream]map[string]uint64{},
		slices: map[*stream]expression.Value{}, keys: map[*pager]*newKeys{}}
	raw, err := configOf(p.Settings, s.Env)
	if spec := p.Document.Spec; err == nil && spec != nil {
		raw, err = applyRules(spec.Rules, raw, func() *expression.Context { return state.context(spec) })
	}
	if err == nil {
		state.config, err = expression.ParseJSON(raw)
	}
	if err != nil {
		state.problem = connectorkit.Fail(connectorkit.Malformed, err)
		return state
	}
	if name := p.AddressVariable(); slices.Contains(p.Manifest.EnvNames(), name) {
		state.address = s.Env(name)
	}
	for i := range p.Streams {
		state.problem = cmp.Or(state.problem, state.allowHosts(p.Streams[i].Document))
	}
	if state.problem == nil {
		state.problem = p.checkOwnServer(s, state)
	}
	return state
}

// allowHosts adds the hosts of a stream and its parents, which depend on nothing but the settings.
func (state *runState) allowHosts(s *document.Stream) error {
	r := s.Retriever.Requester
	root, err := state.allowHost(cmp.Or(r.URLBase, r.URL), r)
	if err != nil {
		return err
	}
	state.root = cmp.Or(state.root, root)
	credential, err := state.chosenCredential(r.Authenticator)
	if err != nil {
		return err
	}
	for _, a := range tokenAddresses(credential) {
		if _, err := state.allowHost(a.template, a.owner); err != nil {
			return err
		}
	}
	for _, router := range s.Retriever.PartitionRouters {
		if sub, ok := router.(*document.SubstreamRouter); ok {
			for _, parent := range sub.Parents {
				if err := state.allowHosts(parent.Stream); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// allowHost adds the host of an address, and returns its scheme and host.
func (state *runState) allowHost(address document.Template, owner document.Component) (string, error) {
	text, literal := literalRoot(address.Source())
	if !literal {
		if address.Uses().Has(expression.StreamSlice) {
			return "", nil // a host that a record names is not one that the owner has seen
		}
		var err error
		if text, err = templateText(address, state.context(owner)); err != nil {
			return "", err
		}
	}
	to, err := url.Parse(strings.TrimSpace(text))
	if err != nil || to.Host == "" || to.User != nil {
		return "", connectorkit.Fail(connectorkit.Malformed,
			errors.New("the address of the API is not an absolute address"))
	}
	if to.Scheme != "https" && (to.Scheme != "http" || literal) {
		return "", connectorkit.Fail(connectorkit.Malformed,
			errors.New("the address of the API does not begin with https://"))
	}
	if host := strings.ToLower(to.Host); !slices.Contains(state.hosts, host) {
		state.hosts = append(state.hosts, host)
	}
	return to.Scheme + "://" + to.Host, nil
}

// literalRoot returns scheme and host of an address, if they contain no template.
func literalRoot(address string) (string, bool) {
	scheme, rest, found := strings.Cut(strings.TrimSpace(address), "://")
	host, _, _ := strings.Cut(rest, "/")
	return scheme + "://" + host, found && host != "" && !strings.ContainsAny(scheme+host, "{}")
}

// context returns the inputs of the templates of a component.
func (state *runState) context(c document.Component) *expression.Context {
	out := &expression.Context{Now: state.now, Zone: time.LoadLocation}
	out.Set(expression.Config, state.config)
	out.Set(expression.Parameters, parametersOf(c))
	out.Set(expression.StreamSlice, emptyObject)
	return out
}

// parametersOf returns the parameters of a component. Without any it has an empty object.
func parametersOf(c document.Component) expression.Value {
	if p := document.BaseOf(c).Parameters; !p.IsNull() {
		return p
	}
	return emptyObject
}

// base returns scheme and host of the first stream, and checks the settings.
func (p *program) base(s *connectorkit.Setup) (string, error) {
	state := p.newState(s)
	if state.problem != nil {
		return "", state.problem
	}
	return state.replaceHost(state.root), nil
}

// allowOtherHosts lets the client reach the hosts of all streams.
func (p *program) allowOtherHosts(s *connectorkit.Setup, o *governhttp.Options) error {
	state := p.newState(s)
	o.Hosts = append(o.Hosts, state.hosts...)
	if p.ServerSignIn != nil {
		o.Token = s.Token(p.ServerSignIn.AccessTokenEnv)
	}
	if !p.isOwnServer(s, state) {
		o.Dial = dialPublic
	}
	return state.problem
}

// replaceHost returns an address at the simulator, if there is one.
func (state *runState) replaceHost(address string) string {
	if state.address == "" {
		return address
	}
	to, err := url.Parse(address)
	own, ownErr := url.Parse(state.address)
	if err != nil || ownErr != nil {
		return address
	}
	to.Scheme, to.Host = own.Scheme, own.Host
	return to.String()
}

// templateText evaluates a template as a text. An absent template is empty.
func templateText(t document.Template, c *expression.Context) (string, error) {
	if !t.IsSet() {
		return "", nil
	}
	text, err := t.Text(c)
	if err != nil {
		return "", connectorkit.Fail(connectorkit.Malformed, err)
	}
	return text, nil
}

// joinAddress joins a base address and a path as the original does: without repeated slashes in the path.
func joinAddress(base, path string) string {
	if path = strings.TrimLeft(path, "/"); path == "" {
		return base
	}
	if strings.HasPrefix(path, "http://") || strings.HasPrefix(path, "https://") {
		return path
	}
	joined, query, hasQuery := strings.Cut(strings.TrimSuffix(base, "/")+"/"+path, "?")
	scheme, rest, found := strings.Cut(joined, "://")
	if !found {
		return joined
	}
	for strings.Contains(rest, "//") {
		rest = strings.ReplaceAll(rest, "//", "/")
	}
	joined = scheme + "://" + rest
	if hasQuery {
		joined += "?" + query
	}
	return joined
}
