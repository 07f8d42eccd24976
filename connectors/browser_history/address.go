package browserhistory

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/pdpp-go/pdpp/connectorkit/localfile"
)

// cleanAddress returns an address without credentials: no user information before the host and no values of
// parameters with credential names. The kit masks secrets with a known shape as well. The host is in lower case, and
// empty where there is none.
func cleanAddress(v any) (clean, host string) {
	raw := boundedText(v, maxAddress+1)
	if len(raw) > maxAddress {
		raw = raw[:maxAddress]
		for !utf8.ValidString(raw) { // a character was cut
			raw = raw[:len(raw)-1]
		}
	}
	scheme, rest, ok := strings.Cut(raw, ":")
	switch strings.ToLower(scheme) {
	case "data", "blob", "javascript": // content, not a place
		return localfile.ShortText(scheme+":"+rest, 100), ""
	}
	if !ok {
		return raw, ""
	}
	if after, slashes := strings.CutPrefix(rest, "//"); slashes {
		end := strings.IndexAny(after, "/?#\\")
		if end < 0 {
			end = len(after)
		}
		authority := after[:end]
		if at := strings.LastIndexByte(authority, '@'); at >= 0 {
			authority = authority[at+1:]
		}
		host = hostOfAuthority(authority)
		rest = "//" + authority + parameters(after[end:])
	} else {
		rest = parameters(rest)
	}
	return scheme + ":" + rest, host
}

func hostOfAuthority(authority string) string {
	u, err := url.Parse("//" + authority)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
}

// parameters replaces credentials in what follows a path: the query, and a fragment of its form.
func parameters(rest string) string {
	at := strings.IndexAny(rest, "?#")
	if at < 0 {
		return rest
	}
	var b strings.Builder
	b.WriteString(rest[:at])
	for rest = rest[at:]; rest != ""; {
		b.WriteByte(rest[0])
		rest = rest[1:]
		end := strings.IndexAny(rest, "?#&;")
		if end < 0 {
			end = len(rest)
		}
		name, _, valued := strings.Cut(rest[:end], "=")
		if valued && credential(name) {
			b.WriteString(name + "=" + redactedMarker)
		} else {
			b.WriteString(rest[:end])
		}
		rest = rest[end:]
	}
	return b.String()
}

const redactedMarker = "redacted"

// credentials are names of parameters with secret values, without punctuation.
var credentials = map[string]bool{
	"accesstoken": true, "idtoken": true, "refreshtoken": true, "token": true, "authtoken": true, "oauthtoken": true,
	"oauthverifier": true, "csrftoken": true,
	"password": true, "passwd": true, "pwd": true, "pass": true, "secret": true, "clientsecret": true, "apikey": true,
	"authorization": true, "auth": true,
	"sessionid": true, "sessiontoken": true, "session": true, "sid": true, "phpsessid": true, "jsessionid": true,
	"samlresponse": true, "samlrequest": true,
	"ticket": true, "otp": true, "code": true, "magic": true, "resettoken": true, "signature": true, "sig": true,
	"xamzsignature": true, "xamzcredential": true, "xamzsecuritytoken": true, "xgoogsignature": true,
	"xgoogcredential": true,
}

func credential(name string) bool {
	if plain, err := url.QueryUnescape(name); err == nil {
		name = plain
	}
	name = strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == '.' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToLower(name))
	return credentials[name]
}

// excludedHosts are those that the owner wants nothing of, with everything below them.
type excludedHosts map[string]bool

func parseExcludedHosts(list string) excludedHosts {
	set := excludedHosts{}
	for _, name := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' }) {
		set[strings.ToLower(strings.Trim(name, "."))] = true
	}
	return set
}

func (h excludedHosts) excludesHost(host string) bool {
	for host != "" && len(h) > 0 {
		if h[host] {
			return true
		}
		_, host, _ = strings.Cut(host, ".")
	}
	return false
}
