package describe

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/declarative/document"
	"github.com/pdpp-go/pdpp/manifest"
)

// signInScopes are the scopes that the owner is asked for, and their separator.
type signInScopes struct {
	names     []string
	separator string
}

// serverSignIn returns the sign-in that the server carries out: the file describes its page, all requests use the
// tokens of one exchange, and the server sends that exchange as the file declares it. It returns nil otherwise; then
// the form asks for a refresh token, and the connector exchanges it.
func (d *Description) serverSignIn(key string) *manifest.OAuth {
	a := d.onlyOAuth()
	if a == nil || d.Document.Spec.Rules != nil || !exchangesAsUsual(a) || !d.asksForNothingElse(a) {
		return nil
	}
	flow := d.Document.Spec.AdvancedAuth.Specification.Member("oauth_connector_input_specification")
	tokenURL := a.TokenEndpoint.Source()
	if !isPublicAddress(tokenURL) || flow.Member("access_token_url").String() != tokenURL ||
		!exchangesCodeAsUsual(flow) {
		return nil
	}
	prefix := (&manifest.Manifest{ConnectorKey: key}).EnvPrefix()
	noPKCE := false
	o := &manifest.OAuth{TokenURL: tokenURL, AccessTokenEnv: prefix + "_OAUTH_TOKEN",
		ClientIDEnv: prefix + "_OAUTH_CLIENT_ID", ClientSecretEnv: prefix + "_OAUTH_CLIENT_SECRET",
		ClientAuth: manifest.ClientAuthBody, Rotation: a.Updater != nil, PKCE: &noPKCE,
		RegisterSteps: []string{"Register an app of your own at the provider.",
			"Enter its number and its secret here."},
		NeverAsked: "anything that the file does not name"}
	scopes := declaredScopes(flow)
	if !readConsentURL(flow, o, &scopes) {
		return nil
	}
	for _, name := range scopes.names {
		o.Scopes = append(o.Scopes, manifest.OAuthScope{Name: name, Label: name})
	}
	if scopes.separator != " " {
		o.ScopeSeparator = scopes.separator
	}
	return o
}

// onlyOAuth returns the authenticator that every stream uses, or nil if they differ or need no token. Components that
// were written once and referred to are equal in their templates.
func (d *Description) onlyOAuth() *document.OAuth {
	if d.Document.Spec == nil || d.Document.Spec.AdvancedAuth == nil {
		return nil
	}
	if kind := d.Document.Spec.AdvancedAuth.FlowType; kind != "" && kind != "oauth2.0" {
		return nil
	}
	var only *document.OAuth
	same := true
	for _, s := range d.Streams {
		eachStream(s.Document, func(s *document.Stream) {
			a, ok := s.Retriever.Requester.Authenticator.(*document.OAuth)
			if only == nil {
				only = a
			}
			same = same && ok && exchangeText(a) == exchangeText(only)
		})
	}
	if !same {
		return nil
	}
	return only
}

// exchangeText returns what distinguishes the exchanges of two authenticators.
func exchangeText(a *document.OAuth) string {
	var parts []string
	document.Walk(a, func(u document.Use) { parts = append(parts, u.Member+"="+u.Template.Source()) })
	return fmt.Sprint(parts, a.RefreshAsQuery, a.Updater != nil)
}

// exchangesAsUsual reports whether a refresh token is exchanged with the names and values of the protocol, in a form.
func exchangesAsUsual(a *document.OAuth) bool {
	for _, m := range []struct {
		template document.Template
		usual    string
	}{{a.ClientIDName, "client_id"}, {a.ClientSecretName, "client_secret"}, {a.RefreshTokenName, "refresh_token"},
		{a.AccessTokenName, "access_token"}, {a.ExpiresInName, "expires_in"}, {a.GrantTypeName, "grant_type"},
		{a.GrantType, "refresh_token"}} {
		if m.template.IsSet() && (!m.template.IsFixed() || m.template.Source() != m.usual) {
			return false
		}
	}
	if a.Updater != nil && !slices.Contains([]string{"", "refresh_token"}, a.Updater.RefreshTokenName) {
		return false
	}
	return !a.RefreshBody.IsSet() && !a.RefreshHeaders.IsSet() && !a.RefreshAsQuery && len(a.Scopes) == 0 &&
		!a.AccessToken.IsSet() && a.ExpiryFormat == "" && a.TokenEndpoint.IsSet() && a.TokenEndpoint.IsFixed() &&
		onlySetting(a.ClientID) != "" && onlySetting(a.ClientSecret) != "" && RefreshTokenPath(a) != nil
}

// signInSettings returns the settings that the server replaces by its own registration and tokens.
func signInSettings(a *document.OAuth) []string {
	return []string{onlySetting(a.ClientID), onlySetting(a.ClientSecret), strings.Join(RefreshTokenPath(a), ".")}
}

// asksForNothingElse reports whether the source runs without other values of the owner, and reads those of the exchange
// nowhere else.
func (d *Description) asksForNothingElse(a *document.OAuth) bool {
	own := signInSettings(a)
	for _, s := range d.Settings {
		if !slices.Contains(own, s.Name()) && s.Constant == "" && (s.Secret || s.Required && s.Default == nil) {
			return false
		}
	}
	elsewhere := false
	for _, s := range d.Streams {
		document.Walk(s.Document, func(u document.Use) {
			if _, ok := u.Component.(*document.OAuth); ok {
				return
			}
			for _, name := range settingsRead(u.Template) {
				if slices.ContainsFunc(own, func(o string) bool { return o == name || strings.HasPrefix(o, name+".") }) {
					elsewhere = true
				}
			}
		})
	}
	return !elsewhere
}

