package browserhistory

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/pdpp-go/pdpp/connectorkit/localfile"
)

// address gives an address without what opens doors: names and passwords before the host, and
// values of parameters that are credentials by their names. Secrets with a shape of their own are
// masked by the kit besides. The host is in small letters, and empty where there is none.
func address(v any) (clean, host string) {
	raw := text(v, maxAddress+1)
	if len(raw) > maxAddress {
		raw = raw[:maxAddress]
		for !utf8.ValidString(raw) { // a character was cut
			raw = raw[:len(raw)-1]
		}
	}
	scheme, rest, ok := strings.Cut(raw, ":")
	switch strings.ToLower(scheme) {
	case "data", "blob", "javascript": // content, not a place
		return localfile.Short(scheme+":"+rest, 100), ""
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
		host = hostOf(authority)
		rest = "//" + authority + parameters(after[end:])
	} else {
		rest = parameters(rest)
	}
	return scheme + ":" + rest, host
}

func hostOf(authority string) string {
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
			b.WriteString(name + "=" + redacted)
		} else {
			b.WriteString(rest[:end])
		}
		rest = rest[end:]
	}
	return b.String()
}

const redacted = "redacted"

// credentials are names of parameters, without the marks in them, whose values open something.
var credentials = map[string]bool{
	"accesstoken": true, "idtoken": true, "refreshtoken": true, "token": true, "authtoken": true, "oauthtoken": true, "oauthverifier": true, "csrftoken": true,
	"password": true, "passwd": true, "pwd": true, "pass": true, "secret": true, "clientsecret": true, "apikey": true, "authorization": true, "auth": true,
	"sessionid": true, "sessiontoken": true, "session": true, "sid": true, "phpsessid": true, "jsessionid": true, "samlresponse": true, "samlrequest": true,
	"ticket": true, "otp": true, "code": true, "magic": true, "resettoken": true, "signature": true, "sig": true,
	"xamzsignature": true, "xamzcredential": true, "xamzsecuritytoken": true, "xgoogsignature": true, "xgoogcredential": true,
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

// hosts are those that the owner wants nothing of, with everything below them.
type hosts map[string]bool

func newHosts(list string) hosts {
	set := hosts{}
	for _, name := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' }) {
		set[strings.ToLower(strings.Trim(name, "."))] = true
	}
	return set
}

func (h hosts) has(host string) bool {
	for host != "" && len(h) > 0 {
		if h[host] {
			return true
		}
		_, host, _ = strings.Cut(host, ".")
	}
	return false
}
