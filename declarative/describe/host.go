package describe

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/connectorkit/publicaddress"
	"github.com/pdpp-go/pdpp/declarative/document"
	"github.com/pdpp-go/pdpp/declarative/expression"
)

// Host is a host that a document talks to.
type Host struct {
	Name     string   // such as api.example.com; with settings in braces: {subdomain}.example.com
	Settings []string // settings that the name depends on; empty: the name is fixed
	Use      string   // requests, sign-in
}

var (
	braces        = regexp.MustCompile(`\{\{.*?\}\}`)
	literalHost   = regexp.MustCompile(`https?://([A-Za-z0-9.-]+(?::\d+)?)(?:[/'"? ]|$)`)
	outsideValues = regexp.MustCompile(`\b(stream_(slice|partition|interval)|next_page_token|response|record)\b`)
	settingPath   = regexp.MustCompile(`config(?:\.get\(\s*['"]([^'"]+)['"]|\[\s*['"]([^'"]+)['"]\s*\]|\.(\w+))`)
)

// authorityOf returns the part of an address that decides its host, with templates.
func authorityOf(source string) string {
	source = strings.TrimSpace(source)
	if strings.Contains(source, "{%") {
		return source
	}
	// Text inside braces must not end the authority.
	masked := braces.ReplaceAllStringFunc(source, func(s string) string { return strings.Repeat("\x00", len(s)) })
	start := strings.Index(masked, "://")
	if start < 0 {
		start = 0
	} else {
		start += 3
	}
	end := strings.IndexAny(masked[start:], "/?#")
	if end < 0 {
		return source[start:]
	}
	return source[start : start+end]
}

// foreignHost returns the variable other than a setting that decides a host, or "".
func foreignHost(authority string) string {
	for _, template := range append(braces.FindAllString(authority, -1), statementsOf(authority)...) {
		if name := outsideValues.FindString(template); name != "" {
			return name
		}
	}
	return ""
}

func statementsOf(authority string) []string {
	if strings.Contains(authority, "{%") {
		return []string{authority}
	}
	return nil
}

// hostSettings returns the settings that become part of a host name. A setting that only chooses between hosts that the
// template names is not among them.
func hostSettings(t document.Template) []string {
	if !slices.ContainsFunc(hostsOfAddress(t.Source()), func(h Host) bool { return strings.Contains(h.Name, "{") }) {
		return nil
	}
	tops := settingsIn(authorityOf(t.Source()))
	return slices.DeleteFunc(settingsRead(t), func(name string) bool {
		top, _, _ := strings.Cut(name, ".")
		return !slices.Contains(tops, top)
	})
}

// hostContains reports whether the value of a setting changes the host name, and not only its presence. It evaluates
// the address with two values.
func hostContains(u document.Use, name string) bool {
	var hosts [2]string
	for i, value := range []string{"first-value", "other-value"} {
		config := map[string]any{}
		for _, read := range settingsRead(u.Template) {
			text := "value"
			if read == name {
				text = value
			}
			place := config
			members := strings.Split(read, ".")
			for _, member := range members[:len(members)-1] {
				inner, ok := place[member].(map[string]any)
				if !ok {
					inner = map[string]any{}
					place[member] = inner
				}
				place = inner
			}
			place[members[len(members)-1]] = text
		}
		raw, err := json.Marshal(config)
		if err != nil {
			return true
		}
		c := &expression.Context{}
		c.Set(expression.Config, expression.LazyJSON(raw))
		c.Set(expression.Parameters, document.BaseOf(u.Component).Parameters)
		address, err := u.Template.Text(c)
		if err != nil {
			return true
		}
		if hosts[i], err = hostName(address, true); err != nil {
			return true
		}
	}
	return hosts[0] != hosts[1]
}

