package describe

import (
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/declarative/document"
	"github.com/pdpp-go/pdpp/declarative/expression"
)

// Place is where a value goes.
type Place string

// The places. A secret must not go to the last four.
const (
	InSignIn  Place = "sign-in"
	InAddress Place = "address"
	InQuery   Place = "query"
	InHeader  Place = "header"
	InBody    Place = "body"
	InPaging  Place = "paging"
	InRule    Place = "rule"
	InHost    Place = "host name"
	InRecord  Place = "record"
	InFilter  Place = "filter"
	InMessage Place = "error text"
)

// SecretFlow is a secret setting and a place that it goes to.
type SecretFlow struct {
	Setting string // path with points
	Place   Place
	Streams []string
}

// flows follows secret settings through the templates of a document.
type flows struct {
	secrets []string // paths with points
	found   []SecretFlow
}

// newFlows collects the secrets: the settings that the form marks, and everything that authenticators read.
func newFlows(settings []Setting, doc *document.Document) *flows {
	f := &flows{}
	marked := map[string]bool{}
	for _, s := range settings {
		marked[s.Name()] = s.Secret
		if s.Secret {
			f.secrets = append(f.secrets, s.Name())
		}
	}
	for _, s := range doc.Streams {
		eachAuthenticator(s, func(c document.Component) {
			document.Walk(c, func(u document.Use) {
				_, login := c.(*document.SessionToken)
				for _, name := range settingsRead(u.Template) {
					if isCredential(u) || login && !isAddress(u) && soundsSecret(name) {
						f.addSecret(name)
					}
				}
			})
			if a, ok := c.(*document.OAuth); ok && a.Updater != nil {
				f.addSecret(strings.Join(RefreshTokenPath(a), "."))
			}
		})
	}
	for i := range settings {
		if slices.Contains(f.secrets, settings[i].Name()) {
			settings[i].Secret = true
		}
	}
	f.addDerived(doc)
	return f
}

// addDerived adds the settings that rules of the document make of secrets.
func (f *flows) addDerived(doc *document.Document) {
	for before := -1; before != len(f.secrets); {
		before = len(f.secrets)
		eachRuleField(doc, func(field *document.ConfigField) {
			if slices.ContainsFunc(settingsRead(field.Value), f.isSecret) {
				f.addSecret(pathSource(field.Path))
			}
		})
	}
}

// eachRuleField calls f for each setting that rules of the document add.
func eachRuleField(doc *document.Document, f func(*document.ConfigField)) {
	if doc.Spec == nil || doc.Spec.Rules == nil {
		return
	}
	rules := slices.Clone(doc.Spec.Rules.Transformations)
	for _, m := range doc.Spec.Rules.Migrations {
		rules = append(rules, m.Transformations...)
	}
	for _, rule := range rules {
		if add, ok := rule.(*document.ConfigAddFields); ok {
			for _, field := range add.Fields {
				f(field)
			}
		}
	}
}

// pathSource returns a path as it is in the document, with points.
func pathSource(path []document.Template) string {
	names := make([]string, len(path))
	for i, t := range path {
		names[i] = t.Source()
	}
	return strings.Join(names, ".")
}

func (f *flows) addSecret(name string) {
	if !slices.Contains(f.secrets, name) {
		f.secrets = append(f.secrets, name)
	}
}

// soundsSecret reports whether the name of a setting that a sign-in request sends is that of a secret.
func soundsSecret(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"password", "secret", "token", "key"}, func(word string) bool {
		return strings.Contains(name, word)
	})
}

// isCredential reports whether a member of an authenticator holds a credential.
func isCredential(u document.Use) bool {
	switch u.Component.(type) {
	case *document.Bearer, *document.APIKey:
		return u.Member == "api_token"
	case *document.JWT:
		return u.Member == "secret_key"
	case *document.Basic, *document.LegacySession:
		return u.Member == "password" || u.Member == "session_token"
	case *document.OAuth:
		return slices.Contains([]string{"client_secret", "refresh_token", "access_token_value"}, u.Member)
	}
	return false
}

// RefreshTokenPath returns the setting that holds the refresh token of an authenticator. It is nil if a template
// computes the token from several settings or from none.
func RefreshTokenPath(a *document.OAuth) []string {
	if a.Updater != nil {
		if len(a.Updater.RefreshTokenPath) > 0 {
			return a.Updater.RefreshTokenPath
		}
		return []string{"credentials", "refresh_token"}
	}
	if name := onlySetting(a.RefreshToken); name != "" {
		return strings.Split(name, ".")
	}
	return nil
}