// exchangesCodeAsUsual reports whether the exchange of a code has no headers, parameters or names of its own.
func exchangesCodeAsUsual(flow *document.Node) bool {
	if flow.Member("access_token_headers") != nil || flow.Member("access_token_params") != nil {
		return false
	}
	for _, name := range []string{"client_id", "client_secret", "redirect_uri", "scope", "state"} {
		if n := flow.Member(name + "_key"); n != nil && n.String() != name {
			return false
		}
	}
	code := flow.Member("auth_code_key")
	return code == nil || code.String() == "code"
}

// declaredScopes returns the scopes of a flow.
func declaredScopes(flow *document.Node) signInScopes {
	out := signInScopes{separator: " "}
	if all := flow.Member("scopes"); all != nil && all.Kind == document.List {
		for _, item := range all.Items {
			if name := item.Member("scope").String(); name != "" {
				out.names = append(out.names, name)
			}
		}
		switch flow.Member("scopes_join_strategy").String() {
		case "comma":
			out.separator = ","
		case "plus":
			out.separator = "+"
		}
		return out
	}
	out.read(flow.Member("scope").String())
	return out
}

// read adds the scopes of a text.
func (s *signInScopes) read(text string) {
	if strings.Contains(text, ",") {
		s.separator = ","
	}
	for _, name := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' }) {
		if !slices.Contains(s.names, name) {
			s.names = append(s.names, name)
		}
	}
}

var (
	// consentName matches the name of a parameter of the sign-in page, and consentValue what it is filled with.
	consentName  = regexp.MustCompile(`^\{\{\s*(\w+)_key\s*\}\}$`)
	consentValue = regexp.MustCompile(`^\{\{\s*(client_id|redirect_uri|scope|scopes|state|code_challenge)_` +
		`(value|param)\s*(?:\|\s*\w+\s*)?\}\}$`)
)

// readConsentURL reads the address of the sign-in page into o. It returns false if the server would send other
// parameters than the file declares.
func readConsentURL(flow *document.Node, o *manifest.OAuth, scopes *signInScopes) bool {
	page, query, _ := strings.Cut(strings.TrimSpace(flow.Member("consent_url").String()), "?")
	if !isPublicAddress(page) {
		return false
	}
	o.AuthorizeURL, o.AuthorizeParams = page, map[string]string{}
	for piece := range strings.SplitSeq(query, "&") {
		if piece == "" {
			continue
		}
		name, value, pair := strings.Cut(piece, "=")
		if !pair {
			name, value = "", piece
		}
		if named := consentName.FindStringSubmatch(name); named != nil {
			name = named[1]
		}
		if found := consentValue.FindStringSubmatch(value); found != nil {
			filled := strings.Replace(found[1], "scopes", "scope", 1)
			if name != filled && (name != "" || found[2] != "param") {
				return false
			}
			if filled == "code_challenge" {
				o.PKCE = nil
			}
			continue
		}
		if !addConsentParam(name, value, o, scopes) {
			return false
		}
	}
	return true
}

// addConsentParam adds a parameter with a fixed value.
func addConsentParam(name, value string, o *manifest.OAuth, scopes *signInScopes) bool {
	fixed, err := url.QueryUnescape(value)
	if err != nil || strings.ContainsAny(name+value, "{}") {
		return false
	}
	switch name {
	case "response_type":
		return fixed == "code"
	case "code_challenge_method":
		return fixed == "S256"
	case "scope":
		scopes.read(fixed)
	case "", "client_id", "redirect_uri", "state", "code_challenge":
		return false
	default:
		o.AuthorizeParams[name] = fixed
	}
	return true
}

// isPublicAddress reports whether an address is fixed, encrypted and at a host that is not private.
func isPublicAddress(address string) bool {
	if !strings.HasPrefix(address, "https://") || strings.ContainsAny(address, "{}?#") {
		return false
	}
	_, err := hostName(address, false)
	return err == nil
}

// checkSignIn returns a problem if the additions of a file replace the sign-in that its requests declare. The owner
// agrees to hosts that come from the requests.
func (d *Description) checkSignIn(m *manifest.Manifest) error {
	if fmt.Sprint(signInAddresses(d.ServerSignIn)) == fmt.Sprint(signInAddresses(m.OAuth())) {
		return nil
	}
	return document.Problems{{Level: document.WholeFile, Path: "metadata.pdpp.manifest.setup.oauth",
		Message: "changes the sign-in that the requests of the file declare",
		Fix:     "Describe it in advanced_auth and in the authenticators."}}
}

// signInAddresses returns where the secrets of a sign-in go, and by which variables.
func signInAddresses(o *manifest.OAuth) []string {
	if o == nil {
		return nil
	}
	return []string{o.AuthorizeURL, o.TokenURL, o.DeviceURL, o.AccessTokenEnv, o.ClientIDEnv, o.ClientSecretEnv,
		fmt.Sprint(o.ClientIDForConnector)}
}