// settingsIn returns the settings that appear in a template text.
func settingsIn(text string) []string {
	var names []string
	for _, found := range settingPath.FindAllStringSubmatch(text, -1) {
		for _, name := range found[1:] {
			if name != "" && name != "get" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// hostsOf returns the hosts of the streams that run.
func hostsOf(streams []Stream) []Host {
	var hosts []Host
	add := func(h Host) {
		if !slices.ContainsFunc(hosts, func(o Host) bool { return o.Name == h.Name && o.Use == h.Use }) {
			hosts = append(hosts, h)
		}
	}
	for _, s := range streams {
		logins := loginsOf(s.Document)
		eachAuthenticator(s.Document, func(c document.Component) {
			if a, ok := c.(*document.LegacySession); ok && a.API.IsSet() {
				for _, h := range hostsOfAddress(a.API.Source()) {
					h.Use = "sign-in by POST"
					add(h)
				}
			}
		})
		document.Walk(s.Document, func(u document.Use) {
			if !isAddress(u) {
				return
			}
			use := addressUse(u, logins)
			for _, h := range hostsOfAddress(u.Template.Source()) {
				h.Use = use
				add(h)
			}
		})
	}
	slices.SortStableFunc(hosts, func(a, b Host) int { return strings.Compare(a.Use+a.Name, b.Use+b.Name) })
	return hosts
}

// loginsOf returns the requesters that sign in for a stream or its parents.
func loginsOf(s *document.Stream) map[document.Component]bool {
	logins := map[document.Component]bool{}
	eachAuthenticator(s, func(c document.Component) {
		if a, ok := c.(*document.SessionToken); ok {
			logins[a.Login] = true
		}
	})
	return logins
}

// addressUse returns what an address is for.
func addressUse(u document.Use, logins map[document.Component]bool) string {
	r, ok := u.Component.(*document.Requester)
	switch {
	case !ok, ok && logins[r] && r.Method == "POST":
		return "sign-in by POST"
	case logins[r]:
		return "sign-in"
	}
	return "requests"
}

// hostsOfAddress returns the hosts that an address can have.
func hostsOfAddress(source string) []Host {
	authority := authorityOf(source)
	if !strings.Contains(authority, "{{") && !strings.Contains(authority, "{%") {
		return []Host{{Name: strings.ToLower(authority)}}
	}
	var hosts []Host
	for _, found := range literalHost.FindAllStringSubmatch(authority, -1) {
		hosts = append(hosts, Host{Name: strings.ToLower(found[1])})
	}
	settings := settingsIn(authority)
	name := braces.ReplaceAllStringFunc(authority, func(t string) string {
		return "{" + strings.Join(settingsIn(t), " or ") + "}"
	})
	if len(hosts) > 0 && (strings.Contains(name, "{%") || name == "{"+strings.Join(settings, " or ")+"}") {
		// The settings choose among the hosts that the template names.
		for i := range hosts {
			hosts[i].Settings = settings
		}
		return hosts
	}
	return append(hosts, Host{Name: name, Settings: settings})
}

// ResolveHosts returns the host names of all requests with the settings of the owner. A host name must be complete: no
// user, no path, and encrypted unless own is true.
func (d *Description) ResolveHosts(config expression.Value, own bool) ([]string, error) {
	var hosts []string
	var problem error
	for _, s := range d.Streams {
		unchosen := unchosenAddresses(s.Document, config)
		document.Walk(s.Document, func(u document.Use) {
			if problem != nil || !isAddress(u) || unchosen[u.Component] {
				return
			}
			c := &expression.Context{}
			c.Set(expression.Config, config)
			c.Set(expression.Parameters, document.BaseOf(u.Component).Parameters)
			c.Set(expression.StreamSlice, expression.NewObject(0).Value()) // it can be in the path
			address, err := u.Template.Text(c)
			if err != nil {
				problem = fmt.Errorf("address of %s: %w", s.Name, err)
				return
			}
			host, err := hostName(address, own)
			if err == nil {
				err = keepsLiterals(host, authorityOf(u.Template.Source()))
			}
			if err != nil {
				problem = fmt.Errorf("address of %s: %w", s.Name, err)
				return
			}
			if !slices.Contains(hosts, host) {
				hosts = append(hosts, host)
			}
		})
	}
	slices.Sort(hosts)
	return hosts, problem
}

// unchosenAddresses returns the components with addresses for ways to sign in that the settings do not choose.
func unchosenAddresses(s *document.Stream, config expression.Value) map[document.Component]bool {
	unchosen := map[document.Component]bool{}
	eachStream(s, func(s *document.Stream) {
		a, ok := s.Retriever.Requester.Authenticator.(*document.Selective)
		if !ok {
			return
		}
		value := config
		for _, name := range a.SelectionPath {
			value = value.Member(name)
		}
		for name, choice := range a.Authenticators {
			if name != expression.Print(value) {
				document.Walk(choice, func(u document.Use) { unchosen[u.Component] = true })
			}
		}
	})
	return unchosen
}

var plainHost = regexp.MustCompile(`(?i)^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*(:\d+)?$`)

// hostName returns the host of an address.
func hostName(address string, own bool) (string, error) {
	if !strings.Contains(address, "://") {
		address = "https://" + address
	}
	u, err := url.Parse(address)
	switch {
	case err != nil, u.Host == "":
		return "", fmt.Errorf("%q has no host", address)
	case u.User != nil:
		return "", fmt.Errorf("%q contains a user name", address)
	case !plainHost.MatchString(u.Host) && !strings.HasPrefix(u.Host, "["):
		return "", fmt.Errorf("%q is not the name of a host", u.Host)
	case own:
	case u.Scheme != "https":
		return "", fmt.Errorf("%q is not encrypted", address)
	case isPrivate(u.Hostname()):
		return "", fmt.Errorf("%q is an address of your own network", u.Host)
	}
	return strings.ToLower(u.Host), nil
}

// keepsLiterals checks that a setting did not cut off the fixed parts of a host name.
func keepsLiterals(host, authority string) error {
	first, last := strings.Index(authority, "{{"), strings.LastIndex(authority, "}}")
	if first < 0 || last < first || strings.Contains(authority, "{%") {
		return nil
	}
	prefix, suffix := strings.ToLower(authority[:first]), strings.ToLower(authority[last+2:])
	if !strings.HasPrefix(host, prefix) || !strings.HasSuffix(host, suffix) {
		return fmt.Errorf("%q does not have the form %s", host, prefix+"..."+suffix)
	}
	return nil
}

// isPrivate reports whether a host is this machine or in a private network.
func isPrivate(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") || strings.HasSuffix(host, ".local") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && !publicaddress.IsPublic(ip)
}
