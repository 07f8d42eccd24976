package describe

import (
	"slices"

	"github.com/pdpp-go/pdpp/declarative/document"
	"github.com/pdpp-go/pdpp/declarative/expression"
	"github.com/pdpp-go/pdpp/declarative/review"
	"github.com/pdpp-go/pdpp/manifest"
)

// Description is what a document would do.
type Description struct {
	Streams  []Stream
	Disabled []Disabled
	Hosts    []Host
	Settings []Setting
	Secrets  []SecretFlow
	SignIn   []string // types of the authenticators that streams use
	// ServerSignIn is the sign-in that the server carries out. The connector then receives access tokens only, and the
	// settings of the exchange are not asked for. It is nil if the connector exchanges tokens itself.
	ServerSignIn *manifest.OAuth
	Notes        []string // warnings for the author
	Manifest     *manifest.Manifest
	Document     *document.Document
}

// Stream is a stream that will run.
type Stream struct {
	ID          string // name in our manifest
	Name        string // name in the document
	Method      string // GET, or POST, which may change something at the provider
	Key         []string
	Keyless     bool // the key is a digest of the record
	GuessedKey  bool // the document names no key, and the schema has a member id
	Incremental bool // a bound is sent, so that a run reads changes only
	ReadsAll    bool // the document names a cursor and sends no bound: every run reads everything
	Parents     []string
	Document    *document.Stream
}

// Disabled is a stream that will not run.
type Disabled struct {
	ID        string
	Name      string
	Path      string
	Component string // what is not supported, if that is the reason
	Reason    string // a sentence for the owner
	Fix       string
}

// Options name the connector.
type Options struct {
	Key  string // short name, such as todoist
	Name string // name shown to the owner; empty: the document's own, or the key
	// AsksForToken means that the owner enters a refresh token, even if the server could carry out the sign-in.
	AsksForToken bool
}

// Describe describes a document. The error is a document.Problems or a manifest.Problems: the additions in
// metadata.pdpp do not fit the manifest.
func Describe(doc *document.Document, o Options) (*Description, error) {
	d := &Description{Document: doc}
	d.Settings = settingsOf(doc, o.Key)
	names := map[string]bool{}
	for _, s := range doc.Disabled {
		d.Disabled = append(d.Disabled, Disabled{ID: manifest.StreamName(s.Name, names), Name: s.Name, Path: s.Path,
			Component: s.Component, Reason: s.Problem.Message, Fix: s.Problem.Fix})
	}
	flows := newFlows(d.Settings, doc)
	for _, s := range doc.Streams {
		id := manifest.StreamName(s.Name, names)
		if problem, ok := flows.follow(s); !ok {
			d.Disabled = append(d.Disabled, Disabled{ID: id, Name: s.Name, Path: problem.Path,
				Reason: problem.Message, Fix: problem.Fix})
			continue
		}
		d.Streams = append(d.Streams, describeStream(s, id))
	}
	d.Secrets = flows.list()
	d.Hosts = hostsOf(d.Streams)
	for _, s := range d.Streams {
		eachAuthenticator(s.Document, func(c document.Component) {
			if kind := document.BaseOf(c).Type; !slices.Contains(d.SignIn, kind) {
				d.SignIn = append(d.SignIn, kind)
			}
		})
	}
	if !o.AsksForToken {
		d.ServerSignIn = d.serverSignIn(o.Key)
	}
	if d.ServerSignIn != nil {
		d.Hosts = append(d.Hosts, Host{Name: authorityOf(d.ServerSignIn.AuthorizeURL), Use: review.SignInPage})
	}
	for _, p := range doc.Problems {
		if p.Level == document.Warning {
			d.Notes = append(d.Notes, p.Error())
		}
	}
	var err error
	d.Manifest, err = d.manifest(o)
	return d, err
}

// AddressVariable returns the variable that leads all requests to another scheme and host, such as those of a
// simulator. It is never the variable of a setting, which decides about one address only.
func (d *Description) AddressVariable() string {
	name := d.Manifest.EnvPrefix() + "_BASE_URL"
	if slices.ContainsFunc(d.Settings, func(s Setting) bool { return s.Env == name }) {
		return d.Manifest.EnvPrefix() + "_SIMULATOR_URL"
	}
	return name
}

// POST returns the names of the streams that send POST requests.
func (d *Description) POST() []string {
	var names []string
	for _, s := range d.Streams {
		if s.Method == "POST" {
			names = append(names, s.Name)
		}
	}
	return names
}

// DigestField is the key of a record without a key: the SHA-256 of its canonical form.
const DigestField = "_record_sha256"

func describeStream(s *document.Stream, id string) Stream {
	out := Stream{ID: id, Name: s.Name, Method: "GET", Document: s}
	if method := s.Retriever.Requester.Method; method != "" {
		out.Method = method
	}
	for _, router := range s.Retriever.PartitionRouters {
		if sub, ok := router.(*document.SubstreamRouter); ok {
			for _, parent := range sub.Parents {
				out.Parents = append(out.Parents, parent.Stream.Name)
			}
		}
	}
	properties := schemaOf(s).Member("properties")
	nested := false
	for _, path := range s.PrimaryKey {
		if len(path) == 1 {
			out.Key = append(out.Key, path[0])
		} else {
			nested = true
		}
	}
	switch {
	case nested:
		out.Key, out.Keyless = []string{DigestField}, true
	case len(out.Key) > 0:
	case properties.Member("id") != nil:
		out.Key, out.GuessedKey = []string{"id"}, true
	default:
		out.Key, out.Keyless = []string{DigestField}, true
	}
	if cursor := s.IncrementalSync; cursor != nil {
		out.Incremental = sendsBound(s)
		out.ReadsAll = !out.Incremental
	}
	return out
}

// sendsBound reports whether requests contain the window of the cursor.
func sendsBound(s *document.Stream) bool {
	cursor := s.IncrementalSync
	if cursor.StartOption != nil || cursor.EndOption != nil {
		return true
	}
	names := []string{"start_time", "end_time"}
	for _, field := range []document.Template{cursor.PartitionStart, cursor.PartitionEnd} {
		if field.IsSet() {
			names = append(names, field.Source())
		}
	}
	found := false
	document.Walk(s.Retriever.Requester, func(u document.Use) {
		for _, path := range u.Template.Paths() {
			if path.Variable == expression.StreamSlice && len(path.Members) > 0 &&
				slices.Contains(names, path.Members[0]) {
				found = true
			}
		}
	})
	return found
}

// schemaOf returns the schema of a stream, or nil.
func schemaOf(s *document.Stream) *document.Node {
	for _, loader := range s.SchemaLoaders {
		if inline, ok := loader.(*document.InlineSchema); ok {
			return inline.Schema
		}
	}
	return nil
}

// eachAuthenticator calls f for each authenticator that a stream or its parents can use.
func eachAuthenticator(s *document.Stream, f func(document.Component)) {
	eachStream(s, func(s *document.Stream) {
		switch a := s.Retriever.Requester.Authenticator.(type) {
		case nil:
		case *document.Selective:
			for _, name := range sortedNames(a.Authenticators) {
				f(a.Authenticators[name])
			}
		default:
			f(a)
		}
	})
}

// eachStream calls f for a stream and its parents.
func eachStream(s *document.Stream, f func(*document.Stream)) {
	f(s)
	for _, router := range s.Retriever.PartitionRouters {
		if sub, ok := router.(*document.SubstreamRouter); ok {
			for _, parent := range sub.Parents {
				eachStream(parent.Stream, f)
			}
		}
	}
}

func sortedNames(m map[string]document.Component) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