// settingsRead returns the settings that a template reads, only the longest path of each.
func settingsRead(t document.Template) []string {
	var names []string
	for _, path := range t.Paths() {
		if path.Variable != expression.Config || len(path.Members) == 0 {
			continue
		}
		members := path.Members
		if last := members[len(members)-1]; len(members) > 1 && (last == "get" || last == "split" || last == "strip") {
			members = members[:len(members)-1]
		}
		names = append(names, strings.Join(members, "."))
	}
	return slices.DeleteFunc(names, func(name string) bool {
		return slices.ContainsFunc(names, func(other string) bool { return strings.HasPrefix(other, name+".") })
	})
}

// isSecret reports whether reading the setting yields a secret: it is one, or an object that contains one.
func (f *flows) isSecret(name string) bool {
	return slices.ContainsFunc(f.secrets, func(secret string) bool {
		return secret == name || strings.HasPrefix(secret, name+".")
	})
}

// follow records where a stream sends secrets. It reports false if a secret goes where it must not.
func (f *flows) follow(s *document.Stream) (document.Problem, bool) {
	var problem *document.Problem
	var seen []SecretFlow
	note := func(u document.Use, place Place, name string) {
		switch place {
		case InHost, InRecord, InFilter, InMessage:
			if problem == nil {
				problem = &document.Problem{Level: document.StreamOnly, Path: document.BaseOf(u.Component).Path + "." + u.Member,
					Stream:  s.Name,
					Message: "puts the secret setting " + name + " into a " + string(place),
					Fix:     "Remove the setting from this template."}
			}
			return
		}
		seen = append(seen, SecretFlow{Setting: name, Place: place})
	}
	document.Walk(s, func(u document.Use) {
		place := placeOf(u)
		for _, name := range settingsRead(u.Template) {
			if f.isSecret(name) {
				note(u, place, name)
			}
		}
		if !isAddress(u) {
			return
		}
		authority := authorityOf(u.Template.Source())
		if where := foreignHost(authority); where != "" && problem == nil {
			problem = &document.Problem{Level: document.StreamOnly, Path: document.BaseOf(u.Component).Path + "." + u.Member,
				Stream: s.Name, Message: "takes the host name from " + where + ", which is known only at run time",
				Fix: "Write the host name, or take it from a setting."}
		}
		for _, name := range hostSettings(u.Template) {
			if f.isSecret(name) && hostContains(u, name) {
				note(u, InHost, name)
			}
		}
	})
	if problem != nil {
		return *problem, false
	}
	for _, flow := range seen {
		f.add(flow.Setting, flow.Place, s.Name)
	}
	return document.Problem{}, true
}

// isAddress reports whether a template decides the host of a request.
func isAddress(u document.Use) bool {
	switch u.Component.(type) {
	case *document.Requester:
		return u.Member == "url_base" || u.Member == "url"
	case *document.OAuth:
		return u.Member == "token_refresh_endpoint"
	}
	return false
}

func (f *flows) add(name string, place Place, stream string) {
	for i := range f.found {
		if flow := &f.found[i]; flow.Setting == name && flow.Place == place {
			if !slices.Contains(flow.Streams, stream) {
				flow.Streams = append(flow.Streams, stream)
			}
			return
		}
	}
	f.found = append(f.found, SecretFlow{name, place, []string{stream}})
}

func (f *flows) list() []SecretFlow {
	slices.SortStableFunc(f.found, func(a, b SecretFlow) int {
		return strings.Compare(a.Setting+"\x00"+string(a.Place), b.Setting+"\x00"+string(b.Place))
	})
	return f.found
}

// placeOf returns where the result of a template goes.
func placeOf(u document.Use) Place {
	switch u.Component.(type) {
	case *document.Bearer, *document.APIKey, *document.Basic, *document.OAuth, *document.JWT, *document.SessionKey,
		*document.LegacySession:
		return InSignIn
	case *document.Requester:
		switch u.Member {
		case "request_parameters":
			return InQuery
		case "request_headers":
			return InHeader
		case "request_body_data", "request_body_json":
			return InBody
		}
		return InAddress
	case *document.PlainBody, *document.FormBody, *document.JSONBody:
		return InBody
	case *document.AddedField, *document.KeysReplace, *document.KeyTransformation, *document.DpathFlatten,
		*document.ListRouter:
		return InRecord
	case *document.RecordFilter, *document.AddFields, *document.RemoveFields:
		return InFilter
	case *document.ResponseFilter:
		if u.Member == "error_message" {
			return InMessage
		}
		return InRule
	case *document.Paginator, *document.CursorPagination, *document.PageIncrement, *document.OffsetIncrement:
		return InPaging
	}
	return InRule
}
